package io.holdfast.proxy.outbox;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.codec.MqttVersion;
import io.holdfast.proxy.metrics.Counters;
import io.holdfast.store.BreakableLane;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** P1 and QOS-13: no acknowledgement before its own lane has synced, and a lane that stalls or fails holds back only its own. */
@Timeout(30) // an acknowledgement that comes too early can leave the test waiting
class AckBeforeTheLaneHasSyncedTest {
    private static final int SLOTS = 64;
    private static final int BATCH_BYTES = 1 << 20;

    @TempDir
    Path directory;

    private EventLoop loop;
    private BreakableLane laneA;
    private BreakableLane laneB;
    private WriterAgent writerA;
    private WriterAgent writerB;
    private LaneDevice deviceA;
    private LaneDevice deviceB;

    @BeforeEach
    void open() throws Exception {
        loop = new DefaultEventLoop();
        laneA = BreakableLane.open(directory.resolve("a"));
        laneB = BreakableLane.open(directory.resolve("b"));
        writerA = new WriterAgent(0, laneA.lane(), SLOTS, BATCH_BYTES, new Counters());
        writerB = new WriterAgent(1, laneB.lane(), SLOTS, BATCH_BYTES, new Counters());
    }

    private void devices(MqttVersion version) {
        deviceA = new LaneDevice(loop, writerA.feedFor(loop), "a", version);
        deviceB = new LaneDevice(loop, writerB.feedFor(loop), "b", version);
        deviceA.open(1);
        deviceB.open(2);
        writerA.doWork();
        writerB.doWork();
        await().until(() -> deviceA.isOpen() && deviceB.isOpen());
    }

    @AfterEach
    void close() throws Exception {
        loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        laneA.close();
        laneB.close();
    }

    @Test
    void aLaneWhoseSyncStallsHoldsBackOnlyItsOwnAcks() throws Exception {
        devices(MqttVersion.MQTT_5);
        CountDownLatch disk = new CountDownLatch(1);
        laneA.beforeForce(() -> awaitLatch(disk));
        for (int id = 1; id <= 3; id++) {
            deviceA.publish(1, id);
            deviceB.publish(2, id);
        }
        Thread stalled = new Thread(writerA::doWork, "writer-a");
        stalled.start();
        try {
            writerB.doWork();
            await().until(() -> deviceB.written().equals("400200014002000240020003"));
            await().during(Duration.ofMillis(200)).until(() -> deviceA.written().isEmpty());
        } finally {
            disk.countDown();
            stalled.join();
        }
        await().until(() -> deviceA.written().equals("400200014002000240020003"));
    }

    @Test
    void whatComesBehindASlowWriteWaitsAndSoDoesAllBehindARefusalUntilTheDiskTakesIt() throws Exception {
        devices(MqttVersion.MQTT_5);
        publishOneSlowThenFailing().join();
        await().until(() -> deviceA.written().equals("40020001" + "40020002"));
        deviceB.publish(2, 1);
        writerB.doWork();
        await().until(() -> deviceB.written().equals("40020001"));
        assertTrue(writerA.isFailed());
        assertEquals(0, writerA.doWork());
        assertEquals("40020001" + "40020002", deviceA.written());
        laneA.failAppends(false);
        await().until(() -> {
            writerA.doWork();
            return deviceA.written().equals("40020001" + "40020002" + "40020003" + "40020004" + "40020005");
        });
        assertFalse(writerA.isFailed());
        assertEquals(5, laneA.lane().accepted(0));
    }

    @Test
    void aStopDuringARefusalAnswersNothing() throws Exception {
        devices(MqttVersion.MQTT_3_1_1);
        publishOneSlowThenFailing().join();
        await().until(() -> deviceA.written().equals("40020001" + "40020002"));
        writerA.onClose();
        await().during(Duration.ofMillis(200)).until(() -> deviceA.refused().isEmpty());
        assertEquals("40020001" + "40020002", deviceA.written());
    }

    /** Id 1 is stored, the sync of id 2 is slow, the append of id 3 and all later ones fails. */
    private Thread publishOneSlowThenFailing() throws InterruptedException {
        deviceA.publish(1, 1);
        writerA.doWork();
        await().until(() -> deviceA.written().equals("40020001"));
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch disk = new CountDownLatch(1);
        laneA.beforeForce(() -> {
            reached.countDown();
            awaitLatch(disk);
        });
        deviceA.publish(1, 2);
        Thread writer = new Thread(
                () -> {
                    writerA.doWork();
                    laneA.failAppends(true);
                    writerA.doWork();
                },
                "writer-a");
        writer.start();
        assertTrue(reached.await(10, TimeUnit.SECONDS), "nothing was synced");
        for (int id = 3; id <= 5; id++) {
            deviceA.publish(1, id);
        }
        await().during(Duration.ofMillis(200)).until(() -> deviceA.written().equals("40020001"));
        disk.countDown();
        return writer;
    }

    @Test
    void aSyncThatFailsOnceIsMadeGoodInAnotherSegmentBeforeTheAck() {
        devices(MqttVersion.MQTT_5);
        laneA.failForces(1);
        deviceA.publish(1, 1);
        writerA.doWork();
        await().until(() -> deviceA.written().equals("40020001"));
        assertEquals(1, laneA.lane().stat().deadSegments());
    }

    @Test
    void aSyncThatKeepsFailingAcknowledgesNothingUntilOneWorks() {
        devices(MqttVersion.MQTT_5);
        laneA.failForces(3);
        deviceA.publish(1, 1);
        deviceA.publish(1, 2);
        writerA.doWork();
        deviceA.publish(1, 3);
        writerA.doWork();
        assertTrue(writerA.isFailed());
        assertEquals("", deviceA.written());
        await().until(() -> {
            writerA.doWork();
            return deviceA.written().equals("400200014002000240020003");
        });
        assertEquals(3, laneA.lane().accepted(0));
    }

    /** Another loop has filled the writer's queue: this one has nothing under way that would wake it. */
    @Test
    void entriesThatFoundTheQueueFullOfOthersAreOfferedAgain() throws Exception {
        EventLoop other = new DefaultEventLoop();
        try {
            WriterAgent small = new WriterAgent(0, laneA.lane(), 4, BATCH_BYTES, new Counters());
            LaneDevice first = new LaneDevice(loop, small.feedFor(loop), "first", MqttVersion.MQTT_5);
            LaneDevice second = new LaneDevice(other, small.feedFor(other), "second", MqttVersion.MQTT_5);
            first.open(1);
            second.open(2);
            small.doWork();
            await().until(() -> first.isOpen() && second.isOpen());
            for (int id = 1; id <= 10; id++) {
                first.publish(1, id);
            }
            second.publish(2, 1);
            await().until(() -> {
                small.doWork();
                return second.written().equals("40020001");
            });
            await().until(() -> {
                small.doWork();
                return first.written().endsWith("4002000a");
            });
        } finally {
            other.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        }
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
