package io.holdfast.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * The segment files of a lane: which there are, what they take, the next one made in advance, and when one may go.
 * Called by the writer, the readers and housekeeping; short locks, except that making a file holds a lock of its own.
 */
final class SegmentFiles {
    /** A segment file whose first sequence nobody has looked up yet. */
    private static final long UNKNOWN = Long.MIN_VALUE;

    /** Left free beside a new segment: the log library's table is a mapped file that must never meet a full disk. */
    private static final long LEAST_FREE = 512 << 10;

    private static final class Segment {
        final Path file;
        final long bytes;
        long firstSequence = UNKNOWN;

        Segment(final Path file, final long bytes) {
            this.file = file;
            this.bytes = bytes;
        }
    }

    private final Path directory;
    private final int segmentBytes;
    private final long maxBytes;
    private final long reserveBytes;
    private final boolean force;
    private final byte[] salt;
    private final FileStore fileStore;

    /** Guards the index; never held during a write. */
    private final Object indexLock = new Object();

    private final NavigableMap<Integer, Segment> segments = new TreeMap<>();
    private final AtomicLong bytesOnDisk = new AtomicLong();

    /** Guards the making of the next file. */
    private final Object prepareLock = new Object();

    private volatile int readySegment = -1;

    /** One more file, for records that drain the outbox: they must not depend on free space. */
    private final Path spare;

    private volatile boolean isSpareReady;
    private int nextSegment = 1;

    SegmentFiles(final Path directory, final StoreContext context, final byte[] salt) throws IOException {
        this.directory = directory;
        this.segmentBytes = context.segmentBytes();
        this.maxBytes = context.maxBytesPerLane();
        this.reserveBytes = context.reserveBytes();
        this.force = context.durability() == Durability.FSYNC;
        this.salt = salt.clone();
        this.fileStore = Files.getFileStore(directory);
        this.spare = directory.resolve("spare.segment");
    }

    /**
     * Finds the segments of earlier processes. Changes nothing.
     *
     * @return their numbers, ascending.
     */
    List<Integer> discover() throws IOException {
        for (final Path file : list(directory)) {
            int number = SegmentName.numberOf(file, SegmentName.SEALED);
            if (number < 0) {
                number = SegmentName.numberOf(file, SegmentName.LIVE);
            }
            if (number >= 0) {
                add(number, file);
            }
        }
        synchronized (indexLock) {
            return List.copyOf(segments.keySet());
        }
    }

    /** Removes what a killed process left half done. Returns the files that the log library set aside. */
    List<Path> clean() throws IOException {
        final List<Path> discarded = new ArrayList<>();
        for (final Path file : list(directory)) {
            final String name = String.valueOf(file.getFileName());
            final int precreated = SegmentName.numberOf(file, SegmentName.PRECREATED);
            final Path sealed =
                    precreated < 0 ? file : directory.resolve(SegmentName.of(precreated, SegmentName.SEALED));
            if (!Files.exists(sealed) && isWrittenTo(file)) {
                Files.move(file, sealed);
            } else if (name.endsWith(SegmentName.PRECREATED) || name.endsWith(".cq4t")) {
                Files.delete(file);
            } else if (name.endsWith(SegmentName.DISCARDED)) {
                discarded.add(file);
            }
        }
        isSpareReady =
                Files.exists(spare) && Files.size(spare) == StoreContext.fileBytes(segmentBytes) && !isWrittenTo(spare);
        if (!isSpareReady) {
            Files.deleteIfExists(spare);
        }
        return discarded;
    }

    /** Whether the log library has begun the file: without syncs, a power cut may undo the renaming alone. */
    private static boolean isWrittenTo(final Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            final ByteBuffer start = ByteBuffer.allocate(Integer.BYTES);
            return channel.read(start, 0) == Integer.BYTES && start.getInt(0) != 0;
        }
    }

    /** Takes the segments of earlier processes out of the log library's sight. */
    void seal() throws IOException {
        synchronized (indexLock) {
            for (final Map.Entry<Integer, Segment> entry : segments.entrySet()) {
                final Path file = entry.getValue().file;
                if (SegmentName.numberOf(file, SegmentName.LIVE) >= 0) {
                    final Path sealed = directory.resolve(SegmentName.of(entry.getKey(), SegmentName.SEALED));
                    Files.move(file, sealed);
                    final Segment segment = new Segment(sealed, entry.getValue().bytes);
                    segment.firstSequence = entry.getValue().firstSequence;
                    entry.setValue(segment);
                }
            }
            nextSegment = segments.isEmpty() ? nextSegment : Math.max(nextSegment, segments.lastKey() + 1);
        }
    }

    /**
     * Gives back what a segment that will not be written any more does not use, and makes the rest durable.
     *
     * @param unproven  what lies before it is known to be on stable storage.
     * @param usedBytes the new length.
     */
    void cut(final int segment, final long unproven, final long usedBytes) throws IOException {
        final Path file = path(segment);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            if (channel.size() > usedBytes) {
                channel.truncate(usedBytes);
            }
            DurableFiles.writeAgain(channel, unproven, usedBytes);
            channel.force(true);
        }
        synchronized (indexLock) {
            forget(segment);
            add(segment, file);
        }
    }

    /** Deletes a segment that holds nothing. */
    void delete(final int segment) throws IOException {
        Files.deleteIfExists(path(segment));
        synchronized (indexLock) {
            forget(segment);
        }
    }

    /** Takes a segment out of the log but keeps its file, under another name. */
    Path setAside(final int segment) throws IOException {
        final Path aside = directory.resolve(SegmentName.of(segment, SegmentName.DAMAGED));
        Files.deleteIfExists(aside); // a second name of the same file, if it is there
        Files.move(path(segment), aside);
        synchronized (indexLock) {
            forget(segment);
        }
        return aside;
    }

    void nextSegmentIsAbove(final int segment) {
        nextSegment = Math.max(nextSegment, segment + 1);
    }

    /** Whether a segment file more is allowed for PUBLISH records. */
    private boolean mayGrow() throws IOException {
        final long fileBytes = StoreContext.fileBytes(segmentBytes);
        return bytesOnDisk.get() + fileBytes <= maxBytes && fileStore.getUsableSpace() - fileBytes >= reserveBytes;
    }

    /** Whether what there is lies within the limits for PUBLISH records. */
    boolean isWithinLimits() {
        try {
            return bytesOnDisk.get() <= maxBytes && fileStore.getUsableSpace() >= reserveBytes;
        } catch (final IOException e) {
            return false;
        }
    }

    boolean isReady() {
        return readySegment >= 0;
    }

    /**
     * Makes the next segment file in advance, unless there is one: zero-filled, durable, so that appending to it can meet no
     * full disk.
     *
     * @param urgent true for records that drain the outbox: the limits for PUBLISH records do not bind them.
     * @return true if one is ready now; false if the limits forbid it.
     * @throws IOException if the disk is full or broken; nothing of the file is left behind.
     */
    boolean prepare(final boolean urgent) throws IOException {
        synchronized (prepareLock) {
            if (readySegment >= 0) {
                return true;
            }
            if (!urgent && !mayGrow()) {
                return false;
            }
            final int number = nextSegment;
            final Path file = directory.resolve(SegmentName.of(number, SegmentName.PRECREATED));
            final long fileBytes = StoreContext.fileBytes(segmentBytes);
            if (urgent && isSpareReady) {
                Files.move(spare, file);
                isSpareReady = false;
            } else {
                make(file, fileBytes);
            }
            bytesOnDisk.addAndGet(fileBytes);
            nextSegment = number + 1;
            readySegment = number;
            return true;
        }
    }

    private void make(final Path file, final long fileBytes) throws IOException {
        if (fileStore.getUsableSpace() < fileBytes + LEAST_FREE) {
            throw new IOException("no space left for a segment of " + fileBytes + " bytes: " + directory);
        }
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            DurableFiles.writeZeros(channel, fileBytes);
            if (force) {
                channel.force(true);
            }
        } catch (final IOException e) {
            Files.deleteIfExists(file);
            throw e;
        }
        if (force) {
            DurableFiles.forceDirectory(directory);
        }
    }

    /** Makes the spare file, unless it is there or there is no space for it; it counts in no limit. */
    void prepareSpare() throws IOException {
        synchronized (prepareLock) {
            final long fileBytes = StoreContext.fileBytes(segmentBytes);
            if (!isSpareReady && fileStore.getUsableSpace() >= fileBytes + LEAST_FREE) {
                make(spare, fileBytes);
                isSpareReady = true;
            }
        }
    }

    /**
     * Gives the spare file's space to something that draining needs even more.
     *
     * @return whether there was one.
     */
    boolean giveUpSpare() throws IOException {
        synchronized (prepareLock) {
            isSpareReady = false;
            return Files.deleteIfExists(spare);
        }
    }

    boolean isSpareReady() {
        return isSpareReady;
    }

    /** Whether the log library may be started: it makes a mapped file. */
    boolean hasRoomForLog() throws IOException {
        return fileStore.getUsableSpace() >= LEAST_FREE;
    }

    /**
     * Takes the prepared segment into the log.
     *
     * @param firstSequence of the record that will be appended to it first.
     * @return its number, or -1 if none is ready.
     */
    int takeReady(final long firstSequence) {
        synchronized (prepareLock) {
            final int number = readySegment;
            if (number < 0) {
                return -1;
            }
            readySegment = -1;
            final Segment segment = new Segment(
                    directory.resolve(SegmentName.of(number, SegmentName.LIVE)), StoreContext.fileBytes(segmentBytes));
            segment.firstSequence = firstSequence;
            synchronized (indexLock) {
                segments.put(number, segment);
            }
            return number;
        }
    }

    Path path(final int segment) throws NoSuchFileException {
        synchronized (indexLock) {
            final Segment found = segments.get(segment);
            if (found == null) {
                throw new NoSuchFileException(directory
                        .resolve(SegmentName.of(segment, SegmentName.LIVE))
                        .toString());
            }
            return found.file;
        }
    }

    /** The lowest segment, or -1. */
    int first() {
        synchronized (indexLock) {
            return segments.isEmpty() ? -1 : segments.firstKey();
        }
    }

    /** The segment behind that one, or -1. */
    int after(final int segment) {
        synchronized (indexLock) {
            final Integer next = segments.higherKey(segment);
            return next == null ? -1 : next;
        }
    }

    int count() {
        synchronized (indexLock) {
            return segments.size();
        }
    }

    /** Bytes of all segment files, the prepared one included. */
    long bytesOnDisk() {
        return bytesOnDisk.get();
    }

    /**
     * The segment that holds a sequence, or would hold it: the last one that begins at or below it.
     *
     * @return its number, or the lowest one if all begin above, or -1 if there is none.
     */
    int find(final long sequence) throws IOException {
        final List<Integer> numbers;
        synchronized (indexLock) {
            numbers = List.copyOf(segments.keySet());
        }
        int low = 0;
        int high = numbers.size() - 1;
        while (low < high) {
            final int middle = (low + high + 1) >>> 1;
            final long first = firstSequence(numbers.get(middle));
            if (first <= sequence) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return numbers.isEmpty() ? -1 : numbers.get(low);
    }

    /**
     * The first intact sequence in a segment or, if it has none, behind it. Looked up in a file once if it is from an earlier
     * process.
     *
     * @return sequence; {@link Long#MAX_VALUE} if there is none.
     */
    long firstSequence(final int number) throws IOException {
        for (int candidate = number; candidate >= 0; candidate = after(candidate)) {
            final long found = firstSequenceIn(candidate);
            if (found != Long.MAX_VALUE) {
                return found;
            }
        }
        return Long.MAX_VALUE;
    }

    private long firstSequenceIn(final int number) throws IOException {
        final Segment segment;
        synchronized (indexLock) {
            segment = segments.get(number);
            if (segment == null || segment.firstSequence != UNKNOWN) {
                return segment == null ? Long.MAX_VALUE : segment.firstSequence;
            }
        }
        long found = Long.MAX_VALUE;
        try (SegmentReader reader = new SegmentReader(salt)) {
            reader.open(segment.file, 0);
            if (reader.step(Long.MAX_VALUE) == SegmentReader.Step.RECORD || reader.hasRecordBehind(0)) {
                found = reader.view().sequence();
            }
        } catch (final NoSuchFileException e) {
            return Long.MAX_VALUE;
        }
        synchronized (indexLock) {
            segment.firstSequence = found;
        }
        return found;
    }

    /**
     * Deletes the oldest segments, as far as nobody needs them.
     *
     * @param finishedSequence  every record up to it is finished, durably and in both cursor slots.
     * @param checkpointSegment both checkpoints begin at or above this segment.
     * @return how many were deleted.
     */
    int reclaim(final long finishedSequence, final int checkpointSegment) throws IOException {
        int deleted = 0;
        while (true) {
            final int oldest = first();
            final int next = oldest < 0 ? -1 : after(oldest);
            if (next < 0 || oldest >= checkpointSegment || firstSequence(next) > finishedSequence + 1) {
                return deleted;
            }
            delete(oldest);
            deleted++;
        }
    }

    /**
     * Which segments would have to go for the limits to allow one more.
     *
     * @return the number of the first that could stay: the lowest one, if nothing has to go, at most the highest.
     */
    int firstKeptForRoom() throws IOException {
        final long fileBytes = StoreContext.fileBytes(segmentBytes);
        long missing = Math.max(
                bytesOnDisk.get() + fileBytes - maxBytes, reserveBytes + fileBytes - fileStore.getUsableSpace());
        synchronized (indexLock) {
            for (final Map.Entry<Integer, Segment> entry : segments.entrySet()) {
                if (missing <= 0) {
                    return entry.getKey();
                }
                missing -= entry.getValue().bytes;
            }
            return segments.isEmpty() ? 0 : segments.lastKey();
        }
    }

    static List<Path> list(final Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.sorted().toList();
        }
    }

    private void add(final int number, final Path file) throws IOException {
        final Segment segment = new Segment(file, Files.size(file));
        synchronized (indexLock) {
            segments.put(number, segment);
        }
        bytesOnDisk.addAndGet(segment.bytes);
    }

    private void forget(final int number) {
        final Segment segment = segments.remove(number);
        if (segment != null) {
            bytesOnDisk.addAndGet(-segment.bytes);
        }
    }
}
