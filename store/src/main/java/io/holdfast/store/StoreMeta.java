package io.holdfast.store;

/**
 * What the {@code meta} file of a data directory says.
 *
 * @param storeId        random, 16 hexadecimal digits.
 * @param salt           seed of the records' checksums, 32 hexadecimal digits.
 * @param lanes          number of lanes.
 * @param laneHash       name of the function from Client Identifier to lane.
 * @param segmentBytes   bytes of records in one segment, as of the last start.
 * @param uplinkClientId Client Identifier of the uplink (a lane adds its own suffix, if there are several).
 * @param uplinkBroker   the broker that the uplink's session is at, as of the last start; empty if it was not said.
 */
public record StoreMeta(
        String storeId,
        String salt,
        int lanes,
        String laneHash,
        int segmentBytes,
        String uplinkClientId,
        String uplinkBroker) {
    /** The format version that this code reads and writes. */
    public static final int FORMAT_VERSION = 1;
}
