package io.holdfast.store;

import static java.nio.ByteOrder.BIG_ENDIAN;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Two preallocated, checksummed slots that are overwritten in turn, so that the state before the last is still there when a
 * write is torn. Needs no free space, except where a slot in a file of its own has to grow. For one thread.
 *
 * <pre>
 *  0  long  magic
 *  8  int   kind
 * 12  int   CRC32C, over the store's salt and then the bytes [16, 64 + length)
 * 16  long  generation, from 1; the slot with the greater one is the newer
 * 24  int   length of the content
 * 28  int   reserved
 * 32  16 bytes salt of the store, a further copy of it
 * 48  16 bytes reserved
 * 64  content
 * </pre>
 */
final class SlotPair implements AutoCloseable {
    static final int HEADER_LENGTH = 64;

    private static final long MAGIC = 0x484f4c44534c4f54L;
    private static final int KIND_OFFSET = 8;
    private static final int CRC_OFFSET = 12;
    private static final int GENERATION_OFFSET = 16;
    private static final int LENGTH_OFFSET = 24;
    private static final int SALT_OFFSET = 32;
    private static final int SALT_LENGTH = 16;
    private static final int PAGE = 4096;
    private static final int LENGTH_MAX = 1 << 30;

    private final Path[] files;
    private final FileChannel[] channels;
    private final long[] offsets;
    private final long[] generations = new long[2];
    private final int kind;
    private final byte[] salt;
    private final boolean force;
    private final Crc32cChecksum checksum = new Crc32cChecksum();
    private ByteBuffer bytes = ByteBuffer.allocateDirect(PAGE);
    private final UnsafeBuffer buffer = new UnsafeBuffer(bytes);

    private SlotPair(
            final Path[] files,
            final FileChannel[] channels,
            final long[] offsets,
            final int kind,
            final byte[] salt,
            final boolean force) {
        this.files = files;
        this.channels = channels;
        this.offsets = offsets;
        this.kind = kind;
        this.salt = salt;
        this.force = force;
    }

    /** Both slots in one file of fixed length; made if it is missing or shorter. */
    static SlotPair inOneFile(
            final Path file, final int capacity, final int kind, final byte[] salt, final boolean force)
            throws IOException {
        final int slotLength = align(HEADER_LENGTH + capacity);
        final FileChannel channel = openPreallocated(file, 2L * slotLength);
        return new SlotPair(
                new Path[] {file, file},
                new FileChannel[] {channel, channel},
                new long[] {0, slotLength},
                kind,
                salt,
                force);
    }

    /** Each slot in a file of its own, that may grow. */
    static SlotPair inTwoFiles(
            final Path first,
            final Path second,
            final int capacity,
            final int kind,
            final byte[] salt,
            final boolean force)
            throws IOException {
        final int length = align(HEADER_LENGTH + capacity);
        return new SlotPair(
                new Path[] {first, second},
                new FileChannel[] {openPreallocated(first, length), openPreallocated(second, length)},
                new long[] {0, 0},
                kind,
                salt,
                force);
    }

    /**
     * The salts of the slots in a file, for when nothing else knows it any more.
     *
     * @param isIntact whether only those of slots whose checksum fits.
     */
    static List<byte[]> saltsIn(final Path file, final boolean isIntact) throws IOException {
        final List<byte[]> salts = new ArrayList<>();
        if (!Files.exists(file)) {
            return salts;
        }
        final UnsafeBuffer content = new UnsafeBuffer(Files.readAllBytes(file));
        final Crc32cChecksum checksum = new Crc32cChecksum();
        for (int at = 0; at + HEADER_LENGTH <= content.capacity(); at += PAGE) {
            final int length = content.getInt(at + LENGTH_OFFSET, BIG_ENDIAN);
            if (content.getLong(at, BIG_ENDIAN) != MAGIC) {
                continue;
            }
            final byte[] salt = new byte[SALT_LENGTH];
            content.getBytes(at + SALT_OFFSET, salt);
            if (!isIntact) {
                salts.add(salt);
            } else if (length >= 0
                    && length <= content.capacity() - at - HEADER_LENGTH
                    && checksum.reset()
                                    .update(salt)
                                    .update(content, at + GENERATION_OFFSET, HEADER_LENGTH - GENERATION_OFFSET + length)
                                    .value()
                            == content.getInt(at + CRC_OFFSET, BIG_ENDIAN)) {
                salts.add(salt);
            }
        }
        return salts;
    }

    /** For a look that changes nothing. A file that is not there holds no intact slot. */
    static SlotPair readOnly(final Path first, final Path second, final int capacity, final int kind, final byte[] salt)
            throws IOException {
        final boolean oneFile = first.equals(second);
        final FileChannel channel = openIfThere(first);
        return new SlotPair(
                new Path[] {first, second},
                new FileChannel[] {channel, oneFile ? channel : openIfThere(second)},
                new long[] {0, oneFile ? align(HEADER_LENGTH + capacity) : 0},
                kind,
                salt,
                false);
    }

    /**
     * Reads both slots.
     *
     * @return the index of the newer intact one, or -1 if none is intact.
     */
    int load() throws IOException {
        for (int slot = 0; slot < 2; slot++) {
            generations[slot] = read(slot) < 0 ? 0 : buffer.getLong(GENERATION_OFFSET, BIG_ENDIAN);
        }
        if (generations[0] == 0 && generations[1] == 0) {
            return -1;
        }
        return generations[1] > generations[0] ? 1 : 0;
    }

    boolean isIntact(final int slot) {
        return generations[slot] != 0;
    }

    /** Whether a slot is not intact because it was never written. */
    boolean isUnwritten(final int slot) {
        return generations[slot] == 0 && slot == 1 && generations[0] == 1;
    }

    /** File and offset of a slot. */
    String placeOf(final int slot) {
        return files[slot] + " at offset " + offsets[slot];
    }

    /**
     * Reads one slot; {@link #content()} holds it afterwards.
     *
     * @return length of the content, or -1 if the slot is not intact.
     */
    int read(final int slot) throws IOException {
        if (channels[slot] == null
                || !fill(slot, 0, HEADER_LENGTH)
                || buffer.getLong(0, BIG_ENDIAN) != MAGIC
                || buffer.getInt(KIND_OFFSET, BIG_ENDIAN) != kind) {
            return -1;
        }
        final int length = buffer.getInt(LENGTH_OFFSET, BIG_ENDIAN);
        if (length < 0 || length > LENGTH_MAX || HEADER_LENGTH + length > channels[slot].size() - offsets[slot]) {
            return -1;
        }
        ensureCapacity(length);
        if (!fill(slot, 0, HEADER_LENGTH + length) || crcOf(length) != buffer.getInt(CRC_OFFSET, BIG_ENDIAN)) {
            return -1;
        }
        return length;
    }

    /** The content, from {@link #HEADER_LENGTH} on: of the slot last read, or to be filled before {@link #write}. */
    UnsafeBuffer content() {
        return buffer;
    }

    /** Makes room for a content of that length; what was in {@link #content()} is gone. */
    void ensureCapacity(final int length) {
        if (bytes.capacity() < HEADER_LENGTH + length) {
            bytes = ByteBuffer.allocateDirect(align(HEADER_LENGTH + Math.max(length, bytes.capacity() * 2)));
            buffer.wrap(bytes);
        }
    }

    /**
     * Writes {@link #content()} over the older slot. After an error the newer slot is still intact and the next write goes to
     * the same place again.
     */
    void write(final int length) throws IOException {
        final int slot = generations[1] < generations[0] ? 1 : 0;
        final long generation = Math.max(generations[0], generations[1]) + 1;
        buffer.setMemory(0, HEADER_LENGTH, (byte) 0);
        buffer.putLong(0, MAGIC, BIG_ENDIAN);
        buffer.putInt(KIND_OFFSET, kind, BIG_ENDIAN);
        buffer.putLong(GENERATION_OFFSET, generation, BIG_ENDIAN);
        buffer.putInt(LENGTH_OFFSET, length, BIG_ENDIAN);
        buffer.putBytes(SALT_OFFSET, salt);
        buffer.putInt(CRC_OFFSET, crcOf(length), BIG_ENDIAN);
        final FileChannel channel = channels[slot];
        final boolean grows = offsets[slot] + HEADER_LENGTH + length > channel.size();
        bytes.limit(HEADER_LENGTH + length).position(0);
        DurableFiles.writeFully(channel, bytes, offsets[slot]);
        bytes.clear();
        if (force) {
            channel.force(grows);
        }
        generations[slot] = generation;
    }

    /** Makes both slots durable, also where they are otherwise left to the page cache. */
    void force() throws IOException {
        channels[0].force(true);
        channels[1].force(true);
    }

    Path file() {
        return files[0];
    }

    @Override
    public void close() throws IOException {
        for (final FileChannel channel : channels) {
            if (channel != null) {
                channel.close();
            }
        }
    }

    private int crcOf(final int length) {
        return checksum.reset()
                .update(salt)
                .update(buffer, GENERATION_OFFSET, HEADER_LENGTH - GENERATION_OFFSET + length)
                .value();
    }

    private boolean fill(final int slot, final int from, final int to) throws IOException {
        bytes.limit(to).position(from);
        while (bytes.hasRemaining()) {
            if (channels[slot].read(bytes, offsets[slot] + bytes.position()) < 0) {
                bytes.clear();
                return false;
            }
        }
        bytes.clear();
        return true;
    }

    private static FileChannel openPreallocated(final Path file, final long length) throws IOException {
        final boolean isNew = !Files.exists(file);
        final FileChannel channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        if (channel.size() < length) {
            final long present = channel.size();
            final ByteBuffer rest = ByteBuffer.allocate((int) (length - present));
            DurableFiles.writeFully(channel, rest, present);
            channel.force(true);
        }
        if (isNew) {
            DurableFiles.forceDirectory(file.toAbsolutePath().getParent());
        }
        return channel;
    }

    private static FileChannel openIfThere(final Path file) throws IOException {
        return Files.exists(file) ? FileChannel.open(file, StandardOpenOption.READ) : null;
    }

    private static int align(final int length) {
        return (length + PAGE - 1) & -PAGE;
    }
}
