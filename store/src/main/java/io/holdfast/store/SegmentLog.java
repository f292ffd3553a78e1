package io.holdfast.store;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.bytes.SyncMode;
import net.openhft.chronicle.core.Jvm;
import net.openhft.chronicle.core.io.BackgroundResourceReleaser;
import net.openhft.chronicle.core.onoes.Slf4jExceptionHandler;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueue;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.queue.rollcycles.LegacyRollCycles;
import net.openhft.chronicle.wire.DocumentContext;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Appends records to segment files through Chronicle Queue, and makes them durable past it: its own sync loses data at chunk
 * ends and only logs errors. The library sees a clock that counts segments, files that are completely allocated, and none of
 * an earlier process. The only class that knows it. For the lane's writer thread.
 */
final class SegmentLog implements LaneLog {
    /** The library's file header and first index pages. */
    private static final int SEGMENT_START = 36 << 10;

    /** Room for an index page that may come before the next record, a document header and padding. */
    private static final int SLACK = 20 << 10;

    private static final long MILLIS_PER_SEGMENT = 60_000;

    static {
        Jvm.setExceptionHandlers(Slf4jExceptionHandler.ERROR, Slf4jExceptionHandler.WARN, null, null);
    }

    private final Path directory;
    private final int segmentBytes;
    private final boolean force;
    private final UnsafeBuffer mapped = new UnsafeBuffer(0, 0);

    private SingleChronicleQueue queue;
    private ExcerptAppender appender;
    private FileChannel channel;
    private volatile int segment = -1;
    private boolean isFileNew;
    private long end;

    SegmentLog(final Path directory, final int segmentBytes, final boolean force) {
        this.directory = directory;
        this.segmentBytes = segmentBytes;
        this.force = force;
    }

    @Override
    public boolean isOpen() {
        return segment >= 0;
    }

    @Override
    public int remaining() {
        final long used = Math.max(end, SEGMENT_START);
        return (int) Math.max(0, segmentBytes - SLACK - used);
    }

    @Override
    public void roll(final int nextSegment) throws IOException {
        closeChannel();
        segment = nextSegment;
        isFileNew = true;
        end = 0;
        warmUp();
    }

    /** Takes a third of a second in a fresh JVM: not while the first device waits for its acknowledgement. */
    @Override
    public void warmUp() {
        if (appender == null) {
            queue = SingleChronicleQueueBuilder.binary(directory.toFile())
                    .rollCycle(LegacyRollCycles.MINUTELY)
                    .blockSize(segmentBytes)
                    .syncMode(SyncMode.NONE)
                    .timeProvider(() -> Math.max(segment, 0) * MILLIS_PER_SEGMENT)
                    .build();
            appender = queue.createAppender();
            appender.singleThreadedCheckDisabled(true);
        }
    }

    @Override
    public boolean isWarm() {
        return appender != null;
    }

    @Override
    public void append(final DirectBuffer record, final int offset, final int length) throws IOException {
        if (length > remaining()) {
            throw new IOException("record of " + length + " bytes does not fit into segment " + segment);
        }
        try (DocumentContext context = appender.writingDocument()) {
            try {
                final Bytes<?> bytes = context.wire().bytes();
                final long start = bytes.writePosition();
                mapped.wrap(bytes.addressForWrite(start), length);
                mapped.putBytes(0, record, offset, length);
                bytes.writeSkip(length);
                end = align(start + length);
            } catch (final Throwable t) {
                context.rollbackOnClose();
                throw t;
            }
        }
        if (channel == null) {
            openChannel();
        }
    }

    /** The library has renamed the prepared file by now; any other file than that one would not be allocated. */
    private void openChannel() throws IOException {
        final Path file = directory.resolve(SegmentName.of(segment, SegmentName.LIVE));
        if (Files.size(file) != StoreContext.fileBytes(segmentBytes)) {
            throw new IOException(file + " is not the prepared segment: it has " + Files.size(file) + " bytes");
        }
        channel = FileChannel.open(file, StandardOpenOption.WRITE);
    }

    @Override
    public long position() {
        return segment < 0 ? 0 : Position.of(segment, end);
    }

    @Override
    public void force() throws IOException {
        if (!force || channel == null) {
            return;
        }
        channel.force(isFileNew);
        if (isFileNew) {
            DurableFiles.forceDirectory(directory);
            isFileNew = false;
        }
    }

    @Override
    public void close() throws IOException {
        try {
            if (appender != null) {
                appender.close();
                queue.close();
                appender = null;
                Files.deleteIfExists(directory.resolve("metadata.cq4t")); // it may hold a lock that nobody gives back
                // Unmaps the segments now, not some time later on a thread of the library.
                BackgroundResourceReleaser.releasePendingResources();
            }
        } finally {
            closeChannel();
            segment = -1;
        }
    }

    private void closeChannel() throws IOException {
        if (channel != null) {
            channel.close();
            channel = null;
        }
    }

    private static long align(final long position) {
        return (position + 3) & ~3L;
    }
}
