package io.holdfast.proxy.uplink;

import io.holdfast.codec.AckWriter;
import io.holdfast.codec.ConnackPacket;
import io.holdfast.codec.MqttVersion;
import io.holdfast.codec.PacketType;
import io.holdfast.codec.ReasonCode;
import io.holdfast.proxy.metrics.Counters;
import io.holdfast.proxy.metrics.Meter;
import io.holdfast.store.RecordView;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.NanoClock;

/** The packets that an uplink sends, gathered in batches, within what the broker said it takes. On the uplink's event loop. */
final class UplinkOutput {
    private static final int BATCH_BYTES = 64 * 1024;
    private static final int FIRST_BATCH_BYTES = 2 * 1024;

    private final MessageExpiry expiry;
    private final DrainPacer pacer;
    private final Counters counters;
    private final NanoClock clock;
    private final RecordFrames frames = new RecordFrames();

    // for one connection
    private ChannelHandlerContext ctx;
    private MqttVersion version;
    private ConnackPacket limits;
    private ByteBuf batch;
    private boolean isWakeScheduled;

    UplinkOutput(MessageExpiry expiry, DrainPacer pacer, Counters counters, NanoClock clock) {
        this.expiry = expiry;
        this.pacer = pacer;
        this.counters = counters;
        this.clock = clock;
    }

    void connected(ChannelHandlerContext context, MqttVersion mqttVersion, ConnackPacket connack) {
        ctx = context;
        version = mqttVersion;
        limits = connack;
        isWakeScheduled = false;
    }

    void disconnected() {
        if (batch != null) {
            batch.release();
            batch = null;
        }
        ctx = null;
    }

    boolean isConnected() {
        return ctx != null;
    }

    boolean isWritable() {
        return ctx.channel().isWritable();
    }

    void close() {
        if (ctx != null) {
            ctx.close();
        }
    }

    void schedule(Runnable task, long delayNs) {
        ctx.executor().schedule(task, delayNs, TimeUnit.NANOSECONDS);
    }

    /** Whether the drain has to wait; {@code task} is then run in time, and has to call {@link #woken}. */
    boolean isPaced(Runnable task) {
        if (!pacer.isLimited()) {
            return false;
        }
        long waitNs = pacer.waitNs(clock.nanoTime());
        if (waitNs > 0 && !isWakeScheduled) {
            isWakeScheduled = true;
            schedule(task, waitNs);
        }
        return waitNs > 0;
    }

    void woken() {
        isWakeScheduled = false;
    }

    /** Whether the broker said that it takes such a message. */
    boolean fits(RecordView record) {
        return record.qos() <= limits.maximumQos()
                && (!record.retain() || limits.retainAvailable())
                && RecordFrames.length(record, version.isV5()) <= limits.maximumPacketSize();
    }

    /** PUBLISH. */
    void publish(RecordView record, int packetId, boolean dup) {
        boolean v5 = version.isV5();
        if (!v5 && record.propertiesLength() > 0) {
            counters.increment(Meter.UPLINK_PROPERTIES_LOST);
        }
        int length = RecordFrames.length(record, v5);
        ByteBuf out = batch(length);
        if (pacer.isLimited()) {
            pacer.sent(length, clock.nanoTime());
        }
        frames.write(out, record, packetId, dup, v5, expiry.secondsLeft(record));
        counters.increment(Meter.UPLINK_SENT);
    }

    /** PUBREL. */
    void pubrel(int packetId) {
        AckWriter.write(batch(AckWriter.MAX_BYTES), PacketType.PUBREL, packetId);
    }

    /** PUBREL for a PUBREC that fits nothing. */
    void pubrelNotFound(int packetId) {
        AckWriter.write(
                batch(AckWriter.MAX_BYTES),
                PacketType.PUBREL,
                packetId,
                ReasonCode.PACKET_IDENTIFIER_NOT_FOUND,
                version);
    }

    /** PINGREQ. */
    void pingreq() {
        AckWriter.pingreq(batch(2));
    }

    void flush() {
        writeBatch();
        ctx.flush();
    }

    private ByteBuf batch(int bytes) {
        if (batch != null && batch.maxWritableBytes() < bytes) {
            writeBatch();
        }
        if (batch == null) {
            batch = ctx.alloc().directBuffer(Math.max(bytes, FIRST_BATCH_BYTES), Math.max(bytes, BATCH_BYTES));
        }
        return batch;
    }

    private void writeBatch() {
        if (batch != null) {
            ctx.write(batch, ctx.voidPromise());
            batch = null;
        }
    }
}
