package io.holdfast.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A data directory that no process uses, for looking into it. Holds the directory's lock, so that none can start meanwhile,
 * and changes nothing. For one thread.
 */
public final class StoppedStore implements AutoCloseable {
    /** Clients that {@link #clients} tells apart; more are counted together. */
    public static final int CLIENTS_MAX = 1_000_000;

    /** Sees records. */
    public interface RecordVisitor {
        /**
         * A record.
         *
         * @param lane   number.
         * @param record valid during the call.
         * @return false to see no more.
         */
        boolean visit(int lane, RecordView record);
    }

    /**
     * What one client has pending.
     *
     * @param clientId Client Identifier as the client sent it: escape it before it goes to a terminal. Null: all beyond
     *                 {@link #CLIENTS_MAX}.
     * @param records  count.
     * @param bytes    of their payloads.
     */
    public record ClientEntry(String clientId, long records, long bytes) {}

    private final Path directory;
    private final StoreLock lock;
    private final StoreMeta meta;
    private final RouteTable routes;

    private StoppedStore(final Path directory, final StoreLock lock, final StoreMeta meta, final RouteTable routes) {
        this.directory = directory;
        this.lock = lock;
        this.meta = meta;
        this.routes = routes;
    }

    /**
     * Takes the directory.
     *
     * @param directory of the store.
     * @return to be closed.
     * @throws StoreException if a process uses it, or it holds no outbox.
     */
    public static StoppedStore open(final Path directory) throws StoreException {
        if (!Files.exists(directory.resolve(MetaFile.NAME))
                && !Files.exists(directory.resolve(MetaFile.COPY_NAME))
                && !MetaRescue.isNeeded(directory)) {
            throw new StoreException(directory + " is not a Holdfast data directory: check --data-dir");
        }
        try {
            final StoreLock lock = StoreLock.take(directory, !Files.exists(directory.resolve(StoreLock.NAME)));
            try {
                final StoreMeta found = MetaFile.read(directory);
                final StoreMeta meta =
                        found != null ? found : MetaRescue.rebuild(new StoreContext().directory(directory));
                return new StoppedStore(directory, lock, meta, RouteTable.read(directory));
            } catch (final IOException | StoreException | RuntimeException e) {
                lock.close();
                throw e;
            }
        } catch (final IOException e) {
            throw unreadable(directory, e);
        }
    }

    /**
     * What it holds.
     *
     * @return counts, and the age of the oldest record of each lane.
     * @throws StoreException if the disk cannot be read.
     */
    public StoreStat stat() throws StoreException {
        try {
            return StoreStat.read(directory, meta, routes);
        } catch (final IOException e) {
            throw unreadable(directory, e);
        }
    }

    /**
     * Shows the pending PUBLISH records, lane by lane, in order.
     *
     * @param visitor that sees them.
     * @throws StoreException if the disk cannot be read.
     */
    public void pending(final RecordVisitor visitor) throws StoreException {
        try {
            boolean goesOn = true;
            for (int i = 0; goesOn && i < meta.lanes(); i++) {
                goesOn = pending(i, visitor);
            }
        } catch (final IOException e) {
            throw unreadable(directory, e);
        }
    }

    private boolean pending(final int number, final RecordVisitor visitor) throws IOException {
        if (!Files.isDirectory(OutboxStore.laneDirectory(directory, number))) {
            return true;
        }
        try (StoppedLane lane = new StoppedLane(directory, number, meta);
                LogScan scan = lane.scanFrom(lane.firstPending())) {
            while (lane.next(scan)) {
                if (scan.view().kind() == RecordDescriptor.KIND_PUBLISH && !visitor.visit(number, scan.view())) {
                    return false;
                }
            }
            return true;
        }
    }

    /**
     * The clients with the most pending records. Reads the whole backlog.
     *
     * @param limit clients to return; with 0 nothing is read.
     * @return most records first.
     * @throws StoreException if the disk cannot be read.
     */
    public List<ClientEntry> clients(final int limit) throws StoreException {
        if (limit <= 0) {
            return List.of();
        }
        final Map<String, long[]> counts = new HashMap<>();
        final long[] others = new long[2];
        pending((lane, record) -> {
            final String clientId = record.clientId();
            long[] count = counts.get(clientId);
            if (count == null) {
                count = counts.size() < CLIENTS_MAX ? new long[2] : others;
                if (count != others) {
                    counts.put(clientId, count);
                }
            }
            count[0]++;
            count[1] += record.payloadLength();
            return true;
        });
        final List<ClientEntry> entries = new ArrayList<>();
        counts.forEach((clientId, count) -> entries.add(new ClientEntry(clientId, count[0], count[1])));
        if (others[0] > 0) {
            entries.add(new ClientEntry(null, others[0], others[1]));
        }
        entries.sort((a, b) -> Long.compare(b.records, a.records));
        return List.copyOf(entries.subList(0, Math.min(limit, entries.size())));
    }

    /**
     * Reads everything and says what is damaged.
     *
     * @return what was found.
     * @throws StoreException if the disk cannot be read.
     */
    public StoreCheck verify() throws StoreException {
        try {
            return new StoreVerification(directory, meta).run();
        } catch (final IOException e) {
            throw unreadable(directory, e);
        }
    }

    /**
     * Compares the ledger with what is in the log.
     *
     * @return what was found.
     * @throws StoreException if the disk cannot be read.
     */
    public StoreCheck audit() throws StoreException {
        try {
            return new StoreAudit(directory, meta, routes).run();
        } catch (final IOException e) {
            throw unreadable(directory, e);
        }
    }

    /**
     * The text of a route.
     *
     * @param number of the route.
     * @return text.
     */
    public String routeText(final int number) {
        return routes.textOf(number);
    }

    public StoreMeta meta() {
        return meta;
    }

    @Override
    public void close() throws StoreException {
        try {
            lock.close();
        } catch (final IOException e) {
            throw new StoreException("cannot release the lock of " + directory, e);
        }
    }

    private static StoreException unreadable(final Path directory, final IOException cause) {
        return new StoreException("cannot read the data directory " + directory + ": " + cause, cause);
    }
}
