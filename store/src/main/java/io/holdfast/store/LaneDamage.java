package io.holdfast.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What was found damaged in a lane: counts it, says it once per place, and keeps the damaged file under a second name, so that
 * it is still there when the log has no use for it any more. Any thread.
 */
final class LaneDamage implements LogScan.DamageListener {
    /** Damaged files kept per lane; above it the oldest go. */
    static final int FILES_MAX = 8;

    /** Bytes of damaged files kept per lane; above it the oldest go, but never the newest. */
    static final long BYTES_MAX = 256L << 20;

    /** Places remembered so as not to say them twice. */
    private static final int PLACES_MAX = 4096;

    private static final Logger LOGGER = LoggerFactory.getLogger(LaneDamage.class);

    private final Path directory;
    private final SegmentFiles files;
    private final Set<Long> places = new HashSet<>();
    private long missingUpTo;

    private volatile long placeCount;
    private volatile long missingRecords;
    private volatile long filesDeleted;

    LaneDamage(final Path directory, final SegmentFiles files) {
        this.directory = directory;
        this.files = files;
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate")
    public synchronized void damaged(final int segment, final long offset) {
        if (places.size() < PLACES_MAX && !places.add(Position.of(segment, offset))) {
            return;
        }
        placeCount++;
        try {
            final Path file = files.path(segment);
            LOGGER.error(
                    "{} is damaged at offset {}: going on with the next intact record; the file is kept as {}",
                    file,
                    offset,
                    keep(segment, file));
        } catch (final IOException e) {
            LOGGER.error("segment {} is damaged at offset {}, and its file cannot be kept", segment, offset, e);
        }
    }

    /** The records of a range of sequences are not there. */
    @SuppressWarnings("NonAtomicVolatileUpdate")
    synchronized void missing(final long first, final long last) {
        final long from = Math.max(first, missingUpTo + 1);
        if (last >= from) {
            missingUpTo = last;
            missingRecords += last - from + 1;
            LOGGER.error("{} records are missing in {}: sequences {} to {}", last - from + 1, directory, from, last);
        }
    }

    /** Gives a damaged file a second name; its bytes stay when the log deletes the first. */
    private Path keep(final int segment, final Path file) throws IOException {
        final Path kept = directory.resolve(SegmentName.of(segment, SegmentName.DAMAGED));
        if (!Files.exists(kept)) {
            try {
                Files.createLink(kept, file);
            } catch (final NoSuchFileException e) {
                throw e;
            } catch (final IOException | UnsupportedOperationException e) {
                Files.copy(file, kept); // a file system without hard links
            }
            bound();
        }
        return kept;
    }

    /** Deletes the oldest damaged files above the bounds. */
    @SuppressWarnings("NonAtomicVolatileUpdate")
    synchronized void bound() throws IOException {
        final List<Path> kept = new ArrayList<>();
        long bytes = 0;
        for (final Path file : SegmentFiles.list(directory)) {
            if (SegmentName.numberOf(file, SegmentName.DAMAGED) >= 0) {
                kept.add(file);
                bytes += Files.size(file);
            }
        }
        while (kept.size() > FILES_MAX || (bytes > BYTES_MAX && kept.size() > 1)) {
            final Path oldest = kept.remove(0);
            bytes -= Files.size(oldest);
            Files.delete(oldest);
            filesDeleted++;
            LOGGER.warn("{} is deleted: more damaged files are not kept", oldest);
        }
    }

    /** Places found damaged since the lane was opened. */
    long placeCount() {
        return placeCount;
    }

    /** Records found missing by readers since the lane was opened, each once. */
    long missingRecords() {
        return missingRecords;
    }

    /** Damaged files deleted because there were too many. */
    long filesDeleted() {
        return filesDeleted;
    }
}
