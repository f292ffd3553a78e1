package io.holdfast.store;

import static io.holdfast.store.DeadLetterDescriptor.HEADER_LENGTH;
import static java.nio.ByteOrder.BIG_ENDIAN;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.agrona.collections.LongHashSet;
import org.agrona.concurrent.UnsafeBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The records that were given up, in a log of their own beside the lanes. A record leaves its lane only once its dead letter is
 * durable (P4). Files are preallocated, one ahead, so that giving up needs no free space; an entry that was replayed or purged
 * is marked in place, and a file without any left is deleted.
 *
 * <p>Any thread; short locks, that include the write and the sync. Memory does not depend on the number of dead letters.
 */
public final class DeadLetters implements AutoCloseable {
    /** What became of a dead letter that is taken out. */
    public enum Removal {
        /** Appended to its lane again. */
        REPLAYED(DeadLetterDescriptor.REPLAYED, DropReason.REPLAYED),
        /** Given up for good, by the operator. */
        PURGED(DeadLetterDescriptor.PURGED, DropReason.PURGED);

        private final byte status;
        private final DropReason dropReason;

        Removal(final byte status, final DropReason dropReason) {
            this.status = status;
            this.dropReason = dropReason;
        }

        /**
         * Where the ledger counts it from then on.
         *
         * @return reason.
         */
        public DropReason dropReason() {
            return dropReason;
        }
    }

    /** Looks at dead letters, oldest first. */
    public interface Visitor {
        /** False to see no more. */
        boolean visit(DeadLetter letter) throws StoreException;
    }

    static final String DIRECTORY = "dlq";

    private static final Logger LOGGER = LoggerFactory.getLogger(DeadLetters.class);
    private static final String SUFFIX = ".dlq";
    private static final int TEXT_AND_HEADER = HEADER_LENGTH + DeadLetterDescriptor.TEXT_MAX + 8;
    private static final long LEAST_FREE = 512 << 10;

    private static final class Segment {
        final Path file;
        final int number;
        long firstId = Long.MAX_VALUE;
        long end;
        long live;
        boolean isSealed;

        Segment(final Path file, final int number) {
            this.file = file;
            this.number = number;
        }
    }

    private final Path directory;
    private final byte[] salt;
    private final boolean force;
    private final int fileBytes;
    private final FileStore fileStore;
    private final Crc32cChecksum checksum = new Crc32cChecksum();
    private final NavigableMap<Integer, Segment> segments = new TreeMap<>();
    private final Map<Long, long[]> live = new HashMap<>();
    private final List<LongHashSet> unpassed = new ArrayList<>();
    private final List<byte[]> unforced = new ArrayList<>();
    private Segment current;
    private Segment ready;
    private FileChannel channel;
    private long nextId = 1;
    private int nextSegment = 1;
    private int damaged;

    private DeadLetters(final Path directory, final StoreContext context, final byte[] salt) throws IOException {
        this.directory = directory;
        this.salt = salt.clone();
        this.force = context.durability() == Durability.FSYNC;
        this.fileBytes = (context.segmentBytes() / 4 + TEXT_AND_HEADER + 0xFFFF) & -0x1_0000;
        this.fileStore = Files.getFileStore(directory);
    }

    static DeadLetters open(final Path storeDirectory, final StoreContext context, final byte[] salt)
            throws IOException {
        final Path directory = storeDirectory.resolve(DIRECTORY);
        DurableFiles.createDirectory(directory);
        final DeadLetters letters = new DeadLetters(directory, context, salt);
        letters.readAll();
        letters.prepareQuietly();
        return letters;
    }

    private void readAll() throws IOException {
        Path last = null;
        for (final Part part : parts(directory, salt)) {
            final int number = numberOf(part.file);
            nextSegment = number + 1;
            read(part.file, number, part.firstIdOfNext);
            last = part.isEmpty ? last : part.file;
        }
        if (last != null && Files.exists(last)) {
            try (FileChannel unproven = FileChannel.open(last, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                DurableFiles.writeAgain(unproven, 0, segments.get(numberOf(last)).end);
                unproven.force(true);
            }
        }
    }

    /**
     * A file. After a sync that failed, the next file begins with copies of what had not become durable; the file before counts
     * up to there only.
     */
    private record Part(Path file, boolean isEmpty, long firstIdOfNext) {}

    private static List<Part> parts(final Path directory, final byte[] salt) throws IOException {
        final TreeMap<Integer, Path> files = new TreeMap<>();
        for (final Path file : SegmentFiles.list(directory)) {
            if (numberOf(file) > 0) {
                files.put(numberOf(file), file);
            }
        }
        final List<Part> parts = new ArrayList<>();
        long following = Long.MAX_VALUE;
        for (final Map.Entry<Integer, Path> file : files.descendingMap().entrySet()) {
            try (DeadLetterFile entries = new DeadLetterFile(file.getValue(), file.getKey(), salt, Long.MAX_VALUE)) {
                final boolean isEmpty = !entries.next();
                parts.add(new Part(file.getValue(), isEmpty, following));
                following = isEmpty ? following : Math.min(following, entries.id());
            }
        }
        Collections.reverse(parts);
        return parts;
    }

    /** Looks at what is there of a store that nobody has open, and changes nothing. */
    static void forEachThere(final Path storeDirectory, final byte[] salt, final Consumer<DeadLetterFile> visitor)
            throws IOException {
        final Path directory = storeDirectory.resolve(DIRECTORY);
        if (!Files.isDirectory(directory)) {
            return;
        }
        for (final Part part : parts(directory, salt)) {
            try (DeadLetterFile entries = new DeadLetterFile(part.file, numberOf(part.file), salt, Long.MAX_VALUE)) {
                while (entries.next() && entries.id() < part.firstIdOfNext) {
                    if (entries.status() == DeadLetterDescriptor.THERE) {
                        visitor.accept(entries);
                    }
                }
            }
        }
    }

    private void read(final Path file, final int number, final long firstIdOfNext) throws IOException {
        final Segment segment = new Segment(file, number);
        try (DeadLetterFile entries = new DeadLetterFile(file, number, salt, Long.MAX_VALUE)) {
            segment.end = Long.MAX_VALUE;
            while (entries.next()) {
                if (entries.id() >= firstIdOfNext) {
                    segment.end = entries.offset();
                    break;
                }
                segment.firstId = Math.min(segment.firstId, entries.id());
                nextId = Math.max(nextId, entries.id() + 1);
                unpassedOf(entries.lane()).add(entries.sequence());
                if (entries.status() == DeadLetterDescriptor.THERE) {
                    segment.live++;
                    liveOf(entries.lane(), entries.route())[0]++;
                }
            }
            segment.end = Math.min(segment.end, entries.nextOffset());
            segment.isSealed = true; // never written to again: what lies behind its end may be torn
            if (entries.damaged() > 0) {
                damaged += entries.damaged();
                LOGGER.error("{}: {} damaged place(s); the dead letters around are intact", file, entries.damaged());
            }
            if (segment.firstId == Long.MAX_VALUE && entries.damaged() == 0) {
                Files.delete(file); // made ready, never used
                return;
            }
        }
        segments.put(number, segment);
        if (segment.live == 0 && damaged == 0) {
            delete(segment);
        }
    }

    /**
     * Sequences of records in a lane that have a dead letter, or had one, as found at the start. Those above the cursor must
     * not be sent again.
     */
    LongHashSet sequencesOf(final int lane) {
        return unpassedOf(lane);
    }

    private LongHashSet unpassedOf(final int lane) {
        while (unpassed.size() <= lane) {
            unpassed.add(new LongHashSet());
        }
        return unpassed.get(lane);
    }

    /** What was read for the start only. */
    void started() {
        unpassed.clear();
    }

    /**
     * Appends a dead letter. It is durable once {@link #force()} has returned; until then its record must stay.
     *
     * @param lane           number.
     * @param record         to keep.
     * @param reason         why.
     * @param reasonCode     MQTT 5 Reason Code, 0 for none.
     * @param attempts       times it was sent.
     * @param firstAttemptMs epoch milliseconds, 0 for never.
     * @param givenUpMs      epoch milliseconds.
     * @param text           for people; cut to 512 bytes.
     * @return its id.
     * @throws StoreException if there is no room or the disk refused.
     */
    public synchronized long append(
            final int lane,
            final RecordView record,
            final DeadLetterReason reason,
            final int reasonCode,
            final int attempts,
            final long firstAttemptMs,
            final long givenUpMs,
            final String text)
            throws StoreException {
        final byte[] words = utf8(text);
        final byte[] bytes =
                new byte[(int) DeadLetterDescriptor.align(HEADER_LENGTH + (long) record.length() + words.length)];
        final UnsafeBuffer entry = new UnsafeBuffer(bytes);
        entry.putInt(DeadLetterDescriptor.MAGIC_OFFSET, DeadLetterDescriptor.MAGIC, BIG_ENDIAN);
        entry.putByte(DeadLetterDescriptor.LAYOUT_OFFSET, (byte) DeadLetterDescriptor.LAYOUT_VERSION);
        entry.putByte(DeadLetterDescriptor.REASON_OFFSET, (byte) reason.code());
        entry.putByte(DeadLetterDescriptor.REASON_CODE_OFFSET, (byte) reasonCode);
        entry.putInt(DeadLetterDescriptor.LANE_OFFSET, lane, BIG_ENDIAN);
        entry.putInt(DeadLetterDescriptor.ATTEMPTS_OFFSET, attempts, BIG_ENDIAN);
        entry.putLong(DeadLetterDescriptor.ID_OFFSET, nextId, BIG_ENDIAN);
        entry.putLong(DeadLetterDescriptor.FIRST_ATTEMPT_OFFSET, firstAttemptMs, BIG_ENDIAN);
        entry.putLong(DeadLetterDescriptor.GIVEN_UP_OFFSET, givenUpMs, BIG_ENDIAN);
        entry.putLong(DeadLetterDescriptor.SEQUENCE_OFFSET, record.sequence(), BIG_ENDIAN);
        entry.putLong(DeadLetterDescriptor.SEND_NUMBER_OFFSET, record.sendNumber(), BIG_ENDIAN);
        entry.putInt(DeadLetterDescriptor.RECORD_LENGTH_OFFSET, record.length(), BIG_ENDIAN);
        entry.putShort(DeadLetterDescriptor.TEXT_LENGTH_OFFSET, (short) words.length, BIG_ENDIAN);
        entry.putShort(DeadLetterDescriptor.ROUTE_NUMBER_OFFSET, (short) record.routeNumber(), BIG_ENDIAN);
        entry.putBytes(HEADER_LENGTH, record.buffer(), 0, record.length());
        entry.putBytes(HEADER_LENGTH + record.length(), words);
        entry.putInt(
                DeadLetterDescriptor.BODY_CRC_OFFSET,
                checksum.reset()
                        .update(salt)
                        .update(entry, HEADER_LENGTH, record.length() + words.length)
                        .value(),
                BIG_ENDIAN);
        entry.putInt(
                DeadLetterDescriptor.CRC_OFFSET,
                checksum.reset()
                        .update(salt)
                        .update(
                                entry,
                                DeadLetterDescriptor.LAYOUT_OFFSET,
                                HEADER_LENGTH - DeadLetterDescriptor.LAYOUT_OFFSET)
                        .value(),
                BIG_ENDIAN);
        try {
            write(bytes);
        } catch (final IOException e) {
            throw new StoreException("cannot write a dead letter in " + directory + ": free some space", e);
        }
        unforced.add(bytes);
        return nextId++;
    }

    private void write(final byte[] entry) throws IOException {
        if (current == null || current.end + entry.length > fileLength()) {
            makeDurable();
            roll();
        }
        DurableFiles.writeFully(channel, ByteBuffer.wrap(entry), current.end);
        current.firstId = Math.min(current.firstId, idOf(entry));
        current.end += entry.length;
        current.live++;
        liveOf(laneOf(entry), routeOf(entry))[0]++;
    }

    private long fileLength() throws IOException {
        return channel == null ? 0 : channel.size();
    }

    private void roll() throws IOException {
        final Segment next = ready == null ? create() : ready;
        ready = null; // if it cannot be opened, the next try makes another
        final FileChannel opened = FileChannel.open(next.file, StandardOpenOption.WRITE);
        closeChannel();
        if (current != null) {
            current.isSealed = true;
        }
        current = next;
        segments.put(current.number, current);
        channel = opened;
    }

    /**
     * Makes everything appended so far durable. If the disk refuses, the file is given up, and what was not durable goes to a
     * fresh one.
     *
     * @throws StoreException if that failed too: the records must stay where they are.
     */
    public synchronized void force() throws StoreException {
        try {
            makeDurable();
        } catch (final IOException e) {
            forgetUnforced();
            throw new StoreException("cannot sync the dead letters in " + directory + ": check the disk", e);
        }
    }

    private void makeDurable() throws IOException {
        if (unforced.isEmpty()) {
            return;
        }
        if (force) {
            try {
                channel.force(false);
            } catch (final IOException e) {
                LOGGER.error("{}: a sync failed; going on with the next file", current.file, e);
                rewrite(); // a sync that failed must not be tried again
                channel.force(false);
            }
        }
        unforced.clear();
    }

    private void rewrite() throws IOException {
        final List<byte[]> again = List.copyOf(unforced);
        forgetUnforced();
        roll();
        for (final byte[] entry : again) {
            write(entry);
            unforced.add(entry);
        }
    }

    /** Not durable, so not there, in the page cache neither; its id is not given out again. */
    private void forgetUnforced() {
        int length = 0;
        for (final byte[] entry : unforced) {
            length += entry.length;
            current.live--;
            liveOf(laneOf(entry), routeOf(entry))[0]--;
        }
        unforced.clear();
        if (length > 0) {
            current.end -= length;
            try {
                DurableFiles.writeFully(channel, ByteBuffer.allocate(length), current.end);
            } catch (final IOException e) {
                LOGGER.warn("{}: what a failed sync has left in it stays until a start", current.file, e);
            }
        }
    }

    /**
     * Makes the next file in advance, so that giving up needs no free space. For housekeeping.
     *
     * @return true if one is ready.
     * @throws StoreException if the disk is full or broken; try again later.
     */
    public synchronized boolean prepare() throws StoreException {
        if (ready == null) {
            try {
                ready = create();
            } catch (final IOException e) {
                throw new StoreException("no room to keep a file for dead letters ready in " + directory, e);
            }
        }
        return true;
    }

    private void prepareQuietly() {
        try {
            prepare();
        } catch (final StoreException e) {
            LOGGER.warn("{}", e.getMessage());
        }
    }

    private Segment create() throws IOException {
        if (fileStore.getUsableSpace() < fileBytes + LEAST_FREE) {
            throw new IOException("no space left for " + fileBytes + " bytes: " + directory);
        }
        final int number = nextSegment++;
        final Path file = directory.resolve(String.format("%010d%s", number, SUFFIX));
        try (FileChannel created = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            DurableFiles.writeZeros(created, fileBytes);
            if (force) {
                created.force(true);
            }
        } catch (final IOException e) {
            Files.deleteIfExists(file);
            throw e;
        }
        if (force) {
            DurableFiles.forceDirectory(directory);
        }
        return new Segment(file, number);
    }

    /**
     * Shows the dead letters that are there, oldest first, as of now.
     *
     * @param fromId  the first that is wanted.
     * @param visitor to show them to; it may call {@link #remove}.
     * @throws StoreException if they cannot be read.
     */
    public void forEach(final long fromId, final Visitor visitor) throws StoreException {
        final List<Segment> toRead = new ArrayList<>();
        synchronized (this) {
            Segment before = null;
            for (final Segment segment : segments.values()) {
                if (segment.firstId <= fromId) {
                    before = segment;
                } else {
                    toRead.add(segment);
                }
            }
            if (before != null) {
                toRead.add(0, before);
            }
        }
        long from = fromId;
        try {
            for (final Segment segment : toRead) {
                from = show(segment, from, visitor);
                if (from < 0) {
                    return;
                }
            }
        } catch (final IOException e) {
            throw new StoreException("cannot read the dead letters in " + directory + ": check the disk", e);
        }
    }

    /** The id to go on with, or -1 to stop. */
    private long show(final Segment segment, final long fromId, final Visitor visitor)
            throws IOException, StoreException {
        final long end;
        synchronized (this) {
            if (!segments.containsKey(segment.number)) {
                return fromId;
            }
            end = segment.end;
        }
        long from = fromId;
        try (DeadLetterFile entries = new DeadLetterFile(segment.file, segment.number, salt, end)) {
            while (entries.next()) {
                if (entries.status() != DeadLetterDescriptor.THERE || entries.id() < from) {
                    continue; // gone, or not wanted
                }
                from = entries.id() + 1;
                final DeadLetter letter = entries.letter();
                if (letter == null) {
                    LOGGER.error("{}: dead letter {} is damaged", segment.file, entries.id());
                } else if (!visitor.visit(letter)) {
                    return -1;
                }
            }
        }
        return from;
    }

    /**
     * Takes dead letters out, durably. Whoever removes has to tell the ledger too.
     *
     * @param letters that were shown by {@link #forEach}.
     * @param removal what becomes of them.
     * @return those that were still there.
     * @throws StoreException if the disk refused; some may be removed.
     */
    public synchronized List<DeadLetter> remove(final List<DeadLetter> letters, final Removal removal)
            throws StoreException {
        final List<DeadLetter> removed = new ArrayList<>();
        final Map<Integer, FileChannel> open = new HashMap<>();
        try {
            for (final DeadLetter letter : letters) {
                final Segment segment = segments.get(letter.segment());
                if (segment != null && mark(segment, letter, removal, open)) {
                    removed.add(letter);
                }
            }
            for (final FileChannel marked : open.values()) {
                marked.force(false);
            }
        } catch (final IOException e) {
            throw new StoreException("cannot remove dead letters in " + directory + ": check the disk", e);
        } finally {
            open.values().forEach(DeadLetters::closeQuietly);
        }
        for (final DeadLetter letter : removed) {
            deleteIfEmpty(segments.get(letter.segment()));
        }
        return removed;
    }

    private boolean mark(
            final Segment segment, final DeadLetter letter, final Removal removal, final Map<Integer, FileChannel> open)
            throws IOException {
        FileChannel marked = open.get(segment.number);
        if (marked == null) {
            marked = FileChannel.open(segment.file, StandardOpenOption.READ, StandardOpenOption.WRITE);
            open.put(segment.number, marked);
        }
        final ByteBuffer status = ByteBuffer.allocate(1);
        marked.read(status, letter.offset() + DeadLetterDescriptor.STATUS_OFFSET);
        if (status.get(0) != DeadLetterDescriptor.THERE) {
            return false;
        }
        status.put(0, removal.status).rewind();
        marked.write(status, letter.offset() + DeadLetterDescriptor.STATUS_OFFSET);
        segment.live--;
        liveOf(letter.lane(), letter.view().routeNumber())[0]--;
        return true;
    }

    private void deleteIfEmpty(final Segment segment) {
        if (segment != null && segment.live == 0 && segment.isSealed) {
            try {
                delete(segment);
            } catch (final IOException e) {
                LOGGER.warn("cannot delete {}", segment.file, e);
            }
        }
    }

    private void delete(final Segment segment) throws IOException {
        Files.deleteIfExists(segment.file);
        segments.remove(segment.number);
    }

    /**
     * How many there are of a lane and a route.
     *
     * @param lane  number.
     * @param route number.
     * @return count.
     */
    public synchronized long count(final int lane, final int route) {
        return liveOf(lane, route)[0];
    }

    /**
     * How many there are.
     *
     * @return count.
     */
    public synchronized long count() {
        return live.values().stream().mapToLong(one -> one[0]).sum();
    }

    /**
     * Bytes of the files, the prepared one included.
     *
     * @return bytes.
     */
    public synchronized long bytesOnDisk() {
        return (segments.size() + (ready == null ? 0 : 1)) * (long) fileBytes;
    }

    /**
     * Places in the files that are damaged, as found at the start.
     *
     * @return count.
     */
    public synchronized int damaged() {
        return damaged;
    }

    private long[] liveOf(final int lane, final int route) {
        return live.computeIfAbsent((long) lane << Short.SIZE | route, key -> new long[1]);
    }

    private void closeChannel() throws IOException {
        if (channel != null) {
            channel.close();
            channel = null;
        }
    }

    @Override
    public synchronized void close() throws StoreException {
        force();
        try {
            closeChannel();
        } catch (final IOException e) {
            throw new StoreException("cannot close the dead letters in " + directory, e);
        }
    }

    private static void closeQuietly(final FileChannel channel) {
        try {
            channel.close();
        } catch (final IOException e) {
            LOGGER.debug("while closing", e);
        }
    }

    private static byte[] utf8(final String text) {
        String cut = text;
        byte[] bytes = cut.getBytes(StandardCharsets.UTF_8);
        while (bytes.length > DeadLetterDescriptor.TEXT_MAX) {
            cut = cut.substring(0, cut.length() * 3 / 4);
            bytes = cut.getBytes(StandardCharsets.UTF_8);
        }
        return bytes;
    }

    private static long idOf(final byte[] entry) {
        return new UnsafeBuffer(entry).getLong(DeadLetterDescriptor.ID_OFFSET, BIG_ENDIAN);
    }

    private static int laneOf(final byte[] entry) {
        return new UnsafeBuffer(entry).getInt(DeadLetterDescriptor.LANE_OFFSET, BIG_ENDIAN);
    }

    private static int routeOf(final byte[] entry) {
        return new UnsafeBuffer(entry).getShort(DeadLetterDescriptor.ROUTE_NUMBER_OFFSET, BIG_ENDIAN) & 0xFFFF;
    }

    private static int numberOf(final Path file) {
        final String name = String.valueOf(file.getFileName());
        if (!name.matches("\\d{10}\\.dlq")) {
            return -1;
        }
        final long number = Long.parseLong(name.substring(0, name.length() - SUFFIX.length()));
        return number <= Integer.MAX_VALUE ? (int) number : -1;
    }
}
