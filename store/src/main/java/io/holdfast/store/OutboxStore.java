package io.holdfast.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The durable outbox in a data directory. Opening and closing is for one thread; what happens in between is done through the
 * {@link Lane}s.
 */
public final class OutboxStore implements AutoCloseable {
    private static final String LANE_PREFIX = "lane-";
    private static final Logger LOGGER = LoggerFactory.getLogger(OutboxStore.class);

    private final StoreMeta meta;
    private final RouteTable routes;
    private final List<Lane> lanes;
    private final DeadLetters deadLetters;
    private final StoreLock lock;

    private OutboxStore(
            final StoreMeta meta,
            final RouteTable routes,
            final List<Lane> lanes,
            final DeadLetters deadLetters,
            final StoreLock lock) {
        this.meta = meta;
        this.routes = routes;
        this.lanes = lanes;
        this.deadLetters = deadLetters;
        this.lock = lock;
    }

    /**
     * Opens the store, making the data directory if there is none. Reads the log from the last checkpoint on.
     *
     * @param context settings.
     * @return the store; this process owns the directory until it is closed or the process ends.
     * @throws StoreException if a setting is wrong, or the directory is in use, unreadable or of another version; the message
     *                        says what to do.
     */
    public static OutboxStore open(final StoreContext context) throws StoreException {
        context.conclude();
        try {
            DurableFiles.createDirectory(context.directory());
            final StoreLock lock = StoreLock.take(context.directory(), true);
            try {
                return open(context, lock);
            } catch (final IOException | StoreException | RuntimeException e) {
                lock.close();
                throw e;
            }
        } catch (final IOException e) {
            throw new StoreException(
                    "cannot open the data directory " + context.directory() + ": " + e
                            + "; check the disk and the permissions, or use another --data-dir",
                    e);
        }
    }

    private static OutboxStore open(final StoreContext context, final StoreLock lock)
            throws IOException, StoreException {
        final Path directory = context.directory();
        DurableFiles.forceDirectory(directory); // of what an earlier process has left, a rename may not be durable
        final StoreMeta present = MetaFile.read(directory);
        final StoreMeta before = present != null ? present : createMeta(context);
        if (before.lanes() != context.lanes()) {
            throw new StoreException("the data directory " + directory + " has " + before.lanes()
                    + " lanes: start with --lanes " + before.lanes() + ", or drain it and use a new --data-dir");
        }
        final RouteTable routes = RouteTable.read(directory);
        final StoreMeta meta = merged(before, context);
        final boolean isOtherSession = present == null
                || !meta.uplinkClientId().equals(before.uplinkClientId())
                || (!before.uplinkBroker().isEmpty() && !meta.uplinkBroker().equals(before.uplinkBroker()));
        final List<Lane> lanes = new ArrayList<>();
        try {
            int usedRoutes = 0;
            for (int i = 0; i < meta.lanes(); i++) {
                final Lane lane = openLane(context, i, meta, isOtherSession);
                lanes.add(lane);
                usedRoutes = Math.max(usedRoutes, lane.usedRoutes());
            }
            routes.add(context.routes(), usedRoutes);
            if (!meta.equals(before) || !MetaFile.isWhole(directory)) {
                MetaFile.write(directory, meta);
            }
            final DeadLetters deadLetters = DeadLetters.open(directory, context, MetaFile.saltOf(meta));
            for (int i = 0; i < lanes.size(); i++) {
                lanes.get(i).reconcile(i, deadLetters, routes.size());
            }
            deadLetters.started();
            return new OutboxStore(meta, routes, List.copyOf(lanes), deadLetters, lock);
        } catch (final IOException | StoreException | RuntimeException e) {
            for (final Lane lane : lanes) {
                lane.close();
            }
            throw e;
        }
    }

    /**
     * Makes what computes message identities; each thread needs its own.
     *
     * @return a new one.
     */
    public IdentityHash identityHash() {
        return new IdentityHash(MetaFile.saltOf(meta));
    }

    private static Lane openLane(
            final StoreContext context, final int number, final StoreMeta meta, final boolean isOtherSession)
            throws IOException, StoreException {
        final Path directory = context.directory().resolve(LANE_PREFIX + number);
        final boolean force = context.durability() == Durability.FSYNC;
        final LaneLog log = context.logFactory().create(directory, context.segmentBytes(), force);
        final Lane lane = Lane.open(directory, context, MetaFile.saltOf(meta), log);
        if (isOtherSession) {
            lane.journal().forgetHistory();
            lane.journal().force();
        }
        return lane;
    }

    /** For a directory without a meta file that can be read: a new one, or one that lost it. */
    private static StoreMeta createMeta(final StoreContext context) throws IOException, StoreException {
        final Path directory = context.directory();
        final StoreMeta created;
        if (MetaRescue.isNeeded(directory)) {
            created = MetaRescue.rebuild(context);
            LOGGER.error(
                    "{} and {} in {} are lost; made again from the lanes. The uplink's client id is '{}' from now on",
                    MetaFile.NAME,
                    MetaFile.COPY_NAME,
                    directory,
                    created.uplinkClientId());
        } else {
            created = MetaFile.create(
                    context.lanes(), context.segmentBytes(), context.uplinkClientId(), context.uplinkBroker());
        }
        MetaFile.write(directory, created);
        return created;
    }

    private static StoreMeta merged(final StoreMeta before, final StoreContext context) {
        final String uplinkClientId =
                context.uplinkClientId() == null ? before.uplinkClientId() : context.uplinkClientId();
        return new StoreMeta(
                before.storeId(),
                before.salt(),
                before.lanes(),
                before.laneHash(),
                context.segmentBytes(),
                uplinkClientId,
                context.uplinkBroker());
    }

    /**
     * Looks at a data directory that no process uses; changes nothing in it.
     *
     * @param directory of the store.
     * @return what it holds.
     * @throws StoreException if it is in use or no outbox.
     */
    public static StoreStat stat(final Path directory) throws StoreException {
        try (StoppedStore store = StoppedStore.open(directory)) {
            return store.stat();
        }
    }

    /**
     * Compares the ledger of a store that no process uses with what is in its log; changes nothing.
     *
     * @param directory of the store.
     * @return what does not add up.
     * @throws StoreException if it is in use or no outbox.
     */
    public static StoreCheck audit(final Path directory) throws StoreException {
        try (StoppedStore store = StoppedStore.open(directory)) {
            return store.audit();
        }
    }

    /**
     * What a data directory says of itself.
     *
     * @param directory of the store.
     * @return its settings.
     * @throws StoreException if it is no outbox or cannot be read.
     */
    public static StoreMeta meta(final Path directory) throws StoreException {
        try {
            final StoreMeta meta = MetaFile.read(directory);
            if (meta == null) {
                throw new StoreException(directory + " is not a Holdfast data directory: check --data-dir");
            }
            return meta;
        } catch (final IOException e) {
            throw new StoreException("cannot read the data directory " + directory + ": " + e, e);
        }
    }

    static Path laneDirectory(final Path directory, final int lane) {
        return directory.resolve(LANE_PREFIX + lane);
    }

    public StoreMeta meta() {
        return meta;
    }

    /**
     * The dead letters of all lanes.
     *
     * @return always the same.
     */
    public DeadLetters deadLetters() {
        return deadLetters;
    }

    public int laneCount() {
        return lanes.size();
    }

    public Lane lane(final int number) {
        return lanes.get(number);
    }

    /**
     * The lane of a client. Any thread.
     *
     * @param clientId the Client Identifier.
     * @return lane number.
     */
    public int laneFor(final String clientId) {
        return LaneHash.laneOf(clientId, lanes.size());
    }

    /**
     * The lane of a client. Any thread.
     *
     * @param buffer that holds the Client Identifier in UTF-8.
     * @param offset of its first byte.
     * @param length in bytes.
     * @return lane number.
     */
    public int laneFor(final DirectBuffer buffer, final int offset, final int length) {
        return LaneHash.laneOf(buffer, offset, length, lanes.size());
    }

    /**
     * The number of a route, for records and counters. Any thread.
     *
     * @param routeText one of those in {@link StoreContext#routes()}.
     * @return number, or -1 if the text is not known.
     */
    public int routeNumber(final String routeText) {
        return routes.numberOf(routeText);
    }

    /**
     * The text of a route. Any thread.
     *
     * @param number of the route.
     * @return text; also for a route that is not configured any more.
     */
    public String routeText(final int number) {
        return routes.textOf(number);
    }

    /**
     * How many route numbers have been given out.
     *
     * @return all numbers are below it.
     */
    public int routeCount() {
        return routes.size();
    }

    /**
     * Ends cleanly, with all threads that use a lane gone: everything is forced, a checkpoint and the cursor are written.
     *
     * @throws StoreException if something could not be written; the directory is free nonetheless.
     */
    @Override
    public void close() throws StoreException {
        StoreException failure = null;
        for (final Lane lane : lanes) {
            try {
                lane.close();
            } catch (final IOException e) {
                failure = new StoreException("cannot close " + lane.directory() + ": check the disk", e);
            } catch (final StoreException e) {
                failure = e;
            }
        }
        try {
            deadLetters.close();
        } catch (final StoreException e) {
            failure = e;
        }
        try {
            lock.close();
        } catch (final IOException e) {
            failure = new StoreException("cannot release the lock of the data directory", e);
        }
        if (failure != null) {
            throw failure;
        }
    }
}
