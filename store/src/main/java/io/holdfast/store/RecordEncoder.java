package io.holdfast.store;

import static io.holdfast.store.RecordDescriptor.CLIENT_ID_LENGTH_OFFSET;
import static io.holdfast.store.RecordDescriptor.CONTENT_CHECKSUM_OFFSET;
import static io.holdfast.store.RecordDescriptor.EXPIRY_TIME_OFFSET;
import static io.holdfast.store.RecordDescriptor.FLAGS_OFFSET;
import static io.holdfast.store.RecordDescriptor.HEADER_LENGTH;
import static io.holdfast.store.RecordDescriptor.IDENTITY_FLAG;
import static io.holdfast.store.RecordDescriptor.IDENTITY_LENGTH;
import static io.holdfast.store.RecordDescriptor.KIND_OFFSET;
import static io.holdfast.store.RecordDescriptor.KIND_PUBLISH;
import static io.holdfast.store.RecordDescriptor.LAYOUT_OFFSET;
import static io.holdfast.store.RecordDescriptor.LAYOUT_VERSION;
import static io.holdfast.store.RecordDescriptor.MARKS_OFFSET;
import static io.holdfast.store.RecordDescriptor.NO_SEND_NUMBER;
import static io.holdfast.store.RecordDescriptor.PACKET_ID_OFFSET;
import static io.holdfast.store.RecordDescriptor.PAYLOAD_LENGTH_OFFSET;
import static io.holdfast.store.RecordDescriptor.PROPERTIES_LENGTH_OFFSET;
import static io.holdfast.store.RecordDescriptor.PROTOCOL_LEVEL_SHIFT;
import static io.holdfast.store.RecordDescriptor.QOS_MASK;
import static io.holdfast.store.RecordDescriptor.RECEIVE_TIME_OFFSET;
import static io.holdfast.store.RecordDescriptor.RETAIN_FLAG;
import static io.holdfast.store.RecordDescriptor.ROUTE_NUMBER_OFFSET;
import static io.holdfast.store.RecordDescriptor.SEND_NUMBER_OFFSET;
import static io.holdfast.store.RecordDescriptor.TOPIC_LENGTH_OFFSET;
import static io.holdfast.store.RecordDescriptor.WITHHELD_MASK;
import static io.holdfast.store.RecordDescriptor.WITHHELD_SHIFT;
import static java.nio.ByteOrder.BIG_ENDIAN;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Writes a record of the layout {@link RecordDescriptor} into a buffer of the caller. The variable parts have to come in the
 * order of the layout: client id, topic, properties, payload, if any the identity; then {@link #finish()}. Sequence, send number and checksum are
 * filled in by the {@link LaneWriter}. For one thread; no allocation per record.
 */
public final class RecordEncoder {
    private final Crc32cChecksum checksum = new Crc32cChecksum();
    private MutableDirectBuffer buffer;
    private int offset;
    private int limit;
    private int topicOffset;
    private int topicLength;

    /**
     * How many bytes a record takes.
     *
     * @param clientIdLength   bytes of the Client Identifier.
     * @param topicLength      bytes of the topic.
     * @param propertiesLength bytes of the properties, without their own length.
     * @param payloadLength    bytes of the payload.
     * @return length of the record in bytes.
     */
    public static int encodedLength(
            final int clientIdLength, final int topicLength, final int propertiesLength, final int payloadLength) {
        return Math.addExact(
                HEADER_LENGTH + clientIdLength + topicLength, Math.addExact(propertiesLength, payloadLength));
    }

    /**
     * Starts a PUBLISH record.
     *
     * @param buffer        to write into.
     * @param offset        where the record starts.
     * @param qos           0, 1 or 2.
     * @param retain        the RETAIN flag.
     * @param protocolLevel of the source: 3, 4 or 5.
     * @return this.
     */
    public RecordEncoder publish(
            final MutableDirectBuffer buffer,
            final int offset,
            final int qos,
            final boolean retain,
            final int protocolLevel) {
        return start(
                buffer,
                offset,
                KIND_PUBLISH,
                (qos & QOS_MASK) | (retain ? RETAIN_FLAG : 0) | (protocolLevel << PROTOCOL_LEVEL_SHIFT));
    }

    RecordEncoder control(final MutableDirectBuffer buffer, final int offset, final int kind) {
        return start(buffer, offset, kind, 0);
    }

    private RecordEncoder start(final MutableDirectBuffer buffer, final int offset, final int kind, final int flags) {
        this.buffer = buffer;
        this.offset = offset;
        this.limit = offset + HEADER_LENGTH;
        this.topicOffset = limit;
        this.topicLength = 0;
        buffer.setMemory(offset, HEADER_LENGTH, (byte) 0);
        buffer.putByte(offset + LAYOUT_OFFSET, (byte) LAYOUT_VERSION);
        buffer.putByte(offset + KIND_OFFSET, (byte) kind);
        buffer.putByte(offset + FLAGS_OFFSET, (byte) flags);
        buffer.putLong(offset + SEND_NUMBER_OFFSET, NO_SEND_NUMBER, BIG_ENDIAN);
        return this;
    }

    /**
     * Sets the times.
     *
     * @param receiveTimeMs epoch milliseconds.
     * @param expiryTimeMs  epoch milliseconds, 0 = never expires.
     * @return this.
     */
    public RecordEncoder times(final long receiveTimeMs, final long expiryTimeMs) {
        buffer.putLong(offset + RECEIVE_TIME_OFFSET, receiveTimeMs, BIG_ENDIAN);
        buffer.putLong(offset + EXPIRY_TIME_OFFSET, expiryTimeMs, BIG_ENDIAN);
        return this;
    }

    /**
     * Sets the route.
     *
     * @param routeNumber from {@link OutboxStore#routeNumber(String)}.
     * @return this.
     */
    public RecordEncoder route(final int routeNumber) {
        buffer.putShort(offset + ROUTE_NUMBER_OFFSET, (short) routeNumber, BIG_ENDIAN);
        return this;
    }

    /**
     * Says that the PUBLISH is not to be sent: it goes to the dead letters.
     *
     * @param why 1 to 7, for {@link RecordView#withheld()}; 0 if it is to be sent.
     * @return this.
     */
    public RecordEncoder withheld(final int why) {
        buffer.putByte(offset + MARKS_OFFSET, (byte) (why << WITHHELD_SHIFT & WITHHELD_MASK));
        return this;
    }

    /**
     * Sets the device's Packet Identifier.
     *
     * @param packetId 1 to 65,535; 0 for QoS 0.
     * @return this.
     */
    public RecordEncoder packetId(final int packetId) {
        buffer.putShort(offset + PACKET_ID_OFFSET, (short) packetId, BIG_ENDIAN);
        return this;
    }

    /**
     * Adds the Client Identifier.
     *
     * @param clientId UTF-8, at most 65,535 bytes.
     * @return this.
     */
    public RecordEncoder clientId(final byte[] clientId) {
        buffer.putShort(offset + CLIENT_ID_LENGTH_OFFSET, shortLength(clientId.length), BIG_ENDIAN);
        buffer.putBytes(limit, clientId);
        limit += clientId.length;
        return this;
    }

    /**
     * Adds the topic, byte for byte as the device sent it (no normalisation [MQTT-4.7.3-4]).
     *
     * @param source    that holds it.
     * @param srcOffset of its first byte.
     * @param length    at most 65,535 bytes.
     * @return this.
     */
    public RecordEncoder topic(final DirectBuffer source, final int srcOffset, final int length) {
        buffer.putShort(offset + TOPIC_LENGTH_OFFSET, shortLength(length), BIG_ENDIAN);
        topicOffset = limit;
        topicLength = length;
        return put(source, srcOffset, length);
    }

    /**
     * Adds the raw v5 properties, without their length and without a topic alias.
     *
     * @param source    that holds them.
     * @param srcOffset of the first byte.
     * @param length    in bytes; 0 for 3.1 and 3.1.1.
     * @return this.
     */
    public RecordEncoder properties(final DirectBuffer source, final int srcOffset, final int length) {
        buffer.putInt(offset + PROPERTIES_LENGTH_OFFSET, length, BIG_ENDIAN);
        return put(source, srcOffset, length);
    }

    /**
     * Adds the payload.
     *
     * @param source    that holds it.
     * @param srcOffset of the first byte.
     * @param length    in bytes.
     * @return this.
     */
    public RecordEncoder payload(final DirectBuffer source, final int srcOffset, final int length) {
        buffer.putInt(offset + PAYLOAD_LENGTH_OFFSET, length, BIG_ENDIAN);
        final int payloadOffset = limit;
        put(source, srcOffset, length);
        buffer.putInt(
                offset + CONTENT_CHECKSUM_OFFSET,
                checksum.reset()
                        .update(buffer, topicOffset, topicLength)
                        .update(buffer, payloadOffset, length)
                        .value(),
                BIG_ENDIAN);
        return this;
    }

    /**
     * Adds the identity by which a message that is sent once more is known; behind the payload.
     *
     * @param high upper half.
     * @param low  lower half.
     * @return this.
     */
    public RecordEncoder identity(final long high, final long low) {
        buffer.putByte(offset + FLAGS_OFFSET, (byte) (buffer.getByte(offset + FLAGS_OFFSET) | IDENTITY_FLAG));
        buffer.putLong(limit, high, BIG_ENDIAN);
        buffer.putLong(limit + Long.BYTES, low, BIG_ENDIAN);
        limit += IDENTITY_LENGTH;
        return this;
    }

    /**
     * Ends the record.
     *
     * @return its length in bytes.
     */
    public int finish() {
        return limit - offset;
    }

    private RecordEncoder put(final DirectBuffer source, final int srcOffset, final int length) {
        if (length > 0) {
            buffer.putBytes(limit, source, srcOffset, length);
            limit += length;
        }
        return this;
    }

    private static short shortLength(final int length) {
        if (length < 0 || length > 0xFFFF) {
            throw new IllegalArgumentException("length does not fit two bytes: " + length);
        }
        return (short) length;
    }
}
