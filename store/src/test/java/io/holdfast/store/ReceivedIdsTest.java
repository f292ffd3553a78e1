package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The set of received QoS 2 Packet Identifiers (MQTT 5, section 4.3.3). */
class ReceivedIdsTest {
    @TempDir
    Path directory;

    @Test
    void theSameIdIsStoredOnceUntilItIsReleased() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            assertEquals(Outcome.STORED, fixture.publish(2, 10, "t", "one"));
            assertEquals(Outcome.DUPLICATE, fixture.publish(2, 10, "t", "one"));
            fixture.writer.force();
            assertEquals(Outcome.DUPLICATE, fixture.publish(2, 10, "t", "one"));
            assertEquals(Outcome.STORED, fixture.release(10));
            assertEquals(Outcome.UNKNOWN, fixture.release(10));
            assertEquals(Outcome.STORED, fixture.publish(2, 10, "t", "one"));
            fixture.writer.force();
            assertEquals(3, fixture.read().size());
            assertEquals(RecordDescriptor.KIND_RELEASE, fixture.read().get(1).kind());
        }
    }

    @Test
    void theSameIdWithOtherContentIsANewMessageAndCounted() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            assertEquals(Outcome.STORED, fixture.publish(2, 10, "t", "one"));
            assertEquals(Outcome.STORED, fixture.publish(2, 10, "t", "two"));
            assertEquals(Outcome.DUPLICATE, fixture.publish(2, 10, "t", "two"));
            assertEquals(Outcome.STORED, fixture.publish(2, 10, "t2", "two"));
            assertEquals(2, fixture.lane.stat().receivedIdsReused());
        }
    }

    @Test
    void qos0AndQos1NeverEnterTheSet() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            for (int i = 0; i < 2; i++) {
                assertEquals(Outcome.STORED, fixture.publish(1, 10, "t", "one"));
                assertEquals(Outcome.STORED, fixture.publish(0, 0, "t", "one"));
            }
            assertEquals(0, fixture.session().receivedCount());
            fixture.writer.force();
            try (LaneReader reader = fixture.lane.openReader()) {
                final long[] numbers = new long[4];
                for (int i = 0; reader.next(); i++) {
                    numbers[i] = reader.record().sendNumber();
                }
                assertArrayEquals(new long[] {0, -1, 1, -1}, numbers);
            }
        }
    }

    @Test
    void theSetOutlivesARestartByLogAndByCheckpoint() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            fixture.publish(2, 1, "t", "a");
            fixture.publish(2, 2, "t", "b");
            fixture.release(1);
            fixture.writer.force();
        }
        for (int restart = 0; restart < 3; restart++) {
            try (StoreFixture fixture = StoreFixture.open(directory)) {
                fixture.connect("device", true);
                assertArrayEquals(new int[] {2}, fixture.session().receivedIds());
                assertEquals(Outcome.DUPLICATE, fixture.publish(2, 2, "t", "b"));
            }
        }
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            assertEquals(Outcome.STORED, fixture.release(2));
            fixture.writer.force();
        }
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            assertEquals(0, fixture.connect("device", true).receivedCount());
        }
    }

    @Test
    void sessionPresentZeroEmptiesTheSetForGood() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            fixture.publish(2, 1, "t", "a");
            fixture.writer.force();
            fixture.connect("device", false);
            fixture.writer.force();
            assertEquals(
                    RecordDescriptor.KIND_SESSION_RESET, fixture.read().get(1).kind());
            fixture.connect("device", false);
            assertEquals(0, fixture.writer.batchBytes(), "an empty set needs no record");
            assertEquals(Outcome.STORED, fixture.publish(2, 1, "t", "a"));
            fixture.writer.force();
        }
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            fixture.connect("device", true);
            assertEquals(Outcome.DUPLICATE, fixture.publish(2, 1, "t", "a"));
            fixture.connect("device", false);
            fixture.writer.force();
        }
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            assertEquals(0, fixture.connect("device", true).receivedCount());
        }
    }

    @Test
    void entriesOfAReplacedConnectionAreThrownAway() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            final ClientSession first = fixture.connect("device", true);
            final long firstEpoch = fixture.epoch();
            fixture.publish(2, 1, "t", "a");
            final ClientSession second = fixture.connect("device", true);
            assertEquals(first, second);
            assertEquals(Outcome.STALE, fixture.writer.release(first, 1, 0, firstEpoch));
            fixture.writer.closeSession(first, firstEpoch, 0);
            assertEquals(1, second.receivedCount(), "the old connection's end does not end the session");
            fixture.writer.closeSession(second, fixture.epoch(), 0);
            assertEquals(Outcome.STALE, fixture.publish(2, 2, "t", "b"));
            assertEquals(0, fixture.connect("device", true).receivedCount());
        }
    }

    @Test
    void theSetEndsWithTheSessionsExpiry() throws Exception {
        final AtomicLong nowNs = new AtomicLong();
        try (StoreFixture fixture = StoreFixture.open(directory, context -> context.nanoClock(nowNs::get))) {
            for (int i = 0; i < 100; i++) {
                fixture.connect("random-" + i, true);
                fixture.publish(2, 1, "t", "a");
                fixture.writer.closeSession(fixture.session(), fixture.epoch(), i == 0 ? Long.MAX_VALUE : 60_000);
            }
            nowNs.set(TimeUnit.SECONDS.toNanos(59));
            fixture.maintain();
            assertEquals(100, fixture.lane.stat().sessions());
            nowNs.set(TimeUnit.SECONDS.toNanos(61));
            fixture.maintain();
            assertEquals(1, fixture.lane.stat().sessions());
            nowNs.set(TimeUnit.DAYS.toNanos(400));
            fixture.maintain();
            assertEquals(1, fixture.connect("random-0", true).receivedCount());
        }
    }

    /** Else a power cut could leave an id without its message, and the message sent again would be swallowed. */
    @Test
    void noCheckpointHoldsAnIdWhoseMessageIsNotDurable() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            fixture.publish(2, 1, "t", "a");
            assertEquals(0, fixture.writer.maintain(), "a checkpoint is due, but has to wait for the force");
            fixture.writer.force();
            assertEquals(1, fixture.writer.maintain());
        }
    }

    /** A copy of the directory at that instant is what a crash leaves. */
    @Test
    void idsOfASessionThatEndedDoNotComeBackAfterACrash(@TempDir final Path copy) throws Exception {
        final AtomicLong nowNs = new AtomicLong();
        try (StoreFixture fixture = StoreFixture.open(directory, context -> context.nanoClock(nowNs::get))) {
            fixture.connect("ended", true);
            fixture.publish(2, 1, "t", "a");
            fixture.writer.force();
            fixture.writer.closeSession(fixture.session(), fixture.epoch(), 0);
            fixture.connect("expired", true);
            fixture.publish(2, 1, "t", "a");
            fixture.writer.force();
            fixture.writer.closeSession(fixture.session(), fixture.epoch(), 1);
            nowNs.set(TimeUnit.SECONDS.toNanos(2));
            fixture.maintain();
            assertEquals(0, fixture.lane.stat().sessions());
            fixture.writer.force();
            CrashImage.of(directory, copy.resolve("image"));
        }
        try (StoreFixture fixture = StoreFixture.open(copy.resolve("image"))) {
            assertEquals(0, fixture.connect("ended", true).receivedCount());
            assertEquals(0, fixture.connect("expired", true).receivedCount());
        }
    }

    /** Random flows over many segments and restarts, against a plain map. */
    @Test
    void randomFlowsAgreeWithAModel() throws Exception {
        final long seed = Long.getLong("holdfast.seed", System.nanoTime());
        System.out.println("ReceivedIdsTest seed " + seed);
        final Random random = new Random(seed);
        final Map<String, Map<Integer, String>> model = new HashMap<>();
        int stored = 0;
        for (int round = 0; round < 6; round++) {
            try (StoreFixture fixture = StoreFixture.open(directory)) {
                for (int step = 0; step < 600; step++) {
                    final String client = "c" + random.nextInt(5);
                    final Map<Integer, String> ids = model.computeIfAbsent(client, c -> new HashMap<>());
                    final boolean present = random.nextInt(10) != 0;
                    fixture.connect(client, present);
                    if (!present) {
                        stored += ids.isEmpty() ? 0 : 1;
                        ids.clear();
                    }
                    final int id = 1 + random.nextInt(20);
                    if (random.nextBoolean()) {
                        final String payload = "p" + random.nextInt(3) + "x".repeat(1_000);
                        final Outcome expected = payload.equals(ids.get(id)) ? Outcome.DUPLICATE : Outcome.STORED;
                        assertEquals(expected, fixture.publish(2, id, "t", payload), "seed " + seed);
                        ids.put(id, payload);
                        stored += expected == Outcome.STORED ? 1 : 0;
                    } else {
                        final Outcome expected = ids.remove(id) == null ? Outcome.UNKNOWN : Outcome.STORED;
                        assertEquals(expected, fixture.release(id), "seed " + seed);
                        stored += expected == Outcome.STORED ? 1 : 0;
                    }
                    if (random.nextInt(20) == 0) {
                        fixture.writer.force();
                        fixture.maintain();
                    }
                    if (random.nextInt(200) == 0) {
                        fixture.writer.force();
                        fixture.finishAll();
                        fixture.lane.reclaim();
                    }
                }
                for (final Map.Entry<String, Map<Integer, String>> entry : model.entrySet()) {
                    final int[] ids = fixture.connect(entry.getKey(), true).receivedIds();
                    Arrays.sort(ids);
                    assertEquals(
                            List.copyOf(
                                    entry.getValue().keySet().stream().sorted().toList()),
                            Arrays.stream(ids).boxed().toList(),
                            "seed " + seed);
                }
                fixture.writer.force();
                assertEquals(stored, fixture.lane.durableSequence(), "seed " + seed);
            }
        }
    }
}
