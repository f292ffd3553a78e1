package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UplinkJournalTest {
    @TempDir
    Path directory;

    private UplinkJournal open() throws IOException {
        return UplinkJournal.open(directory, StoreFixture.SALT, true);
    }

    @Test
    void marksAreThereAgainOnceForced() throws Exception {
        final UplinkJournal journal = open();
        assertFalse(journal.hasHistory());
        journal.sessionLost();
        journal.received(5);
        journal.force();
        journal.received(6);
        journal.abandon();

        final UplinkJournal again = open();
        assertTrue(again.hasHistory());
        assertEquals(1, again.sessionGeneration());
        assertTrue(again.isReceived(5));
        assertFalse(again.isReceived(6), "was not forced");
        assertFalse(again.isGivenUp(5));
        again.givenUp(7);
        again.force();
        again.sessionLost();
        again.force();
        again.abandon();

        final UplinkJournal third = open();
        assertEquals(2, third.sessionGeneration());
        assertFalse(third.isReceived(5), "the session they were made in is gone");
        assertTrue(third.isGivenUp(7), "it was given up all the same");
        third.abandon();
    }

    @Test
    void coversItsSpanAndNothingElse() throws Exception {
        final UplinkJournal journal = open();
        assertTrue(journal.covers(UplinkJournal.SPAN - 1));
        assertFalse(journal.covers(UplinkJournal.SPAN));
        assertThrows(IllegalArgumentException.class, () -> journal.received(UplinkJournal.SPAN));
        journal.forgetBelow(1_000_000);
        assertFalse(journal.covers(900_000));
        assertTrue(journal.covers(1_000_000));
        journal.received(1_000_000);
        journal.forgetBelow(999);
        assertTrue(journal.isReceived(1_000_000));
        journal.abandon();
    }

    /** A moving window with reopenings, against a plain set. */
    @Test
    void randomWindowsAgreeWithAModel() throws Exception {
        final long seed = Long.getLong("holdfast.seed", System.nanoTime());
        System.out.println("UplinkJournalTest seed " + seed);
        final Random random = new Random(seed);
        final TreeSet<Long> received = new TreeSet<>();
        final TreeSet<Long> givenUp = new TreeSet<>();
        long base = 0;
        UplinkJournal journal = open();
        for (int step = 0; step < 3_000; step++) {
            final long number = base + random.nextInt(40_000);
            if (random.nextInt(4) == 0) {
                journal.givenUp(number);
                givenUp.add(number);
            } else {
                journal.received(number);
                received.add(number);
            }
            if (random.nextInt(10) == 0) {
                base += random.nextInt(2_000);
                journal.forgetBelow(base);
            }
            if (random.nextInt(100) == 0) {
                journal.force();
                journal.abandon();
                journal = open();
                journal.forgetBelow(base);
            }
            final long probe = base + random.nextInt(60_000);
            assertEquals(received.contains(probe), journal.isReceived(probe), "seed " + seed);
            assertEquals(givenUp.contains(probe), journal.isGivenUp(probe), "seed " + seed);
            assertTrue(journal.isReceived(number) || journal.isGivenUp(number) || number < base, "seed " + seed);
        }
        journal.abandon();
    }

    @Test
    void aStoreWithoutItsCursorHasNoHistory() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            assertFalse(fixture.lane.journal().hasHistory());
            fixture.lane.journal().sessionLost();
            fixture.lane.journal().force();
        }
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            assertTrue(fixture.lane.journal().hasHistory());
        }
        Files.delete(directory.resolve("lane-0").resolve(Cursor.FILE_NAME));
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            assertFalse(fixture.lane.journal().hasHistory());
        }
    }

    @Test
    void anotherUplinkClientIdHasNoHistory() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            fixture.lane.journal().sessionLost();
            fixture.lane.journal().force();
        }
        try (StoreFixture fixture = StoreFixture.open(directory, context -> context.uplinkClientId("other"))) {
            assertFalse(fixture.lane.journal().hasHistory());
            assertEquals("other", fixture.store.meta().uplinkClientId());
        }
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            assertEquals("other", fixture.store.meta().uplinkClientId(), "remembered");
        }
    }

    @Test
    void anotherBrokerKnowsNothingOfTheSession() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory, context -> context.uplinkBroker("a:1883"))) {
            fixture.lane.journal().sessionLost();
            fixture.lane.journal().received(3);
            fixture.lane.journal().force();
        }
        try (StoreFixture fixture = StoreFixture.open(directory, context -> context.uplinkBroker("a:1883"))) {
            assertTrue(fixture.lane.journal().hasHistory());
            assertTrue(fixture.lane.journal().isReceived(3));
        }
        try (StoreFixture fixture = StoreFixture.open(directory, context -> context.uplinkBroker("b:1883"))) {
            assertFalse(fixture.lane.journal().hasHistory());
            assertFalse(fixture.lane.journal().isReceived(3));
        }
    }
}
