package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CursorTest {
    private static final byte[] SALT = StoreFixture.SALT;

    @TempDir
    Path directory;

    private Cursor open() throws IOException {
        return Cursor.open(directory, SALT, true);
    }

    @Test
    void comesBackWithItsCounters() throws Exception {
        final Cursor cursor = open();
        assertFalse(cursor.wasFound());
        cursor.advance(10, 8);
        cursor.delivered(0, 7);
        cursor.expired(2, 1);
        cursor.dropped(255, DropReason.PURGED, 2);
        assertEquals(0, cursor.durableSequence());
        assertTrue(cursor.writeIfDirty());
        assertEquals(10, cursor.durableSequence());
        assertEquals(0, cursor.olderDurableSequence());
        cursor.abandon();

        final Cursor again = open();
        assertTrue(again.wasFound());
        assertEquals(10, again.sequence());
        assertEquals(8, again.sendNumber());
        assertEquals(7, again.delivered(0));
        assertEquals(1, again.expired(2));
        assertEquals(2, again.dropped(255, DropReason.PURGED));
        assertEquals(2, again.finished(255));
        assertEquals(0, again.olderDurableSequence(), "the other slot has never been written");
        again.abandon();
    }

    @Test
    void theOlderSlotFollowsWhenAllIsQuiet() throws Exception {
        final Cursor cursor = open();
        cursor.advance(10, 8);
        assertTrue(cursor.writeIfDirty());
        assertTrue(cursor.writeIfDirty());
        assertFalse(cursor.writeIfDirty());
        assertEquals(10, cursor.olderDurableSequence());
        assertEquals(8, cursor.olderDurableSendNumber());
        cursor.advance(12, 9);
        cursor.writeIfDirty();
        assertEquals(12, cursor.durableSequence());
        assertEquals(10, cursor.olderDurableSequence());
        cursor.abandon();
    }

    @Test
    void doesNotGoBack() throws Exception {
        final Cursor cursor = open();
        cursor.advance(10, 8);
        assertThrows(IllegalArgumentException.class, () -> cursor.advance(9, 8));
        assertThrows(IllegalArgumentException.class, () -> cursor.advance(11, 7));
        cursor.abandon();
    }

    /** Whatever happens to one slot, the other is used. */
    @Test
    void aTornSlotLeavesTheOther() throws Exception {
        final long seed = Long.getLong("holdfast.seed", System.nanoTime());
        System.out.println("CursorTest seed " + seed);
        final Random random = new Random(seed);
        for (int round = 0; round < 50; round++) {
            Files.deleteIfExists(directory.resolve(Cursor.FILE_NAME));
            final Cursor cursor = open();
            cursor.advance(10, 8);
            cursor.delivered(0, 8);
            cursor.writeIfDirty();
            cursor.advance(20, 16);
            cursor.delivered(0, 8);
            cursor.writeIfDirty();
            cursor.abandon();
            final int slot = random.nextInt(2);
            damage(slot, random);
            final Cursor again = open();
            assertEquals(slot == 1 ? 10 : 20, again.sequence(), "seed " + seed);
            assertEquals(slot == 1 ? 8 : 16, again.delivered(0), "seed " + seed);
            assertEquals(0, again.olderDurableSequence(), "seed " + seed);
            again.advance(30, 24);
            again.writeIfDirty();
            again.abandon();
            final Cursor third = open();
            assertEquals(30, third.sequence(), "seed " + seed);
            third.abandon();
        }
    }

    private void damage(final int slot, final Random random) throws IOException {
        try (FileChannel channel = FileChannel.open(
                directory.resolve(Cursor.FILE_NAME), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            final long start = slot * channel.size() / 2;
            final int used = SlotPair.HEADER_LENGTH + 20 + 11 * 8;
            final int at = random.nextInt(used);
            if (random.nextBoolean()) {
                final ByteBuffer one = ByteBuffer.allocate(1);
                channel.read(one, start + at);
                one.put(0, (byte) (one.get(0) ^ (1 << random.nextInt(8)))).rewind();
                channel.write(one, start + at);
            } else {
                // At most the first bytes of the new state came to the disk.
                channel.write(ByteBuffer.allocate(4096 - random.nextInt(SlotPair.HEADER_LENGTH)), start);
            }
        }
    }
}
