package io.holdfast.bench;

import io.holdfast.store.ClientSession;
import io.holdfast.store.LaneWriter;
import io.holdfast.store.OutboxStore;
import io.holdfast.store.Outcome;
import io.holdfast.store.RecordEncoder;
import io.holdfast.store.StoreContext;
import io.holdfast.store.StoreException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Time per batch: {@code batch} records of a 256-byte payload into the outbox, and one sync; beside it the least that a
 * disk asks for, one write of as many bytes into a file whose blocks are there already, and one force. {@code -p disk=DIR}
 * chooses the disk.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 1,
        jvmArgsAppend = {
            "-Xmx256m",
            "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
            "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
            "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
            "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
            "-Dchronicle.analytics.disable=true",
            "-Dchronicle.announcer.disable=true",
            "-Dchronicle.disk.monitor.disable=true",
            "-Dqueue.force.unlock.mode=ALWAYS"
        })
public class OutboxAppendBenchmark {
    private static final int PAYLOAD_LENGTH = 256;
    private static final int FILE_BYTES = 64 << 20;
    private static final long EPOCH = 1;

    /** Records per sync. */
    @Param({"1", "16", "64", "256"})
    public int batch;

    /** The directory to work in. */
    @Param("bench/target")
    public String disk;

    private Path directory;
    private OutboxStore store;
    private LaneWriter writer;
    private ClientSession session;
    private final UnsafeBuffer record = new UnsafeBuffer(ByteBuffer.allocateDirect(1024));
    private int recordLength;
    private FileChannel file;
    private ByteBuffer block;
    private long position;

    /** A store and a zeroed file on the same disk. */
    @Setup
    public void open() throws IOException, StoreException {
        directory = Files.createTempDirectory(Files.createDirectories(Path.of(disk)), "append-");
        store = OutboxStore.open(
                new StoreContext().directory(directory.resolve("outbox")).routes(List.of("outbox #")));
        store.lane(0).prepareSegment();
        writer = store.lane(0).writer();
        session = writer.openSession("device", EPOCH, true);
        UnsafeBuffer text = new UnsafeBuffer(PublishShape.TOPIC.getBytes(StandardCharsets.US_ASCII));
        UnsafeBuffer payload = new UnsafeBuffer(new byte[PAYLOAD_LENGTH]);
        recordLength = new RecordEncoder()
                .publish(record, 0, 1, false, 5)
                .times(EPOCH, 0)
                .route(store.routeNumber("outbox #"))
                .packetId(1)
                .clientId("device".getBytes(StandardCharsets.US_ASCII))
                .topic(text, 0, text.capacity())
                .properties(text, 0, 0)
                .payload(payload, 0, PAYLOAD_LENGTH)
                .finish();
        block = ByteBuffer.allocateDirect(batch * recordLength);
        file = FileChannel.open(directory.resolve("zeroed"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        ByteBuffer zeroes = ByteBuffer.allocateDirect(1 << 20);
        for (long at = 0; at < FILE_BYTES; at += zeroes.capacity()) {
            file.write(zeroes.clear(), at);
        }
        file.force(true);
    }

    /** What uplink and housekeeping do beside the writer: gives back emptied segments, makes the next one in advance. */
    @TearDown(Level.Iteration)
    public void keepHouse() throws IOException, StoreException {
        store.lane(0).cursor().advance(store.lane(0).durableSequence(), 0);
        for (int slot = 0; slot < 2; slot++) {
            store.lane(0).cursor().writeIfDirty();
        }
        writer.maintain();
        store.lane(0).reclaim();
        store.lane(0).prepareSegment();
    }

    /** Leaves nothing behind. */
    @TearDown
    public void close() throws IOException, StoreException {
        file.close();
        store.close();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    /** Into the outbox, durable when it returns. */
    @Benchmark
    public void outbox() throws StoreException {
        for (int i = 0; i < batch; i++) {
            if (writer.publish(record, 0, recordLength, session, EPOCH) != Outcome.STORED) {
                throw new IllegalStateException("the outbox takes no more");
            }
        }
        writer.force();
        writer.maintain();
    }

    /** The disk's share. */
    @Benchmark
    public void plainFile() throws IOException {
        if (position + block.capacity() > FILE_BYTES) {
            position = 0;
        }
        file.write(block.clear(), position);
        file.force(false);
        position += block.capacity();
    }
}
