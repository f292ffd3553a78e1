package io.holdfast.store;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * Writes damaged segments again with what is intact in them, keeps the damaged files aside, and makes everything else anew as
 * a start does. Loses no intact record; may be killed at any instant, and run again. For one thread.
 */
public final class StoreRepair {
    private static final String NEW = ".new";
    private static final int HEADER_LENGTH = Integer.BYTES;

    private final Path directory;
    private final List<String> notes = new ArrayList<>();

    private StoreRepair(final Path directory) {
        this.directory = directory;
    }

    /**
     * Repairs a data directory that no process uses.
     *
     * @param directory of the store.
     * @return what was done, as notes.
     * @throws StoreException if a process uses it, it holds no outbox, or the disk refuses.
     */
    public static StoreCheck run(final Path directory) throws StoreException {
        return new StoreRepair(directory).run();
    }

    @SuppressWarnings("try")
    private StoreCheck run() throws StoreException {
        final StoreMeta meta;
        try (StoppedStore store = StoppedStore.open(directory)) {
            meta = store.meta();
            for (int i = 0; i < meta.lanes(); i++) {
                if (Files.isDirectory(OutboxStore.laneDirectory(directory, i))) {
                    repairLane(i, meta);
                }
            }
        } catch (final IOException e) {
            throw new StoreException("cannot repair " + directory + ": " + e + "; nothing is lost, try again", e);
        }
        // A start makes the rest: meta, routes, the slots; and cuts a torn tail.
        OutboxStore.open(new StoreContext()
                        .directory(directory)
                        .lanes(meta.lanes())
                        .segmentBytes(meta.segmentBytes())
                        .uplinkClientId(meta.uplinkClientId())
                        .uplinkBroker(meta.uplinkBroker()))
                .close();
        return new StoreCheck(List.of(), List.copyOf(notes));
    }

    private void repairLane(final int number, final StoreMeta meta) throws IOException {
        final Path lane = OutboxStore.laneDirectory(directory, number);
        for (final Path file : SegmentFiles.list(lane)) {
            if (file.toString().endsWith(NEW)) {
                Files.delete(file); // of a repair that was killed
            }
        }
        final TreeSet<Integer> damaged = new TreeSet<>();
        final KnownGaps gaps = KnownGaps.read(lane);
        try (StoppedLane stopped = new StoppedLane(directory, number, meta)) {
            long passed = LogScan.UNKNOWN;
            try (LogScan scan = stopped.scanAll((segment, offset) -> damaged.add(segment))) {
                while (stopped.next(scan)) {
                    if (scan.passed() > stopped.expectedAfter(passed)) {
                        gaps.add(stopped.expectedAfter(passed), scan.passed() - 1);
                    }
                    passed = scan.passed();
                }
            }
            if (stopped.lastSequence() > Math.max(passed, stopped.cursor.sequence())) {
                gaps.add(stopped.expectedAfter(passed), stopped.lastSequence());
            }
            for (final int segment : damaged) {
                repairSegment(lane, segment, stopped.files.path(segment), MetaFile.saltOf(meta));
            }
        }
    }

    private void repairSegment(final Path lane, final int segment, final Path file, final byte[] salt)
            throws IOException {
        final Path kept = lane.resolve(SegmentName.of(segment, SegmentName.DAMAGED));
        final Path sealed = lane.resolve(SegmentName.of(segment, SegmentName.SEALED));
        final Path fresh = lane.resolve(SegmentName.of(segment, SegmentName.SEALED) + NEW);
        if (!Files.exists(kept)) {
            Files.deleteIfExists(fresh);
            Files.copy(file, fresh);
            Files.move(fresh, kept, StandardCopyOption.ATOMIC_MOVE);
        }
        long records = 0;
        try (FileChannel channel = FileChannel.open(fresh, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            try (SegmentReader reader = new SegmentReader(salt)) {
                reader.open(file, 0);
                long end = 0;
                while (reader.salvage(reader.nextOffset(), Long.MAX_VALUE, 0)) {
                    end = append(channel, end, reader.view());
                    records++;
                }
            }
            channel.force(true);
        }
        if (!file.equals(sealed)) {
            Files.move(file, sealed, StandardCopyOption.ATOMIC_MOVE);
        }
        Files.move(fresh, sealed, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        DurableFiles.forceDirectory(lane);
        notes.add(sealed + ": written again with its " + records + " intact record(s); the damaged file is kept as "
                + kept.getFileName());
    }

    private static long append(final FileChannel channel, final long start, final RecordView record)
            throws IOException {
        final int length = record.length();
        final ByteBuffer document = ByteBuffer.allocate((HEADER_LENGTH + length + 3) & -4);
        document.order(LITTLE_ENDIAN).putInt(0, length);
        record.buffer().getBytes(0, document, HEADER_LENGTH, length);
        document.clear();
        DurableFiles.writeFully(channel, document, start);
        return start + document.capacity();
    }
}
