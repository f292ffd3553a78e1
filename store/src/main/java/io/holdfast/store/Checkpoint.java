package io.holdfast.store;

import static java.nio.ByteOrder.BIG_ENDIAN;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The writer's state at some sequence, so that a start reads only the log behind it. Two files, written in turn; they grow
 * when there are more received ids than ever before. For the lane's writer thread.
 *
 * <pre>
 *  0  int   segment: the records behind the checkpoint lie in it or in later ones
 *  4  long  next sequence
 * 12  long  next send number
 * 20  int   number of routes; per route a long: accepted
 *     int   number of sessions; per session:
 *             short length of the Client Identifier, its bytes, long expiry in milliseconds, int number of ids;
 *             per id: short Packet Identifier, int content checksum
 *     int   number of routes; per route two longs: dropped as new, dropped as duplicate (not in checkpoints of old)
 * </pre>
 */
final class Checkpoint implements AutoCloseable {
    static final String FIRST_FILE_NAME = "checkpoint.0";
    static final String SECOND_FILE_NAME = "checkpoint.1";

    private static final int KIND = 3;
    private static final int PREALLOCATED = 60 << 10;

    private final SlotPair slots;

    /** Of the newest intact checkpoint, or of the one written last. */
    private int segment;

    private long nextSequence = 1;
    private long nextSendNumber;

    private volatile int olderSegment;

    private Checkpoint(final SlotPair slots) {
        this.slots = slots;
    }

    static Checkpoint open(final Path laneDirectory, final byte[] salt, final boolean force) throws IOException {
        return new Checkpoint(SlotPair.inTwoFiles(
                laneDirectory.resolve(FIRST_FILE_NAME),
                laneDirectory.resolve(SECOND_FILE_NAME),
                PREALLOCATED,
                KIND,
                salt,
                force));
    }

    static Checkpoint openReadOnly(final Path laneDirectory, final byte[] salt) throws IOException {
        return new Checkpoint(slotsOf(laneDirectory, salt));
    }

    /** For a look that changes nothing. */
    static SlotPair slotsOf(final Path laneDirectory, final byte[] salt) throws IOException {
        return SlotPair.readOnly(
                laneDirectory.resolve(FIRST_FILE_NAME),
                laneDirectory.resolve(SECOND_FILE_NAME),
                PREALLOCATED,
                KIND,
                salt);
    }

    int segment() {
        return segment;
    }

    long nextSequence() {
        return nextSequence;
    }

    long nextSendNumber() {
        return nextSendNumber;
    }

    /** The greatest segment either checkpoint names: no new segment may get a number below it. */
    int highestSegment() {
        return Math.max(segment, olderSegment);
    }

    /** Segments below it are needed by neither checkpoint; 0 until both are there. Any thread. */
    int olderSegment() {
        return olderSegment;
    }

    /**
     * Reads the newest intact one.
     *
     * @return false if there is none.
     */
    boolean load(final LaneState state, final long nowNs) throws IOException {
        final int newest = slots.load();
        if (newest < 0) {
            return false;
        }
        final int older = 1 - newest;
        if (slots.isIntact(older) && slots.read(older) >= 0) {
            olderSegment = slots.content().getInt(SlotPair.HEADER_LENGTH, BIG_ENDIAN);
        }
        decode(slots.content(), SlotPair.HEADER_LENGTH + slots.read(newest), state, nowNs);
        return true;
    }

    /** Everything in the state must be durable in the log already, else a restart would know an id without its message. */
    void write(final int fromSegment, final LaneState state) throws IOException {
        final int routes = RouteTable.MAX_ROUTES;
        slots.ensureCapacity(lengthOf(routes, state.sessions));
        final UnsafeBuffer content = slots.content();
        int at = SlotPair.HEADER_LENGTH;
        content.putInt(at, fromSegment, BIG_ENDIAN);
        content.putLong(at + 4, state.nextSequence, BIG_ENDIAN);
        content.putLong(at + 12, state.nextSendNumber, BIG_ENDIAN);
        content.putInt(at + 20, routes, BIG_ENDIAN);
        at += 24;
        for (int i = 0; i < routes; i++) {
            content.putLong(at, state.accepted.get(i), BIG_ENDIAN);
            at += Long.BYTES;
        }
        final int countAt = at;
        at += Integer.BYTES;
        int count = 0;
        for (final ClientSession session : state.sessions.all()) {
            if (session.receivedCount() > 0) {
                at = encode(content, at, session);
                count++;
            }
        }
        content.putInt(countAt, count, BIG_ENDIAN);
        content.putInt(at, routes, BIG_ENDIAN);
        at += Integer.BYTES;
        for (int i = 0; i < routes; i++) {
            content.putLong(at, state.droppedNew.get(i), BIG_ENDIAN);
            content.putLong(at + Long.BYTES, state.droppedDuplicate.get(i), BIG_ENDIAN);
            at += 2 * Long.BYTES;
        }
        slots.write(at - SlotPair.HEADER_LENGTH);
        olderSegment = segment;
        segment = fromSegment;
        nextSequence = state.nextSequence;
        nextSendNumber = state.nextSendNumber;
    }

    Path file() {
        return slots.file();
    }

    void force() throws IOException {
        slots.force();
    }

    @Override
    public void close() throws IOException {
        slots.close();
    }

    private static int lengthOf(final int routes, final SessionTable sessions) {
        long length = 24 + 3L * routes * Long.BYTES + 2 * Integer.BYTES;
        for (final ClientSession session : sessions.all()) {
            length += 14 + session.clientIdBytes().length + 6L * session.receivedCount();
        }
        return Math.toIntExact(length);
    }

    private static int encode(final UnsafeBuffer content, final int start, final ClientSession session) {
        final byte[] clientId = session.clientIdBytes();
        int at = start;
        content.putShort(at, (short) clientId.length, BIG_ENDIAN);
        content.putBytes(at + 2, clientId);
        at += 2 + clientId.length;
        content.putLong(at, session.expiryMs(), BIG_ENDIAN);
        final int[] ids = session.receivedIds();
        content.putInt(at + 8, ids.length, BIG_ENDIAN);
        at += 12;
        for (final int id : ids) {
            content.putShort(at, (short) id, BIG_ENDIAN);
            content.putInt(at + 2, (int) session.checksumOf(id), BIG_ENDIAN);
            at += 6;
        }
        return at;
    }

    private void decode(final UnsafeBuffer content, final int end, final LaneState state, final long nowNs) {
        int at = SlotPair.HEADER_LENGTH;
        segment = content.getInt(at, BIG_ENDIAN);
        nextSequence = content.getLong(at + 4, BIG_ENDIAN);
        nextSendNumber = content.getLong(at + 12, BIG_ENDIAN);
        final int routes = content.getInt(at + 20, BIG_ENDIAN);
        at += 24;
        for (int i = 0; i < routes; i++) {
            state.accepted.set(i, content.getLong(at, BIG_ENDIAN));
            at += Long.BYTES;
        }
        final int count = content.getInt(at, BIG_ENDIAN);
        at += Integer.BYTES;
        for (int i = 0; i < count; i++) {
            final byte[] clientId = new byte[content.getShort(at, BIG_ENDIAN) & 0xFFFF];
            content.getBytes(at + 2, clientId);
            at += 2 + clientId.length;
            final ClientSession session = state.sessions.restore(
                    new String(clientId, StandardCharsets.UTF_8), content.getLong(at, BIG_ENDIAN), nowNs);
            final int ids = content.getInt(at + 8, BIG_ENDIAN);
            at += 12;
            for (int j = 0; j < ids; j++) {
                session.receive(content.getShort(at, BIG_ENDIAN) & 0xFFFF, content.getInt(at + 2, BIG_ENDIAN));
                at += 6;
            }
        }
        if (at < end) {
            decodeDrops(content, at, state);
        }
    }

    private static void decodeDrops(final UnsafeBuffer content, final int start, final LaneState state) {
        int at = start + Integer.BYTES;
        for (int i = 0; i < content.getInt(start, BIG_ENDIAN); i++) {
            state.droppedNew.set(i, content.getLong(at, BIG_ENDIAN));
            state.droppedDuplicate.set(i, content.getLong(at + Long.BYTES, BIG_ENDIAN));
            at += 2 * Long.BYTES;
        }
    }
}
