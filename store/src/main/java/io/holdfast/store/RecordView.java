package io.holdfast.store;

import static io.holdfast.store.RecordDescriptor.CLIENT_ID_LENGTH_OFFSET;
import static io.holdfast.store.RecordDescriptor.CONTENT_CHECKSUM_OFFSET;
import static io.holdfast.store.RecordDescriptor.CRC_OFFSET;
import static io.holdfast.store.RecordDescriptor.EXPIRY_TIME_OFFSET;
import static io.holdfast.store.RecordDescriptor.FIRST_OF_BATCH_MARK;
import static io.holdfast.store.RecordDescriptor.FLAGS_OFFSET;
import static io.holdfast.store.RecordDescriptor.HEADER_LENGTH;
import static io.holdfast.store.RecordDescriptor.IDENTITY_FLAG;
import static io.holdfast.store.RecordDescriptor.IDENTITY_LENGTH;
import static io.holdfast.store.RecordDescriptor.KIND_OFFSET;
import static io.holdfast.store.RecordDescriptor.LAYOUT_OFFSET;
import static io.holdfast.store.RecordDescriptor.LAYOUT_VERSION;
import static io.holdfast.store.RecordDescriptor.MARKS_OFFSET;
import static io.holdfast.store.RecordDescriptor.PACKET_ID_OFFSET;
import static io.holdfast.store.RecordDescriptor.PAYLOAD_LENGTH_OFFSET;
import static io.holdfast.store.RecordDescriptor.PROPERTIES_LENGTH_OFFSET;
import static io.holdfast.store.RecordDescriptor.PROTOCOL_LEVEL_SHIFT;
import static io.holdfast.store.RecordDescriptor.QOS_MASK;
import static io.holdfast.store.RecordDescriptor.RECEIVE_TIME_OFFSET;
import static io.holdfast.store.RecordDescriptor.RETAIN_FLAG;
import static io.holdfast.store.RecordDescriptor.ROUTE_NUMBER_OFFSET;
import static io.holdfast.store.RecordDescriptor.SEND_NUMBER_OFFSET;
import static io.holdfast.store.RecordDescriptor.SEQUENCE_OFFSET;
import static io.holdfast.store.RecordDescriptor.TOPIC_LENGTH_OFFSET;
import static io.holdfast.store.RecordDescriptor.WITHHELD_MASK;
import static io.holdfast.store.RecordDescriptor.WITHHELD_SHIFT;
import static java.nio.ByteOrder.BIG_ENDIAN;

import java.nio.charset.StandardCharsets;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Flyweight over one record of the layout {@link RecordDescriptor}. Holds no bytes of its own: it is valid as long as what it
 * wraps. For one thread.
 */
public final class RecordView {
    private final UnsafeBuffer record = new UnsafeBuffer(0, 0);

    /**
     * Looks at a record. The bytes are believed: what comes from disk has been checked before
     * ({@link LaneReader} hands out nothing else).
     *
     * @param buffer that holds the record.
     * @param offset of its first byte.
     * @param length of the whole record, in bytes.
     * @return this.
     */
    public RecordView wrap(final DirectBuffer buffer, final int offset, final int length) {
        record.wrap(buffer, offset, length);
        return this;
    }

    /**
     * The bytes of the record, from its first to its last.
     *
     * @return the wrapped bytes; {@code capacity()} is the record's length.
     */
    public DirectBuffer buffer() {
        return record;
    }

    public int length() {
        return record.capacity();
    }

    public int kind() {
        return record.getByte(KIND_OFFSET);
    }

    public int qos() {
        return record.getByte(FLAGS_OFFSET) & QOS_MASK;
    }

    public boolean retain() {
        return (record.getByte(FLAGS_OFFSET) & RETAIN_FLAG) != 0;
    }

    /**
     * The MQTT protocol level the message came in with.
     *
     * @return 3, 4 or 5.
     */
    public int protocolLevel() {
        return (record.getByte(FLAGS_OFFSET) & 0xFF) >>> PROTOCOL_LEVEL_SHIFT;
    }

    public long sequence() {
        return record.getLong(SEQUENCE_OFFSET, BIG_ENDIAN);
    }

    public long sendNumber() {
        return record.getLong(SEND_NUMBER_OFFSET, BIG_ENDIAN);
    }

    public long receiveTimeMs() {
        return record.getLong(RECEIVE_TIME_OFFSET, BIG_ENDIAN);
    }

    /**
     * When the message expires (MQTT 5, section 3.3.2.3.3).
     *
     * @return epoch milliseconds, 0 = never.
     */
    public long expiryTimeMs() {
        return record.getLong(EXPIRY_TIME_OFFSET, BIG_ENDIAN);
    }

    public int contentChecksum() {
        return record.getInt(CONTENT_CHECKSUM_OFFSET, BIG_ENDIAN);
    }

    public int routeNumber() {
        return unsignedShort(ROUTE_NUMBER_OFFSET);
    }

    public int packetId() {
        return unsignedShort(PACKET_ID_OFFSET);
    }

    public int clientIdOffset() {
        return HEADER_LENGTH;
    }

    public int clientIdLength() {
        return unsignedShort(CLIENT_ID_LENGTH_OFFSET);
    }

    public int topicOffset() {
        return HEADER_LENGTH + clientIdLength();
    }

    public int topicLength() {
        return unsignedShort(TOPIC_LENGTH_OFFSET);
    }

    public int propertiesOffset() {
        return topicOffset() + topicLength();
    }

    public int propertiesLength() {
        return record.getInt(PROPERTIES_LENGTH_OFFSET, BIG_ENDIAN);
    }

    public int payloadOffset() {
        return propertiesOffset() + propertiesLength();
    }

    public int payloadLength() {
        return record.getInt(PAYLOAD_LENGTH_OFFSET, BIG_ENDIAN);
    }

    /** Whether the record has the identity by which a message that is sent once more is known. */
    public boolean hasIdentity() {
        return (record.getByte(FLAGS_OFFSET) & IDENTITY_FLAG) != 0;
    }

    long identityHigh() {
        return record.getLong(record.capacity() - IDENTITY_LENGTH, BIG_ENDIAN);
    }

    long identityLow() {
        return record.getLong(record.capacity() - Long.BYTES, BIG_ENDIAN);
    }

    /** Whether everything before this record was durable when it was appended. */
    boolean isFirstOfBatch() {
        return (record.getByte(MARKS_OFFSET) & FIRST_OF_BATCH_MARK) != 0;
    }

    /**
     * Why the PUBLISH is not to be sent, but for the dead letters.
     *
     * @return the number given to {@link RecordEncoder#withheld(int)}; 0 if it is to be sent.
     */
    public int withheld() {
        return (record.getByte(MARKS_OFFSET) & WITHHELD_MASK) >>> WITHHELD_SHIFT;
    }

    /**
     * The Client Identifier as text. Allocates: not for the message path.
     *
     * @return the Client Identifier.
     */
    public String clientId() {
        return text(clientIdOffset(), clientIdLength());
    }

    /**
     * The topic as text. Allocates: not for the message path.
     *
     * @return the topic.
     */
    public String topic() {
        return text(topicOffset(), topicLength());
    }

    /**
     * Whether the bytes are a record that was written whole: the layout is known, the lengths add up and the checksum fits.
     *
     * @param checksum to compute with.
     * @param salt     of the store.
     * @return true if it may be believed.
     */
    boolean isIntact(final Crc32cChecksum checksum, final byte[] salt) {
        return isWellFormed()
                && checksum.ofRecord(salt, record, 0, record.capacity()) == record.getInt(CRC_OFFSET, BIG_ENDIAN);
    }

    private boolean isWellFormed() {
        return record.capacity() >= HEADER_LENGTH && isWellFormed(record, 0, record.capacity());
    }

    /** Whether the fixed part, which has to be there, is one of a record of that length. */
    static boolean isWellFormed(final DirectBuffer buffer, final int offset, final int length) {
        if (buffer.getByte(offset + LAYOUT_OFFSET) != LAYOUT_VERSION) {
            return false;
        }
        final int propertiesLength = buffer.getInt(offset + PROPERTIES_LENGTH_OFFSET, BIG_ENDIAN);
        final int payloadLength = buffer.getInt(offset + PAYLOAD_LENGTH_OFFSET, BIG_ENDIAN);
        final long variable = (long) (buffer.getShort(offset + CLIENT_ID_LENGTH_OFFSET, BIG_ENDIAN) & 0xFFFF)
                + (buffer.getShort(offset + TOPIC_LENGTH_OFFSET, BIG_ENDIAN) & 0xFFFF)
                + ((buffer.getByte(offset + FLAGS_OFFSET) & IDENTITY_FLAG) == 0 ? 0 : IDENTITY_LENGTH);
        return propertiesLength >= 0
                && payloadLength >= 0
                && HEADER_LENGTH + variable + propertiesLength + payloadLength == length;
    }

    private int unsignedShort(final int offset) {
        return record.getShort(offset, BIG_ENDIAN) & 0xFFFF;
    }

    private String text(final int offset, final int length) {
        final byte[] bytes = new byte[length];
        record.getBytes(offset, bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
