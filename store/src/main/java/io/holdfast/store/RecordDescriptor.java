package io.holdfast.store;

/**
 * The layout of a record in the log. All numbers are big-endian; a record has no padding.
 *
 * <pre>
 *  0  int    CRC32C, over the store's 16 byte salt and then the bytes [4, length)
 *  4  byte   layout version
 *  5  byte   kind
 *  6  byte   flags: bits 0-1 QoS, bit 2 RETAIN, bit 3 an identity follows the payload, bits 4-7 the source's MQTT protocol level (3, 4, 5)
 *  7  byte   marks: bit 0 everything before this record was durable when it was appended; bits 1-3 why it is not to be
 *            sent, 0 = it is; the others are reserved, 0
 *  8  long   sequence: counts the records of a lane from 1, without a gap, over all kinds
 * 16  long   send number: counts the PUBLISH records of a lane with QoS above 0 from 0; -1 for others
 * 24  long   receive time, epoch milliseconds
 * 32  long   expiry time, epoch milliseconds; 0 = none
 * 40  int    content checksum: CRC32C of topic and payload
 * 44  short  route number, unsigned
 * 46  short  Packet Identifier of the device, unsigned; 0 for QoS 0
 * 48  short  length of the Client Identifier, unsigned
 * 50  short  length of the topic, unsigned
 * 52  int    length of the properties
 * 56  int    length of the payload
 * 60  ...    Client Identifier, topic, properties (raw v5 bytes without their length, topic alias removed), payload,
 *            and with flag bit 3 the message's identity: 16 bytes, as {@link IdentityHash} makes them
 * </pre>
 */
public final class RecordDescriptor {
    /** The layout version this class describes. */
    public static final int LAYOUT_VERSION = 1;

    /** A message on its way to the broker. */
    public static final int KIND_PUBLISH = 1;

    /** A PUBREL was received: the Packet Identifier left the session's set (MQTT 5, section 4.3.3). */
    public static final int KIND_RELEASE = 2;

    /** The client's session ended: its set of received Packet Identifiers is empty from here on. */
    public static final int KIND_SESSION_RESET = 3;

    /** The send number of a record that needs no Packet Identifier on the uplink. */
    public static final long NO_SEND_NUMBER = -1;

    /** Where the flags keep the QoS. */
    public static final int QOS_MASK = 0x03;

    /** RETAIN bit of the flags. */
    public static final int RETAIN_FLAG = 0x04;

    /** Identity bit of the flags. */
    public static final int IDENTITY_FLAG = 0x08;

    /** Length of the identity. */
    public static final int IDENTITY_LENGTH = 16;

    /** Shift of the protocol level in the flags. */
    public static final int PROTOCOL_LEVEL_SHIFT = 4;

    /**
     * Mark of the first record behind a sync. A torn place before such a record is damage of what had been acknowledged; one
     * that no such record follows is what a power cut leaves of a batch that never was. Logs without syncs have no marks.
     */
    public static final int FIRST_OF_BATCH_MARK = 0x01;

    /** Where the marks keep why a PUBLISH is stored for the dead letters only: a number from 1 to 7 that the caller gives. */
    public static final int WITHHELD_MASK = 0x0E;

    /** Shift of that number in the marks. */
    public static final int WITHHELD_SHIFT = 1;

    public static final int CRC_OFFSET = 0;
    public static final int LAYOUT_OFFSET = 4;
    public static final int KIND_OFFSET = 5;
    public static final int FLAGS_OFFSET = 6;
    public static final int MARKS_OFFSET = 7;
    public static final int SEQUENCE_OFFSET = 8;
    public static final int SEND_NUMBER_OFFSET = 16;
    public static final int RECEIVE_TIME_OFFSET = 24;
    public static final int EXPIRY_TIME_OFFSET = 32;
    public static final int CONTENT_CHECKSUM_OFFSET = 40;
    public static final int ROUTE_NUMBER_OFFSET = 44;
    public static final int PACKET_ID_OFFSET = 46;
    public static final int CLIENT_ID_LENGTH_OFFSET = 48;
    public static final int TOPIC_LENGTH_OFFSET = 50;
    public static final int PROPERTIES_LENGTH_OFFSET = 52;
    public static final int PAYLOAD_LENGTH_OFFSET = 56;

    /** Length of the fixed part; the Client Identifier begins here. */
    public static final int HEADER_LENGTH = 60;

    private RecordDescriptor() {}
}
