package io.holdfast.store;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.agrona.DirectBuffer;

/** A real lane whose log stalls or fails when the test says so: {@link LaneLog} is the store's seam for a simulated disk. */
public final class BreakableLane implements AutoCloseable {
    private final List<Throwable> errors = Collections.synchronizedList(new ArrayList<>());
    private final Lane lane;
    private volatile Runnable beforeForce = () -> {};
    private volatile int failingForces;
    private volatile boolean failingAppends;

    private BreakableLane(final Path directory) throws StoreException, IOException {
        final StoreContext context = new StoreContext()
                .directory(directory)
                .segmentBytes(StoreContext.SEGMENT_BYTES_MIN)
                .routes(List.of("outbox #"))
                .errorHandler(errors::add);
        final LaneLog log = new BreakableLog(new SegmentLog(directory, context.segmentBytes(), true));
        lane = Lane.open(directory, context, "0123456789abcdef".getBytes(StandardCharsets.US_ASCII), log);
    }

    /** Opens an empty lane. */
    public static BreakableLane open(final Path directory) throws StoreException, IOException {
        return new BreakableLane(directory);
    }

    public Lane lane() {
        return lane;
    }

    /** Runs this on the writer's thread in front of each sync from now on. */
    public void beforeForce(final Runnable action) {
        beforeForce = action;
    }

    /** The next syncs fail. */
    public void failForces(final int count) {
        failingForces = count;
    }

    /** Whether every append fails from now on. */
    public void failAppends(final boolean isFailing) {
        failingAppends = isFailing;
    }

    @Override
    public void close() throws StoreException, IOException {
        lane.close();
    }

    private final class BreakableLog implements LaneLog {
        private final LaneLog delegate;

        BreakableLog(final LaneLog delegate) {
            this.delegate = delegate;
        }

        @Override
        public boolean isOpen() {
            return delegate.isOpen();
        }

        @Override
        public int remaining() {
            return delegate.remaining();
        }

        @Override
        public void roll(final int segment) throws IOException {
            delegate.roll(segment);
        }

        @Override
        public void append(final DirectBuffer record, final int offset, final int length) throws IOException {
            if (failingAppends) {
                throw new IOException("simulated");
            }
            delegate.append(record, offset, length);
        }

        @Override
        public long position() {
            return delegate.position();
        }

        @Override
        @SuppressWarnings("NonAtomicVolatileUpdate") // the writer's thread alone counts down
        public void force() throws IOException {
            beforeForce.run();
            if (failingForces > 0) {
                failingForces--;
                throw new IOException("simulated");
            }
            delegate.force();
        }

        @Override
        public void close() throws IOException {
            delegate.close();
        }
    }
}
