package io.holdfast.proxy.ack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.holdfast.codec.MqttVersion;
import io.holdfast.codec.PacketType;
import io.holdfast.codec.ReasonCode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** P2: whatever order messages settle in, acknowledgements go out in the order they are owed [MQTT-4.6.0-2], [-3]. */
class AckStageTest implements AckListener {
    private final AckStage stage = new AckStage(this);
    private final List<String> released = new ArrayList<>();
    private final List<Integer> refused = new ArrayList<>();
    private final ByteBuf out = Unpooled.buffer();

    @Override
    public void onAckReleased(int type, int packetId, int reason) {
        released.add(type + " " + packetId);
    }

    @Override
    public void onRefusalCannotBeTold(int packetId, int reason) {
        refused.add(packetId);
    }

    @RepeatedTest(20)
    void aRandomOrderOfSettlingNeverShowsOnTheWire() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        stage.version(MqttVersion.MQTT_5);
        List<String> publishes = new ArrayList<>();
        List<String> releases = new ArrayList<>();
        List<Runnable> open = new ArrayList<>();
        for (int i = 1; i <= 2_000; i++) {
            int id = i;
            if (random.nextInt(3) == 0) {
                long slot = stage.releaseReceived(id);
                open.add(() -> stage.settleRelease(slot, ReasonCode.SUCCESS));
                releases.add(PacketType.PUBCOMP + " " + id);
            } else {
                int qos = 1 + random.nextInt(2);
                long slot = stage.publishReceived(qos, id);
                open.add(() -> stage.settlePublish(slot, random.nextInt(10) == 0 ? ReasonCode.QUOTA_EXCEEDED : 0));
                publishes.add((qos == 1 ? PacketType.PUBACK : PacketType.PUBREC) + " " + id);
            }
            if (random.nextInt(50) == 0) {
                Collections.shuffle(open, random);
                int keep = random.nextInt(open.size() + 1);
                while (open.size() > keep) {
                    open.remove(open.size() - 1).run();
                }
                stage.release(out);
            }
        }
        Collections.shuffle(open, random);
        open.forEach(Runnable::run);
        stage.release(out);
        assertEquals(0, stage.size());
        assertEquals(publishes, released.stream().filter(ack -> !isPubcomp(ack)).toList());
        assertEquals(releases, released.stream().filter(AckStageTest::isPubcomp).toList());
    }

    private static boolean isPubcomp(String ack) {
        return ack.startsWith(PacketType.PUBCOMP + " ");
    }

    @Test
    void whatIsBehindAnUnsettledOneWaits() {
        stage.version(MqttVersion.MQTT_3_1_1);
        long first = stage.publishReceived(1, 1);
        stage.settlePublish(stage.publishReceived(2, 2), ReasonCode.SUCCESS);
        assertFalse(stage.hasReady());
        stage.settleRelease(stage.releaseReceived(9), ReasonCode.SUCCESS);
        stage.release(out);
        assertEquals("70020009", ByteBufUtil.hexDump(out), "PUBCOMP has an order of its own");
        stage.settlePublish(first, ReasonCode.SUCCESS);
        stage.release(out);
        assertEquals("70020009" + "40020001" + "50020002", ByteBufUtil.hexDump(out));
    }

    @Test
    void nothingPassesARefusalThatA3xDeviceCannotBeTold() {
        stage.version(MqttVersion.MQTT_3_1_1);
        stage.settlePublish(stage.publishReceived(1, 1), ReasonCode.SUCCESS);
        stage.settlePublish(stage.publishReceived(1, 2), ReasonCode.UNSPECIFIED_ERROR);
        stage.settlePublish(stage.publishReceived(1, 3), ReasonCode.SUCCESS);
        stage.release(out);
        stage.release(out);
        assertEquals("40020001", ByteBufUtil.hexDump(out));
        assertEquals(List.of(2), refused);
    }
}
