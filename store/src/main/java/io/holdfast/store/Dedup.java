package io.holdfast.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;

/**
 * Knows a message that its producer sends once more within the window, by the identity in its record. Elapsed time is
 * monotonic; across a restart it is the wall clock's, none if that went back. What a start has to know is in the identity file
 * as of the checkpoint, and in the records behind it. For the lane's writer thread, except the counters.
 */
final class Dedup implements AutoCloseable {
    private record Read(long number, long high, long low, long timeMs) {}

    private final IdentityFile file;
    private final RecentIdentities identities;
    private final long windowMs;
    private final EpochClock epochClock;
    private final NanoClock nanoClock;
    private final AtomicLong size = new AtomicLong();
    private final AtomicLong forgottenEarly = new AtomicLong();
    private long written;

    private Dedup(final IdentityFile file, final int capacity, final StoreContext context) {
        this.file = file;
        this.identities = new RecentIdentities(capacity);
        this.windowMs = context.dedupWindowMs();
        this.epochClock = context.epochClock();
        this.nanoClock = context.nanoClock();
    }

    /**
     * Opens it and reads the file, if messages are compared at all.
     *
     * @return null if they are not.
     */
    static Dedup open(final Path laneDirectory, final StoreContext context, final byte[] salt) throws IOException {
        final int capacity = context.dedupMaxEntries() / context.lanes();
        if (capacity == 0) {
            return null;
        }
        final boolean force = context.durability() == Durability.FSYNC;
        final IdentityFile file = IdentityFile.open(laneDirectory, capacity, salt, force);
        try {
            final Dedup dedup = new Dedup(file, capacity, context);
            dedup.read(context.errorHandler());
            return dedup;
        } catch (final IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    private void read(final ErrorHandler errorHandler) throws IOException {
        final long epochMs = epochClock.time();
        final long nowMs = nowMs();
        final List<Read> found = new ArrayList<>();
        file.read((number, high, low, timeMs) -> {
            final long ageMs = Math.max(0, epochMs - timeMs);
            if (ageMs < windowMs) {
                found.add(new Read(number, high, low, nowMs - ageMs));
            }
        });
        // Numbers begin again with each start, so an old slot may hold what is in a new one too.
        found.sort(Comparator.comparingLong(Read::timeMs).thenComparingLong(Read::number));
        for (final Read read : found) {
            addUnlessKnown(read.high, read.low, read.timeMs);
        }
        forgottenEarly.set(0);
        try {
            file.allocate();
        } catch (final IOException e) {
            errorHandler.onError(new StoreException("no room for the list of message identities: free some space", e));
        }
    }

    /** Whether a message of that identity was stored within the window. */
    boolean isRepeated(final RecordView record) {
        final long sinceMs = nowMs() - windowMs + 1;
        identities.forgetBefore(sinceMs);
        size.lazySet(identities.size());
        return record.hasIdentity() && identities.contains(record.identityHigh(), record.identityLow(), sinceMs);
    }

    /** A message has been appended. */
    void stored(final RecordView record) {
        if (record.hasIdentity()) {
            add(record.identityHigh(), record.identityLow(), nowMs());
        }
    }

    /** A record of the log behind the checkpoint, after a restart. */
    void replay(final RecordView record) {
        if (record.hasIdentity()) {
            final long ageMs = Math.max(0, epochClock.time() - record.receiveTimeMs());
            addUnlessKnown(record.identityHigh(), record.identityLow(), nowMs() - ageMs);
        }
    }

    private void addUnlessKnown(final long high, final long low, final long timeMs) {
        if (!identities.contains(high, low, nowMs() - windowMs + 1)) {
            add(high, low, timeMs);
        }
    }

    private void add(final long high, final long low, final long timeMs) {
        if (!identities.add(high, low, timeMs)) {
            forgottenEarly.lazySet(forgottenEarly.get() + 1);
        }
        size.lazySet(identities.size());
    }

    /** Before a checkpoint, with everything that was appended durable. */
    void write() throws IOException {
        final long from = Math.max(written, identities.first());
        if (from < identities.next()) {
            file.write(identities, from, epochClock.time() - nowMs());
            written = identities.next();
        }
    }

    /** Identities that are known. Any thread. */
    long size() {
        return size.get();
    }

    /** Identities that were forgotten within the window, for want of room, since the start. Any thread. */
    long forgottenEarly() {
        return forgottenEarly.get();
    }

    private long nowMs() {
        return TimeUnit.NANOSECONDS.toMillis(nanoClock.nanoTime());
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
