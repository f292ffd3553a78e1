package io.holdfast.store;

/**
 * The layout of a dead letter on disk. All numbers are big-endian; each entry begins at a multiple of 8.
 *
 * <pre>
 *  0  int    magic; 0 = nothing follows
 *  4  int    CRC32C, over the store's 16 byte salt and then the bytes [12, 80)
 *  8  byte   status: 0 there, 1 replayed, 2 purged; written over in place, so it is not in the checksum
 *  9  3 bytes reserved
 * 12  byte   layout version
 * 13  byte   reason
 * 14  byte   MQTT 5 Reason Code of the broker, 0 for none
 * 15  byte   reserved
 * 16  int    lane
 * 20  int    attempts
 * 24  long   id, counts from 1
 * 32  long   time of the first attempt, epoch milliseconds; 0 if there was none
 * 40  long   time it was given up, epoch milliseconds
 * 48  long   sequence of the record in its lane
 * 56  long   send number of the record, -1 for QoS 0
 * 64  int    length of the record
 * 68  short  length of the text
 * 70  short  route number, unsigned
 * 72  int    CRC32C, over the store's salt and then record and text
 * 76  int    reserved
 * 80  ...    record, text in UTF-8
 * </pre>
 */
final class DeadLetterDescriptor {
    static final int LAYOUT_VERSION = 1;
    static final int MAGIC = 0x44454144;

    static final int MAGIC_OFFSET = 0;
    static final int CRC_OFFSET = 4;
    static final int STATUS_OFFSET = 8;
    static final int LAYOUT_OFFSET = 12;
    static final int REASON_OFFSET = 13;
    static final int REASON_CODE_OFFSET = 14;
    static final int LANE_OFFSET = 16;
    static final int ATTEMPTS_OFFSET = 20;
    static final int ID_OFFSET = 24;
    static final int FIRST_ATTEMPT_OFFSET = 32;
    static final int GIVEN_UP_OFFSET = 40;
    static final int SEQUENCE_OFFSET = 48;
    static final int SEND_NUMBER_OFFSET = 56;
    static final int RECORD_LENGTH_OFFSET = 64;
    static final int TEXT_LENGTH_OFFSET = 68;
    static final int ROUTE_NUMBER_OFFSET = 70;
    static final int BODY_CRC_OFFSET = 72;
    static final int HEADER_LENGTH = 80;

    static final byte THERE = 0;
    static final byte REPLAYED = 1;
    static final byte PURGED = 2;

    static final int TEXT_MAX = 512;

    private DeadLetterDescriptor() {}

    static long align(final long length) {
        return (length + 7) & ~7L;
    }
}
