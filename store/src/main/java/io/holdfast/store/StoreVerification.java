package io.holdfast.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads every checksum of a data directory and says, one line each, what is damaged. Changes nothing. */
final class StoreVerification {
    private final Path directory;
    private final StoreMeta meta;
    private final List<String> faults = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();

    StoreVerification(final Path directory, final StoreMeta meta) {
        this.directory = directory;
        this.meta = meta;
    }

    StoreCheck run() throws IOException {
        for (final String name : List.of(MetaFile.NAME, MetaFile.COPY_NAME, RouteTable.NAME, RouteTable.COPY_NAME)) {
            final Path file = directory.resolve(name);
            if (!Files.exists(file)) {
                faults.add(file + ": is missing; the next start makes it again");
            } else if (DurableFiles.readText(file) == null) {
                faults.add(file + " at offset 0: its checksum does not fit; the next start makes it again");
            }
        }
        for (int i = 0; i < meta.lanes(); i++) {
            final Path lane = OutboxStore.laneDirectory(directory, i);
            if (Files.isDirectory(lane)) {
                slots(lane);
                segments(i);
                keptFiles(lane);
            } else {
                faults.add(lane + ": is missing");
            }
        }
        return new StoreCheck(List.copyOf(faults), List.copyOf(notes));
    }

    private void slots(final Path lane) throws IOException {
        final byte[] salt = MetaFile.saltOf(meta);
        slots(Cursor.slotsOf(lane, salt));
        slots(UplinkJournal.slotsOf(lane, salt));
        slots(Checkpoint.slotsOf(lane, salt));
    }

    private void slots(final SlotPair slots) throws IOException {
        try (slots) {
            slots.load();
            for (int slot = 0; slot < 2; slot++) {
                if (!slots.isIntact(slot) && !slots.isUnwritten(slot)) {
                    faults.add(slots.placeOf(slot)
                            + ": the slot is not intact; the other one counts, and the next start writes it again");
                }
            }
        }
    }

    private void segments(final int number) throws IOException {
        try (StoppedLane lane = new StoppedLane(directory, number, meta)) {
            final KnownGaps gaps = KnownGaps.read(lane.directory);
            long records = 0;
            long passed = LogScan.UNKNOWN;
            try (LogScan scan = lane.scanAll((segment, offset) ->
                    faults.add(file(lane, segment) + " at offset " + offset + ": bytes that are no intact record"))) {
                while (lane.next(scan)) {
                    records++;
                    if (scan.passed() > lane.expectedAfter(passed)) {
                        missing(lane, lane.expectedAfter(passed), scan.passed() - 1, file(lane, scan.segment()), gaps);
                    }
                    passed = scan.passed();
                }
            }
            if (lane.lastSequence() > Math.max(passed, lane.cursor.sequence())) {
                missing(lane, lane.expectedAfter(passed), lane.lastSequence(), "the end of the log", gaps);
            }
            notes.add("lane " + number + ": " + records + " intact record(s) in " + lane.files.count() + " segment(s)");
        }
    }

    private void missing(
            final StoppedLane lane, final long first, final long last, final String where, final KnownGaps gaps) {
        final String text = "records " + first + " to " + last + " are missing before " + where;
        if (gaps.contains(first, last)) {
            notes.add(lane.directory + ": " + text + ", as a repair has written down");
        } else {
            faults.add(lane.directory + ": " + text);
        }
    }

    private void keptFiles(final Path lane) throws IOException {
        for (final Path file : SegmentFiles.list(lane)) {
            if (SegmentName.numberOf(file, SegmentName.DAMAGED) >= 0
                    || SegmentName.numberOf(file, SegmentName.DISCARDED) >= 0) {
                notes.add(file + ": a damaged file that was kept aside, " + Files.size(file) + " bytes");
            }
        }
    }

    static String file(final StoppedLane lane, final int segment) {
        try {
            return lane.files.path(segment).toString();
        } catch (final IOException e) {
            return "segment " + segment;
        }
    }
}
