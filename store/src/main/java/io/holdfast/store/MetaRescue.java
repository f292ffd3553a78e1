package io.holdfast.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * Makes the {@code meta} file again after both copies of it were lost: the number of lanes from their directories, the salt
 * from the cursor, journal or checkpoint slots, each of which holds a copy. What is lost for good is the store's id and the
 * uplink's Client Identifier, unless the latter is set.
 */
final class MetaRescue {
    private MetaRescue() {}

    static StoreMeta rebuild(final StoreContext context) throws IOException, StoreException {
        final Path directory = context.directory();
        final List<Path> lanes = lanesIn(directory);
        final byte[] salt = findSalt(lanes);
        if (salt == null) {
            throw new StoreException(directory + " holds an outbox, but " + MetaFile.NAME + ", " + MetaFile.COPY_NAME
                    + " and every other copy of what they say are damaged: restore " + MetaFile.NAME
                    + " from a backup, or move the directory away and start with an empty one");
        }
        final StoreMeta created =
                MetaFile.create(lanes.size(), context.segmentBytes(), context.uplinkClientId(), context.uplinkBroker());
        return new StoreMeta(
                created.storeId(),
                HexFormat.of().formatHex(salt),
                created.lanes(),
                created.laneHash(),
                created.segmentBytes(),
                created.uplinkClientId(),
                created.uplinkBroker());
    }

    /** Whether there is an outbox to rescue. */
    static boolean isNeeded(final Path directory) {
        return !lanesIn(directory).isEmpty();
    }

    /** The lanes' directories, up to the highest that is there. */
    private static List<Path> lanesIn(final Path directory) {
        final List<Path> lanes = new ArrayList<>();
        for (int i = 0; i < StoreContext.LANES_MAX; i++) {
            if (Files.isDirectory(OutboxStore.laneDirectory(directory, i))) {
                while (lanes.size() <= i) {
                    lanes.add(OutboxStore.laneDirectory(directory, lanes.size()));
                }
            }
        }
        return lanes;
    }

    private static byte[] findSalt(final List<Path> lanes) throws IOException {
        for (final boolean isSlotIntact : new boolean[] {true, false}) {
            for (final Path lane : lanes) {
                for (final String name : List.of(
                        Cursor.FILE_NAME,
                        UplinkJournal.FILE_NAME,
                        Checkpoint.FIRST_FILE_NAME,
                        Checkpoint.SECOND_FILE_NAME)) {
                    for (final byte[] salt : SlotPair.saltsIn(lane.resolve(name), isSlotIntact)) {
                        if (isSlotIntact || fitsARecord(lane, salt)) {
                            return salt;
                        }
                    }
                }
            }
        }
        return null;
    }

    private static boolean fitsARecord(final Path lane, final byte[] salt) throws IOException {
        try (SegmentReader reader = new SegmentReader(salt)) {
            for (final Path file : Files.isDirectory(lane) ? SegmentFiles.list(lane) : List.<Path>of()) {
                if (SegmentName.numberOf(file, SegmentName.SEALED) >= 0
                        || SegmentName.numberOf(file, SegmentName.LIVE) >= 0) {
                    reader.open(file, 0);
                    if (reader.hasRecordBehind(0)) {
                        return true;
                    }
                }
            }
        }
        return false;
    }
}
