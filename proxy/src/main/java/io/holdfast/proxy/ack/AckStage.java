package io.holdfast.proxy.ack;

import io.holdfast.codec.AckWriter;
import io.holdfast.codec.MqttVersion;
import io.holdfast.codec.PacketType;
import io.holdfast.codec.ReasonCode;
import io.netty.buffer.ByteBuf;

/**
 * Releases a connection's acknowledgements in arrival order (P2; [MQTT-4.6.0-2], [MQTT-4.6.0-3]), whatever order the
 * messages settle in.
 *
 * <p>PUBACK and PUBREC share one order, that of the PUBLISHes. PUBCOMP has its own, that of the PUBRELs. One event
 * loop. The size is bounded by admission, not here.
 */
public final class AckStage {
    private final AckRing publishes = new AckRing();
    private final AckRing releases = new AckRing();
    private final AckListener listener;
    private MqttVersion version;
    private boolean stopped;

    /** Makes an empty stage that reports releases to {@code listener}. */
    public AckStage(AckListener listener) {
        this.listener = listener;
    }

    /** Sets the protocol version of the device; needed before the first release. */
    public void version(MqttVersion version) {
        this.version = version;
    }

    /** A PUBLISH of QoS 1 or 2 came in; returns the slot that its acknowledgement will take. */
    public long publishReceived(int qos, int packetId) {
        return publishes.open(qos == 1 ? PacketType.PUBACK : PacketType.PUBREC, packetId);
    }

    /** A PUBREL came in; returns the slot of its PUBCOMP. */
    public long releaseReceived(int packetId) {
        return releases.open(PacketType.PUBCOMP, packetId);
    }

    /** A PUBLISH is settled, or refused with a reason code of 0x80 and more. */
    public void settlePublish(long slot, int reason) {
        publishes.settle(slot, reason);
    }

    /** The broker answered a held PUBLISH; the bytes pass on as they are. */
    public void settlePublish(long slot, int reason, byte[] frame) {
        publishes.settle(slot, reason, frame);
    }

    /** A PUBREL is settled. */
    public void settleRelease(long slot, int reason) {
        releases.settle(slot, reason);
    }

    /** The broker answered a PUBREL; the bytes pass on as they are. */
    public void settleRelease(long slot, int reason, byte[] frame) {
        releases.settle(slot, reason, frame);
    }

    /** PUBLISHes that have no acknowledgement yet. */
    public int unacknowledged() {
        return publishes.size();
    }

    /** PUBLISHes and PUBRELs that have no answer yet. */
    public int size() {
        return publishes.size() + releases.size();
    }

    /** Whether {@link #release} would write something. */
    public boolean hasReady() {
        return !stopped && (publishes.isHeadSettled() || releases.isHeadSettled());
    }

    /** Writes every acknowledgement that may go out now to {@code out}. */
    public void release(ByteBuf out) {
        release(publishes, out);
        release(releases, out);
    }

    private void release(AckRing ring, ByteBuf out) {
        while (!stopped && ring.isHeadSettled()) {
            int type = ring.headType();
            int packetId = ring.headPacketId();
            int reason = ring.headReason();
            byte[] frame = ring.headFrame();
            if (frame == null && ReasonCode.isFailure(reason) && !version.isV5() && type != PacketType.PUBCOMP) {
                stopped = true;
                listener.onRefusalCannotBeTold(packetId, reason);
                return;
            }
            if (frame == null) {
                AckWriter.write(out, type, packetId, reason, version);
            } else {
                out.writeBytes(frame);
            }
            ring.popHead();
            listener.onAckReleased(type, packetId, reason);
        }
    }
}
