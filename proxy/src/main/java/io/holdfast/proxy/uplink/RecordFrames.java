package io.holdfast.proxy.uplink;

import io.holdfast.codec.PropertyCursor;
import io.holdfast.codec.PropertyId;
import io.holdfast.codec.VariableByteInteger;
import io.holdfast.store.RecordView;
import io.netty.buffer.ByteBuf;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** Writes the PUBLISH of a record: properties in their order and bytes, with the Message Expiry that is left. One thread. */
final class RecordFrames {
    private static final int PUBLISH = 0x30;
    private static final int DUP = 0x08;
    private static final int RETAIN = 0x01;

    private final PropertyCursor properties = new PropertyCursor();
    private final UnsafeBuffer target = new UnsafeBuffer(0, 0);

    /** Bytes of the whole packet. */
    static int length(RecordView record, boolean v5) {
        int remaining = remainingLength(record, v5);
        return 1 + VariableByteInteger.size(remaining) + remaining;
    }

    private static int remainingLength(RecordView record, boolean v5) {
        int properties = v5 ? VariableByteInteger.size(record.propertiesLength()) + record.propertiesLength() : 0;
        return Short.BYTES
                + record.topicLength()
                + (record.qos() > 0 ? Short.BYTES : 0)
                + properties
                + record.payloadLength();
    }

    /**
     * Appends the packet to {@code out}, a direct buffer.
     *
     * @param expirySeconds what is left of the Message Expiry Interval, at least 1; 0 for a record without one
     */
    void write(ByteBuf out, RecordView record, int packetId, boolean dup, boolean v5, long expirySeconds) {
        out.ensureWritable(length(record, v5));
        out.writeByte(PUBLISH | (dup ? DUP : 0) | record.qos() << 1 | (record.retain() ? RETAIN : 0));
        VariableByteInteger.write(out, remainingLength(record, v5));
        out.writeShort(record.topicLength());
        DirectBuffer buffer = record.buffer();
        copy(buffer, record.topicOffset(), record.topicLength(), out);
        if (record.qos() > 0) {
            out.writeShort(packetId);
        }
        if (v5) {
            VariableByteInteger.write(out, record.propertiesLength());
            int start = out.writerIndex();
            copy(buffer, record.propertiesOffset(), record.propertiesLength(), out);
            if (expirySeconds > 0) {
                setExpiry(out, start, record.propertiesLength(), expirySeconds);
            }
        }
        copy(buffer, record.payloadOffset(), record.payloadLength(), out);
    }

    /** {@code out} is direct and has the room. */
    private void copy(DirectBuffer from, int offset, int length, ByteBuf out) {
        int at = out.writerIndex();
        target.wrap(out.memoryAddress() + at, length);
        target.putBytes(0, from, offset, length);
        out.writerIndex(at + length);
    }

    private void setExpiry(ByteBuf out, int start, int length, long seconds) {
        properties.wrap(out, start, length);
        while (properties.next()) {
            if (properties.identifier() == PropertyId.MESSAGE_EXPIRY_INTERVAL) {
                out.setInt(properties.valueOffset(), (int) seconds);
                return;
            }
        }
    }
}
