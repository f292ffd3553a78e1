package io.holdfast.proxy.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LogThrottleTest {
    @Test
    void oneLineInTenSecondsThatSaysHowManyWereLeftOut() {
        AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1);
        LogThrottle throttle = new LogThrottle(now::get);
        assertEquals(0, throttle.pass());
        for (int i = 0; i < 1000; i++) {
            assertEquals(LogThrottle.LEAVE_OUT, throttle.pass());
        }
        now.addAndGet(TimeUnit.SECONDS.toNanos(10));
        assertEquals(1000, throttle.pass());
        assertEquals(LogThrottle.LEAVE_OUT, throttle.pass());
    }
}
