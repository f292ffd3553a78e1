package io.holdfast.store;

import static java.nio.ByteOrder.BIG_ENDIAN;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * {@link RecentIdentities} on disk: a file of fixed size, allocated when it is made, into which those that are new go at each
 * checkpoint. A slot that is not intact is an identity that is forgotten, nothing worse. For the lane's writer thread.
 *
 * <pre>
 *  0  int   CRC32C, over the store's salt and then the bytes [4, 32)
 *  4  int   time, epoch seconds
 *  8  long  number
 * 16  long  identity, upper half
 * 24  long  identity, lower half
 * </pre>
 */
final class IdentityFile implements AutoCloseable {
    static final String FILE_NAME = "identities";

    private static final int SLOT_LENGTH = 32;
    private static final int TIME_OFFSET = 4;
    private static final int NUMBER_OFFSET = 8;
    private static final int HIGH_OFFSET = 16;
    private static final int LOW_OFFSET = 24;
    private static final int SLOTS_AT_ONCE = 2048;

    /** Takes what was read. */
    interface Reader {
        void identity(long number, long high, long low, long epochMs);
    }

    private final FileChannel channel;
    private final int capacity;
    private final byte[] salt;
    private final boolean force;
    private final Crc32cChecksum checksum = new Crc32cChecksum();
    private final ByteBuffer bytes = ByteBuffer.allocateDirect(SLOTS_AT_ONCE * SLOT_LENGTH);
    private final UnsafeBuffer slots = new UnsafeBuffer(bytes);

    private IdentityFile(final FileChannel channel, final int capacity, final byte[] salt, final boolean force) {
        this.channel = channel;
        this.capacity = capacity;
        this.salt = salt.clone();
        this.force = force;
    }

    static IdentityFile open(final Path laneDirectory, final int capacity, final byte[] salt, final boolean force)
            throws IOException {
        final FileChannel channel = FileChannel.open(
                laneDirectory.resolve(FILE_NAME),
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
        return new IdentityFile(channel, capacity, salt, force);
    }

    /** Reads the intact ones, in the order of the file. */
    void read(final Reader reader) throws IOException {
        final long length = channel.size() / SLOT_LENGTH * SLOT_LENGTH;
        for (long position = 0; position < length; ) {
            bytes.clear().limit((int) Math.min(bytes.capacity(), length - position));
            while (bytes.hasRemaining() && channel.read(bytes, position + bytes.position()) > 0) {
                // the rest of the block
            }
            for (int at = 0; at + SLOT_LENGTH <= bytes.position(); at += SLOT_LENGTH) {
                if (slots.getInt(at, BIG_ENDIAN) == crcOf(at)) {
                    reader.identity(
                            slots.getLong(at + NUMBER_OFFSET, BIG_ENDIAN),
                            slots.getLong(at + HIGH_OFFSET, BIG_ENDIAN),
                            slots.getLong(at + LOW_OFFSET, BIG_ENDIAN),
                            slots.getInt(at + TIME_OFFSET, BIG_ENDIAN) * 1000L);
                }
            }
            if (bytes.position() == 0) {
                return;
            }
            position += bytes.position();
        }
    }

    /** Has the file the right size; once it has, writing to it needs no free space. */
    void allocate() throws IOException {
        final long length = (long) capacity * SLOT_LENGTH;
        if (channel.size() > length) {
            channel.truncate(length);
        }
        for (long position = channel.size(); position < length; ) {
            bytes.clear().limit((int) Math.min(bytes.capacity(), length - position));
            slots.setMemory(0, bytes.limit(), (byte) 0);
            position += channel.write(bytes, position);
        }
        channel.force(true);
    }

    /** Writes the identities with the numbers from {@code from} on; durable when it returns. */
    void write(final RecentIdentities identities, final long from, final long epochMinusNowMs) throws IOException {
        long number = from;
        while (number < identities.next()) {
            final int place = (int) (number % capacity);
            int count = 0;
            while (count < SLOTS_AT_ONCE && place + count < capacity && number < identities.next()) {
                final int at = count * SLOT_LENGTH;
                final long epochMs = identities.timeMs(number) + epochMinusNowMs;
                slots.putInt(at + TIME_OFFSET, (int) (epochMs / 1000), BIG_ENDIAN);
                slots.putLong(at + NUMBER_OFFSET, number, BIG_ENDIAN);
                slots.putLong(at + HIGH_OFFSET, identities.high(number), BIG_ENDIAN);
                slots.putLong(at + LOW_OFFSET, identities.low(number), BIG_ENDIAN);
                slots.putInt(at, crcOf(at), BIG_ENDIAN);
                count++;
                number++;
            }
            bytes.clear().limit(count * SLOT_LENGTH);
            DurableFiles.writeFully(channel, bytes, (long) place * SLOT_LENGTH);
        }
        if (force) {
            channel.force(false);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    private int crcOf(final int at) {
        return checksum.reset()
                .update(salt)
                .update(slots, at + TIME_OFFSET, SLOT_LENGTH - TIME_OFFSET)
                .value();
    }
}
