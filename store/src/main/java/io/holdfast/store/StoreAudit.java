package io.holdfast.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Compares the ledger's counters with the log (P7): per lane and route, the intact PUBLISH records above the cursor have to be
 * as many as are pending. Records that damage has cost may be pending too, until they are settled; as many as sequences are
 * missing, and no more. And there may be no more dead letters than records that were finished as such; those that a crash has
 * left removed but not counted yet are fewer.
 */
final class StoreAudit {
    private final Path directory;
    private final StoreMeta meta;
    private final RouteTable routes;
    private final List<String> faults = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();

    StoreAudit(final Path directory, final StoreMeta meta, final RouteTable routes) {
        this.directory = directory;
        this.meta = meta;
        this.routes = routes;
    }

    StoreCheck run() throws IOException {
        for (int i = 0; i < meta.lanes(); i++) {
            if (Files.isDirectory(OutboxStore.laneDirectory(directory, i))) {
                try (StoppedLane lane = new StoppedLane(directory, i, meta)) {
                    run(i, lane);
                    compareDeadLetters(i, lane);
                }
            } else {
                faults.add("lane " + i + ": its directory is missing");
            }
        }
        return new StoreCheck(List.copyOf(faults), List.copyOf(notes));
    }

    private void run(final int number, final StoppedLane lane) throws IOException {
        final long[] inLog = new long[RouteTable.MAX_ROUTES];
        long missing = 0;
        long passed = lane.firstPending() - 1;
        try (LogScan scan = lane.scanFrom(lane.firstPending())) {
            while (lane.next(scan)) {
                missing += scan.passed() - passed - 1;
                passed = scan.passed();
                if (scan.view().kind() == RecordDescriptor.KIND_PUBLISH) {
                    inLog[scan.view().routeNumber()]++;
                }
            }
        }
        missing += Math.max(0, lane.lastSequence() - passed);
        long unsettled = 0;
        for (int route = 0; route < RouteTable.MAX_ROUTES; route++) {
            unsettled += compare(number, lane, route, inLog[route]);
        }
        if (missing > 0) {
            notes.add("lane " + number + ": " + missing + " record(s) above the cursor are missing, of which "
                    + unsettled + " will be counted as dropped (damaged)");
        }
        if (unsettled > missing) {
            faults.add("lane " + number + ": " + unsettled
                    + " record(s) are pending in the ledger and not in the log, but " + missing + " are missing");
        }
        if (lane.recovery.uncounted() > lane.recovery.missingRecords()) {
            faults.add("lane " + number + ": " + lane.recovery.uncounted()
                    + " record(s) more are finished or in the log than were ever accepted");
        }
    }

    private void compareDeadLetters(final int number, final StoppedLane lane) throws IOException {
        final long[] there = new long[RouteTable.MAX_ROUTES];
        DeadLetters.forEachThere(directory, MetaFile.saltOf(meta), letter -> {
            if (letter.lane() == number && letter.sequence() <= lane.cursor.sequence()) {
                there[letter.route()]++;
            }
        });
        for (int route = 0; route < RouteTable.MAX_ROUTES; route++) {
            final long counted = lane.cursor.deadLettered(route);
            final String where = "lane " + number + ", route '" + routes.textOf(route) + "': ";
            if (there[route] > counted) {
                faults.add(where + there[route] + " dead letter(s), but " + counted + " in the ledger");
            } else if (there[route] < counted) {
                notes.add(where + (counted - there[route])
                        + " dead letter(s) were removed and will be counted as dropped (purged)");
            }
        }
    }

    /** Says how a route stands; returns what the ledger has pending and the log has not. */
    private long compare(final int number, final StoppedLane lane, final int route, final long inLog) {
        final long accepted = lane.state.accepted.get(route);
        final long finished = lane.cursor.finished(route);
        if (accepted == 0 && finished == 0 && inLog == 0) {
            return 0;
        }
        final String where = "lane " + number + ", route '" + routes.textOf(route) + "': ";
        final long pending = accepted - finished;
        notes.add(where + accepted + " accepted = " + finished + " finished + " + pending + " pending; in the log "
                + inLog);
        if (pending < inLog) {
            faults.add(where + pending + " pending in the ledger, but " + inLog + " in the log");
        }
        return Math.max(0, pending - inLog);
    }
}
