package io.holdfast.store;

import java.io.IOException;
import java.nio.file.Path;
import org.agrona.DirectBuffer;

/**
 * The file a lane appends to. The seam in front of the log library: what lies behind it may be replaced by a simulated disk.
 * All calls come from the lane's writer thread.
 */
interface LaneLog extends AutoCloseable {
    /** Makes the log of one lane. */
    interface Factory {
        /**
         * Makes a log that is not open yet.
         *
         * @param directory    of the lane.
         * @param segmentBytes record bytes of a segment.
         * @param force        whether {@link #force()} syncs.
         */
        LaneLog create(Path directory, int segmentBytes, boolean force);
    }

    /** Whether a segment is open for appending. */
    boolean isOpen();

    /** Does in advance what the first {@link #roll(int)} would have to do. The one call that comes from the opening thread. */
    default void warmUp() throws IOException {}

    /** Whether {@link #roll(int)} needs no disk space but the prepared segment's. */
    default boolean isWarm() {
        return true;
    }

    /** How many bytes of one record are sure to fit into the open segment. */
    int remaining();

    /**
     * Goes on with another, prepared segment.
     *
     * @param segment number.
     */
    void roll(int segment) throws IOException;

    /**
     * Appends one record to the open segment. After an exception only {@link #close()} may follow, and then another segment.
     *
     * @param record to append.
     * @param offset of its first byte.
     * @param length in bytes, at most {@link #remaining()}.
     */
    void append(DirectBuffer record, int offset, int length) throws IOException;

    /** Where the next record will start at the earliest: everything before is appended. See {@link Position}. */
    long position();

    /** Has everything appended to the open segment, and the file's name, on stable storage when it returns. */
    void force() throws IOException;

    /** Gives up the open segment, whatever its state; {@link #roll(int)} may follow. */
    @Override
    void close() throws IOException;
}
