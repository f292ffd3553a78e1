package io.holdfast.store;

import java.io.IOException;
import java.nio.file.Files;
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
     * @param oldestReceiveMs  when the oldest pending PUBLISH came in, epoch milliseconds; 0 if none is pending.
     */
    public record LaneEntry(
            int segments,
            long bytesOnDisk,
            long lastSequence,
            long finishedSequence,
            int receivedIds,
            long missingRecords,
            long oldestReceiveMs) {}

    /**
     * The ledger of a route.
     *
     * @param accepted     PUBLISH records stored, and PUBLISHes acknowledged and dropped.
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
            lanes.add(readLane(directory, i, meta, table, routes));
        }
        return new StoreStat(meta, List.copyOf(lanes), routes);
    }

    private static LaneEntry readLane(
            final Path directory,
            final int number,
            final StoreMeta meta,
            final RouteTable table,
            final Map<String, RouteEntry> routes)
            throws IOException {
        if (!Files.isDirectory(OutboxStore.laneDirectory(directory, number))) {
            return new LaneEntry(0, 0, 0, 0, 0, 0, 0);
        }
        try (StoppedLane lane = new StoppedLane(directory, number, meta)) {
            for (int route = 0; route < table.size(); route++) {
                routes.merge(table.textOf(route), routeEntry(lane.state, lane.cursor, route), RouteEntry::plus);
            }
            int ids = 0;
            for (final ClientSession session : lane.state.sessions.all()) {
                ids += session.receivedCount();
            }
            return new LaneEntry(
                    lane.files.count(),
                    lane.files.bytesOnDisk(),
                    lane.lastSequence(),
                    lane.cursor.sequence(),
                    ids,
                    lane.recovery.missingRecords(),
                    oldestReceiveMs(lane));
        }
    }

    private static long oldestReceiveMs(final StoppedLane lane) throws IOException {
        try (LogScan scan = lane.scanFrom(lane.firstPending())) {
            while (lane.next(scan)) {
                if (scan.view().kind() == RecordDescriptor.KIND_PUBLISH) {
                    return scan.view().receiveTimeMs();
                }
            }
            return 0;
        }
    }

    private static RouteEntry routeEntry(final LaneState state, final Cursor cursor, final int route) {
        long dropped = 0;
        long unstored = 0;
        for (final DropReason reason : DropReason.values()) {
            dropped += cursor.dropped(route, reason) + state.droppedUnstored(route, reason);
            unstored += state.droppedUnstored(route, reason);
        }
        return new RouteEntry(
                state.accepted.get(route) + unstored,
                cursor.delivered(route),
                cursor.expired(route),
                cursor.deadLettered(route),
                dropped);
    }
}
