package io.holdfast.proxy.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.store.DeadLetterReason;
import io.holdfast.store.DeadLetters;
import io.holdfast.store.OutboxStore;
import io.holdfast.store.RecordEncoder;
import io.holdfast.store.RecordView;
import io.holdfast.store.SimulatedLog;
import io.holdfast.store.StoreContext;
import io.holdfast.store.StoreException;
import java.util.List;
import java.util.SplittableRandom;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A record has one dead letter, whatever syncs have failed on the way, and it is durable. */
class DeadLettersOnAFailingDiskTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void oneLetterAfterFailedSyncsAKillAndAPowerCut(int failures) throws StoreException {
        SimDisk disk = new SimDisk(new SplittableRandom(failures));
        SimFileSystem files = new SimFileSystem(disk);
        DeadLetters letters = open(files).deadLetters();
        append(letters);
        letters.prepare(); // so that the sync of the letter fails in the second file too, and not the making of the
        // file
        disk.failForces(failures);
        for (int failed = 0; failed + 1 < failures; failed += 2) { // each tries a second file
            assertThrows(StoreException.class, letters::force);
            append(letters);
        }
        letters.force();
        assertEquals(1, letters.count());

        end(disk, false);
        assertEquals(1, open(files).deadLetters().count(), "after a kill");
        end(disk, true);
        assertEquals(1, open(files).deadLetters().count(), "after a power cut");
    }

    /** The process ends at each change of the disk around a sync that fails, and within it. */
    @Test
    void whatAStartTakesForThereIsDurable() throws StoreException {
        for (int seed = 0; seed < 100; seed++) {
            SimDisk disk = new SimDisk(new SplittableRandom(seed));
            SimFileSystem files = new SimFileSystem(disk);
            DeadLetters letters = open(files).deadLetters();
            append(letters);
            letters.prepare();
            disk.failForces(1);
            disk.crashAt(disk.operations() + 1 + seed % 5);
            try {
                letters.force();
            } catch (SimCrash e) {
                assertTrue(disk.isCrashed());
            }

            end(disk, false);
            long there = open(files).deadLetters().count();
            end(disk, true);
            assertEquals(there, open(files).deadLetters().count(), "seed " + seed);
        }
    }

    private static OutboxStore open(SimFileSystem files) throws StoreException {
        StoreContext context = new StoreContext()
                .directory(files.getPath("/data"))
                .segmentBytes(StoreContext.SEGMENT_BYTES_MIN)
                .reserveBytes(64 << 10)
                .routes(List.of("outbox #"));
        return OutboxStore.open(SimulatedLog.use(context, (file, position, record, bytes) -> {}));
    }

    private static void end(SimDisk disk, boolean power) {
        disk.kill();
        disk.restart(power);
    }

    private static void append(DeadLetters letters) throws StoreException {
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[200]);
        int length = new RecordEncoder()
                .publish(bytes, 0, 1, false, 5)
                .times(1, 0)
                .route(0)
                .packetId(1)
                .clientId(new byte[] {'d'})
                .topic(bytes, 0, 0)
                .properties(bytes, 0, 0)
                .payload(bytes, 0, 0)
                .finish();
        RecordView record = new RecordView().wrap(bytes, 0, length);
        letters.append(0, record, DeadLetterReason.EXPIRED, 0, 1, 2, 3, "text");
    }
}
