package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.queue.ExcerptTailer;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueue;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.queue.rollcycles.LegacyRollCycles;
import net.openhft.chronicle.wire.DocumentContext;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Our reader and the log library's own see the same records in the same files. */
class LogFormatTest {
    @TempDir
    Path directory;

    @Test
    void theLogLibrarysTailerReadsTheSameRecords() throws Exception {
        final Path image = directory.resolve("image");
        final byte[] salt;
        try (StoreFixture fixture = StoreFixture.open(directory.resolve("live"))) {
            for (int i = 0; i < 1_000; i++) {
                fixture.publish(1, 1, "t", i + " " + "x".repeat(i));
            }
            fixture.writer.force();
            CrashImage.of(directory.resolve("live"), image);
            salt = CrashImage.salt(image);
        }
        try (StoreFixture ours = StoreFixture.open(image);
                LaneReader reader = ours.lane.openReader();
                SingleChronicleQueue queue = SingleChronicleQueueBuilder.binary(
                                CrashImage.laneOf(directory.resolve("live")).toFile())
                        .rollCycle(LegacyRollCycles.MINUTELY)
                        .blockSize(StoreFixture.SEGMENT_BYTES)
                        .build()) {
            final ExcerptTailer tailer = queue.createTailer();
            final byte[] bytes = new byte[10_000];
            final RecordView theirs = new RecordView();
            for (int i = 0; i < 1_000; i++) {
                assertTrue(reader.next());
                try (DocumentContext context = tailer.readingDocument()) {
                    assertTrue(context.isPresent(), "record " + i);
                    final Bytes<?> content = context.wire().bytes();
                    final int length = (int) content.readRemaining();
                    content.read(bytes, 0, length);
                    theirs.wrap(new UnsafeBuffer(bytes), 0, length);
                    assertTrue(theirs.isIntact(new Crc32cChecksum(), salt));
                    assertEquals(reader.record().buffer(), theirs.buffer());
                }
            }
        }
    }

    /** More records than one index page of the log library holds: such pages lie between the records. */
    @Test
    void indexPagesBetweenRecordsAreSkipped() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory, context -> context.segmentBytes(16 << 20))) {
            for (int i = 0; i < 100_000; i += 10_000) {
                fixture.publishMany(i, i + 10_000, 0);
            }
            assertEquals(1, fixture.lane.stat().segments());
            try (LaneReader reader = fixture.lane.openReader()) {
                for (int i = 1; i <= 100_000; i++) {
                    assertTrue(reader.next());
                    assertEquals(i, reader.sequence());
                }
            }
        }
    }
}
