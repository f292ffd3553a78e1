package io.holdfast.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a data directory holds, read while no process uses it.
 *
 * @param meta   of the store.
 * @param lanes  one entry per lane.
 * @param routes one entry per route that has a number.
 */
public record StoreStat(StoreMeta meta, List<LaneEntry> lanes, Map<String, RouteEntry> routes) {
    /**
     * A lane.
     *
     * @param segments         segment files.
     * @param bytesOnDisk      bytes of all segment files.
     * @param lastSequence     of the last record.
     * @param finishedSequence every record up to it is finished.
     * @param receivedIds      QoS 2 Packet Identifiers received and not released.
     * @param missingRecords   records that should be in the part that was read and are not.
     */
    public record LaneEntry(
            int segments,
            long bytesOnDisk,
            long lastSequence,
            long finishedSequence,
            int receivedIds,
            long missingRecords) {}

    /**
     * The ledger of a route.
     *
     * @param accepted     PUBLISH records stored.
     * @param delivered    acknowledged by the broker.
     * @param expired      never sent, expired before.
     * @param deadLettered given to the dead letters.
     * @param dropped      for whatever reason.
     */
    public record RouteEntry(long accepted, long delivered, long expired, long deadLettered, long dropped) {
        /**
         * Records on their way.
         *
         * @return accepted less all the others.
         */
        public long pending() {
            return accepted - delivered - expired - deadLettered - dropped;
        }

        private RouteEntry plus(final RouteEntry other) {
            return new RouteEntry(
                    accepted + other.accepted,
                    delivered + other.delivered,
                    expired + other.expired,
                    deadLettered + other.deadLettered,
                    dropped + other.dropped);
        }
    }

    /**
     * Records on their way, over all routes.
     *
     * @return count.
     */
    public long pending() {
        return routes.values().stream().mapToLong(RouteEntry::pending).sum();
    }

    static StoreStat read(final Path directory, final StoreMeta meta, final RouteTable table) throws IOException {
        final List<LaneEntry> lanes = new ArrayList<>();
        final Map<String, RouteEntry> routes = new TreeMap<>();
        for (int i = 0; i < meta.lanes(); i++) {
            lanes.add(readLane(OutboxStore.laneDirectory(directory, i), meta, table, routes));
        }
        return new StoreStat(meta, List.copyOf(lanes), routes);
    }

    private static LaneEntry readLane(
            final Path directory, final StoreMeta meta, final RouteTable table, final Map<String, RouteEntry> routes)
            throws IOException {
        final byte[] salt = MetaFile.saltOf(meta);
        final Cursor cursor = Cursor.openReadOnly(directory, salt);
        try (Checkpoint checkpoint = Checkpoint.openReadOnly(directory, salt)) {
            final StoreContext context = new StoreContext().segmentBytes(meta.segmentBytes());
            final SegmentFiles files = new SegmentFiles(directory, context, salt);
            final LaneState state = new LaneState();
            final LaneRecovery recovery = new LaneRecovery(files, salt, state, cursor, (segment, offset) -> {});
            recovery.run(checkpoint, 0, 0);
            for (int route = 0; route < table.size(); route++) {
                routes.merge(table.textOf(route), routeEntry(state, cursor, route), RouteEntry::plus);
            }
            int ids = 0;
            for (final ClientSession session : state.sessions.all()) {
                ids += session.receivedCount();
            }
            return new LaneEntry(
                    files.count(),
                    files.bytesOnDisk(),
                    state.nextSequence - 1,
                    cursor.sequence(),
                    ids,
                    recovery.missingRecords());
        } finally {
            cursor.abandon();
        }
    }

    private static RouteEntry routeEntry(final LaneState state, final Cursor cursor, final int route) {
        long dropped = 0;
        for (final DropReason reason : DropReason.values()) {
            dropped += cursor.dropped(route, reason);
        }
        return new RouteEntry(
                state.accepted.get(route),
                cursor.delivered(route),
                cursor.expired(route),
                cursor.deadLettered(route),
                dropped);
    }
}
