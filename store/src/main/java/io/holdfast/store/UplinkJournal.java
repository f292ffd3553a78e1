package io.holdfast.store;

import static java.nio.ByteOrder.BIG_ENDIAN;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What the uplink must not forget about its QoS 2 flows: for which send numbers the broker's PUBREC has come (only PUBREL may
 * follow, MQTT 5 section 4.3.3) and which were given up. The marks count only in the broker session they were made in.
 * Covers {@link #SPAN} send numbers above the base, which {@link #forgetBelow(long)} moves.
 *
 * <p>For the lane's uplink thread alone. A mark is durable once {@link #force()} has returned; it rewrites one of two
 * preallocated slots, so it needs no free space.
 *
 * <pre>
 *  0  long  base: the send number that the marks are counted from, a multiple of 64
 *  8  long  session generation
 * 16  int   flags: bit 0 has history, bit 1 closed cleanly, bit 2 written without syncs
 * 20  int   number of words that follow, for each of the two marks
 * 24  long  hash of the operating system's boot id
 * 32  words of "received", words of "given up"; bit n of word w is send number base + 64 w + n
 * </pre>
 */
public final class UplinkJournal {
    /** How many send numbers above the base can carry a mark; more than twice the widest window of an uplink. */
    public static final int SPAN = 1 << 16;

    static final String FILE_NAME = "journal";

    private static final int KIND = 2;
    private static final int GENERATION_OFFSET = 8;
    private static final int FLAGS_OFFSET = 16;
    private static final int WORDS_OFFSET = 20;
    private static final int BOOT_OFFSET = 24;
    private static final int MARKS_OFFSET = 32;
    private static final int HAS_HISTORY = 1;
    private static final int CLOSED_CLEANLY = 2;
    private static final int WITHOUT_SYNCS = 4;
    private static final int WORDS = SPAN / Long.SIZE;
    private static final int CAPACITY = MARKS_OFFSET + 2 * WORDS * Long.BYTES;
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    private final SlotPair slots;
    private final boolean force;
    private final long bootHash;
    private final long[] received = new long[WORDS];
    private final long[] givenUp = new long[WORDS];
    private long base;
    private long highest = -1;
    private long sessionGeneration;
    private boolean hasHistory;
    private boolean isDirty;

    private UplinkJournal(final SlotPair slots, final boolean force) throws IOException {
        this.slots = slots;
        this.force = force;
        this.bootHash = bootHash();
        final int newest = slots.load();
        if (newest >= 0) {
            slots.read(newest);
            decode(slots.content());
        }
    }

    static UplinkJournal open(final Path laneDirectory, final byte[] salt, final boolean force) throws IOException {
        return new UplinkJournal(
                SlotPair.inOneFile(laneDirectory.resolve(FILE_NAME), CAPACITY, KIND, salt, force), force);
    }

    /** For a look that changes nothing. */
    static SlotPair slotsOf(final Path laneDirectory, final byte[] salt) throws IOException {
        final Path file = laneDirectory.resolve(FILE_NAME);
        return SlotPair.readOnly(file, file, CAPACITY, KIND, salt);
    }

    /**
     * Whether the marks and the broker's session may be relied on. False for a store that is new, was restored or lost its
     * cursor or journal, or that lost power in {@link Durability#PAGE_CACHE}: then dial with clean start 1 and call
     * {@link #sessionLost()}.
     *
     * @return true if the broker session may be resumed.
     */
    public boolean hasHistory() {
        return hasHistory;
    }

    /**
     * Counts the broker sessions; grows with each {@link #sessionLost()}.
     *
     * @return generation.
     */
    public long sessionGeneration() {
        return sessionGeneration;
    }

    /**
     * Whether a send number can carry a mark now. If not, the cursor has to be written and {@link #forgetBelow(long)} called
     * before it may be sent.
     *
     * @param sendNumber of the record.
     * @return true if it lies in the span.
     */
    public boolean covers(final long sendNumber) {
        return sendNumber >= base && sendNumber - base < SPAN;
    }

    /**
     * Marks that the broker's PUBREC has come. PUBREL may go out only after {@link #force()}.
     *
     * @param sendNumber of the record; has to be covered.
     */
    public void received(final long sendNumber) {
        mark(received, sendNumber);
    }

    public boolean isReceived(final long sendNumber) {
        return isMarked(received, sendNumber);
    }

    /**
     * Marks that a record will not be sent again.
     *
     * @param sendNumber of the record; has to be covered.
     */
    public void givenUp(final long sendNumber) {
        mark(givenUp, sendNumber);
    }

    public boolean isGivenUp(final long sendNumber) {
        return isMarked(givenUp, sendNumber);
    }

    /**
     * The broker answered Session Present 0, or another broker is dialled: voids all marks of "received". To be followed by
     * {@link #force()} before the first packet is sent. What was given up stays given up.
     */
    public void sessionLost() {
        Arrays.fill(received, 0);
        sessionGeneration++;
        hasHistory = true;
        isDirty = true;
    }

    /** The broker answered Session Present 1 and the marks fit it. */
    public void sessionEstablished() {
        if (!hasHistory) {
            hasHistory = true;
            isDirty = true;
        }
    }

    /**
     * The broker's session is given up, with all that was sent in it: {@link #hasHistory()} is false until
     * {@link #sessionLost()}. To be followed by {@link #force()} before anything of it is finished.
     */
    public void abandonSession() {
        forgetHistory();
    }

    /** Nothing is known about the broker's session any more; {@link #hasHistory()} is false from here on. */
    void forgetHistory() {
        Arrays.fill(received, 0);
        isDirty |= hasHistory;
        hasHistory = false;
    }

    /**
     * Drops the marks below a send number.
     *
     * @param sendNumber {@link Cursor#olderDurableSendNumber()}, never more.
     */
    public void forgetBelow(final long sendNumber) {
        final long newBase = sendNumber & -Long.SIZE;
        if (newBase <= base) {
            return;
        }
        if (newBase - base >= SPAN) {
            Arrays.fill(received, 0);
            Arrays.fill(givenUp, 0);
        } else {
            for (long number = base; number < newBase; number += Long.SIZE) {
                received[word(number)] = 0;
                givenUp[word(number)] = 0;
            }
        }
        base = newBase;
    }

    /**
     * Whether there are marks that are not on disk yet.
     *
     * @return true if {@link #force()} has something to do.
     */
    public boolean isForceNeeded() {
        return isDirty;
    }

    /**
     * Writes every mark made so far and (with {@link Durability#FSYNC}) forces it.
     *
     * @throws StoreException if the disk refused: nothing that waits for it may be sent.
     */
    public void force() throws StoreException {
        if (isDirty) {
            write(0);
        }
    }

    private void write(final int closedFlag) throws StoreException {
        final int words = highest < base ? 0 : (int) ((highest - base) / Long.SIZE) + 1;
        slots.ensureCapacity(CAPACITY);
        final UnsafeBuffer content = slots.content();
        final int start = SlotPair.HEADER_LENGTH;
        content.putLong(start, base, BIG_ENDIAN);
        content.putLong(start + GENERATION_OFFSET, sessionGeneration, BIG_ENDIAN);
        final int flags = (hasHistory ? HAS_HISTORY : 0) | (force ? 0 : WITHOUT_SYNCS) | closedFlag;
        content.putInt(start + FLAGS_OFFSET, flags, BIG_ENDIAN);
        content.putInt(start + WORDS_OFFSET, words, BIG_ENDIAN);
        content.putLong(start + BOOT_OFFSET, bootHash, BIG_ENDIAN);
        for (int i = 0; i < words; i++) {
            final int word = word(base + (long) i * Long.SIZE);
            final int at = start + MARKS_OFFSET + i * Long.BYTES;
            content.putLong(at, received[word], BIG_ENDIAN);
            content.putLong(at + words * Long.BYTES, givenUp[word], BIG_ENDIAN);
        }
        try {
            slots.write(MARKS_OFFSET + 2 * words * Long.BYTES);
        } catch (final IOException e) {
            throw new StoreException("cannot write " + slots.file() + ": check the disk", e);
        }
        isDirty = false;
    }

    /** The greatest send number that carries a mark, or -1: it must never be given to another record. */
    long highestMark() {
        return highest;
    }

    /** With the log open again, an end without {@link #close} must be seen as one, whatever the durability. */
    void markOpen() throws StoreException, IOException {
        write(0);
        slots.force();
    }

    void close() throws StoreException, IOException {
        try {
            write(CLOSED_CLEANLY);
            slots.force();
        } finally {
            slots.close();
        }
    }

    void abandon() throws IOException {
        slots.close();
    }

    private void decode(final UnsafeBuffer content) {
        final int start = SlotPair.HEADER_LENGTH;
        base = content.getLong(start, BIG_ENDIAN);
        sessionGeneration = content.getLong(start + GENERATION_OFFSET, BIG_ENDIAN);
        final int flags = content.getInt(start + FLAGS_OFFSET, BIG_ENDIAN);
        final int words = content.getInt(start + WORDS_OFFSET, BIG_ENDIAN);
        for (int i = 0; i < words; i++) {
            final int word = word(base + (long) i * Long.SIZE);
            final int at = start + MARKS_OFFSET + i * Long.BYTES;
            received[word] = content.getLong(at, BIG_ENDIAN);
            givenUp[word] = content.getLong(at + words * Long.BYTES, BIG_ENDIAN);
        }
        for (long number = base + (long) words * Long.SIZE - 1; number >= base && highest < 0; number--) {
            if (isReceived(number) || isGivenUp(number)) {
                highest = number;
            }
        }
        final boolean mayHaveLostWrites = (flags & (CLOSED_CLEANLY | WITHOUT_SYNCS)) == WITHOUT_SYNCS
                && content.getLong(start + BOOT_OFFSET, BIG_ENDIAN) != bootHash;
        hasHistory = (flags & HAS_HISTORY) != 0;
        if (mayHaveLostWrites) {
            forgetHistory();
        }
    }

    private void mark(final long[] marks, final long sendNumber) {
        if (!covers(sendNumber)) {
            throw new IllegalArgumentException(
                    "send number " + sendNumber + " is outside of the journal's span from " + base);
        }
        marks[word(sendNumber)] |= 1L << (sendNumber & (Long.SIZE - 1));
        highest = Math.max(highest, sendNumber);
        isDirty = true;
    }

    private boolean isMarked(final long[] marks, final long sendNumber) {
        return covers(sendNumber) && (marks[word(sendNumber)] & (1L << (sendNumber & (Long.SIZE - 1)))) != 0;
    }

    private static int word(final long sendNumber) {
        return (int) (sendNumber / Long.SIZE) & (WORDS - 1);
    }

    /** Another value after each boot; the same within a container or outside of it. 0 where it cannot be read. */
    private static long bootHash() {
        try {
            long hash = 1;
            for (final byte b :
                    Files.readString(BOOT_ID, StandardCharsets.US_ASCII).trim().getBytes(StandardCharsets.US_ASCII)) {
                hash = 31 * hash + b;
            }
            return hash;
        } catch (final IOException e) {
            return 0;
        }
    }
}
