package io.holdfast.proxy.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenBucketTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    @ParameterizedTest
    @ValueSource(longs = {0, 1_000_000_000_000L, -1_000_000_000_000L, Long.MAX_VALUE - 5})
    void aBurstOfOneSecondAndThenTheRate(long start) {
        TokenBucket bucket = new TokenBucket(10, start);
        assertEquals(10, takeAll(bucket, start));
        assertEquals(SECOND / 10, bucket.waitNs(start));
        assertFalse(bucket.tryTake(start + SECOND / 10 - 1));
        assertTrue(bucket.tryTake(start + SECOND / 10));
        assertFalse(bucket.tryTake(start + SECOND / 10));
        assertEquals(5, takeAll(bucket, start + 6 * SECOND / 10));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 1_000_000})
    void whatIsNotUsedIsNotSavedUpBeyondOneSecond(int perSecond) {
        TokenBucket bucket = new TokenBucket(perSecond, 0);
        assertEquals(perSecond, takeAll(bucket, 100 * SECOND));
        assertEquals(perSecond, takeAll(bucket, 200 * SECOND));
    }

    private static int takeAll(TokenBucket bucket, long nowNs) {
        int taken = 0;
        while (bucket.tryTake(nowNs)) {
            taken++;
        }
        return taken;
    }
}
