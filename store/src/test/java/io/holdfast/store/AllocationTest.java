package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** No object per record: neither on the way in nor on the way out. */
class AllocationTest {
    private static final int RECORDS = 20_000;
    private static final int PER_BATCH = 100;

    @TempDir
    Path directory;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final UnsafeBuffer record = new UnsafeBuffer(ByteBuffer.allocateDirect(1024));
    private final UnsafeBuffer payload = new UnsafeBuffer(new byte[200]);
    private final RecordEncoder encoder = new RecordEncoder();
    private long delivered;

    @Test
    void appendingAndReadingAllocateNothingPerRecord() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(
                        directory, context -> context.segmentBytes(64 << 20).durability(Durability.PAGE_CACHE));
                LaneReader reader = fixture.lane.openReader()) {
            fixture.connect("device", true);
            for (int warmUp = 0; warmUp < 2; warmUp++) {
                append(fixture);
                read(reader);
            }
            final long appended = allocatedBy(() -> append(fixture));
            final long read = allocatedBy(() -> read(reader));
            assertEquals(3L * RECORDS, delivered);
            System.out.println("bytes allocated per record: append " + (double) appended / RECORDS + ", read "
                    + (double) read / RECORDS);
            assertTrue(appended / RECORDS < 2, "append: " + appended);
            assertTrue(read / RECORDS < 2, "read: " + read);
        }
    }

    private interface Step {
        void run() throws StoreException;
    }

    private long allocatedBy(final Step step) throws StoreException {
        final long id = Thread.currentThread().getId();
        final long before = threads.getThreadAllocatedBytes(id);
        step.run();
        return threads.getThreadAllocatedBytes(id) - before;
    }

    private void append(final StoreFixture fixture) throws StoreException {
        final ClientSession session = fixture.session();
        for (int i = 0; i < RECORDS; i++) {
            final int length = encoder.publish(record, 0, 2, false, 5)
                    .times(1_000, 0)
                    .route(0)
                    .packetId(1 + i % 1_000)
                    .clientId(session.clientIdBytes())
                    .topic(payload, 0, 20)
                    .properties(payload, 0, 10)
                    .payload(payload, 0, 200)
                    .finish();
            if (fixture.writer.publish(record, 0, length, session, fixture.epoch()) != Outcome.STORED
                    || fixture.writer.release(session, 1 + i % 1_000, 1_000, fixture.epoch()) != Outcome.STORED) {
                throw new AssertionError();
            }
            if (i % PER_BATCH == PER_BATCH - 1) {
                fixture.writer.force();
                fixture.writer.maintain();
            }
        }
    }

    private void read(final LaneReader reader) throws StoreException {
        while (reader.next()) {
            if (reader.record().kind() == RecordDescriptor.KIND_PUBLISH) {
                delivered++;
            }
        }
    }
}
