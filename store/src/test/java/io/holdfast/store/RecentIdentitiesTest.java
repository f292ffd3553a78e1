package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class RecentIdentitiesTest {
    private static final int CAPACITY = 100;
    private static final long WINDOW_MS = 1_000;

    /** Against a map; identities collide in their place in the table, as they come from few upper halves. */
    @Test
    void agreesWithAModel() {
        final long seed = System.nanoTime();
        final SplittableRandom random = new SplittableRandom(seed);
        final RecentIdentities identities = new RecentIdentities(CAPACITY);
        final Map<String, Long> model = new LinkedHashMap<>();
        long nowMs = 0;
        long hits = 0;
        for (int step = 0; step < 200_000; step++) {
            nowMs += random.nextInt(12);
            final long sinceMs = nowMs - WINDOW_MS + 1;
            identities.forgetBefore(sinceMs);
            final long high = random.nextInt(7) * 256L + random.nextInt(3);
            final long low = random.nextInt(20);
            final String key = high + "/" + low;
            final Long then = model.get(key);
            final boolean isKnown = then != null && then >= sinceMs;
            assertEquals(isKnown, identities.contains(high, low, sinceMs), "seed " + seed + ", step " + step);
            hits += isKnown ? 1 : 0;
            if (!isKnown && random.nextInt(3) > 0) {
                if (identities.size() == CAPACITY) {
                    forgetOldest(model, identities);
                }
                assertEquals(identities.size() < CAPACITY, identities.add(high, low, nowMs));
                model.remove(key);
                model.put(key, nowMs);
            }
        }
        assertTrue(hits > 1_000, "seed " + seed + ": hits " + hits);
    }

    private static void forgetOldest(final Map<String, Long> model, final RecentIdentities identities) {
        final String key = identities.high(identities.first()) + "/" + identities.low(identities.first());
        if (model.getOrDefault(key, -1L) == identities.timeMs(identities.first())) {
            model.remove(key);
        }
    }
}
