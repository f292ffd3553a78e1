package io.holdfast.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.CRC32C;

/** Small text files that are replaced as a whole, and what else has to be done so that a power cut does not undo it. */
final class DurableFiles {
    private static final String CRC_KEY = "crc32c=";
    private static final int ZEROS_LENGTH = 4096;
    private static final int AGAIN_LENGTH = 256 << 10;

    private DurableFiles() {}

    static void createDirectory(final Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            Files.createDirectories(
                    directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            final Path parent = directory.toAbsolutePath().getParent();
            if (parent != null) {
                forceDirectory(parent);
            }
        }
    }

    /** Makes creations, renames and deletions in the directory durable. */
    static void forceDirectory(final Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }

    /**
     * Fills a new file with zeros. In pieces of 4 KiB: a page cache filled in larger ones makes every later sync of a few
     * bytes write up to a megabyte.
     */
    static void writeZeros(final FileChannel channel, final long length) throws IOException {
        final ByteBuffer zeros = ByteBuffer.allocateDirect(ZEROS_LENGTH);
        for (long position = 0; position < length; ) {
            zeros.limit((int) Math.min(ZEROS_LENGTH, length - position)).position(0);
            position += channel.write(zeros, position);
        }
    }

    static void writeFully(final FileChannel channel, final ByteBuffer source, final long position) throws IOException {
        long at = position;
        while (source.hasRemaining()) {
            at += channel.write(source, at);
        }
    }

    /**
     * Writes the same bytes over a part of a file. A sync that failed leaves them in the page cache, taken for written, and the
     * next sync leaves them out; so what was read from a file that an earlier process has left is only durable once it has been
     * written again and synced.
     */
    static void writeAgain(final FileChannel channel, final long from, final long to) throws IOException {
        final ByteBuffer bytes = ByteBuffer.allocateDirect((int) Math.min(AGAIN_LENGTH, Math.max(0, to - from)));
        for (long at = from; at < to; at += bytes.limit()) {
            bytes.clear().limit((int) Math.min(bytes.capacity(), to - at));
            if (channel.read(bytes, at) <= 0) {
                return;
            }
            bytes.flip();
            writeFully(channel, bytes, at);
        }
    }

    /** Replaces a text file: all of the new text or all of the old is there, whenever the power goes. */
    static void replaceText(final Path file, final List<String> lines) throws IOException {
        final String text = String.join("\n", lines) + "\n";
        final Path temporary = file.resolveSibling(file.getFileName() + ".new");
        final byte[] bytes = (text + CRC_KEY + crcOf(text) + "\n").getBytes(StandardCharsets.UTF_8);
        try (FileChannel channel = FileChannel.open(
                temporary, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            writeFully(channel, ByteBuffer.wrap(bytes), 0);
            channel.force(true);
        }
        Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        forceDirectory(file.toAbsolutePath().getParent());
    }

    /**
     * Reads what {@link #replaceText} wrote.
     *
     * @return the lines, or null if there is no such file or its checksum does not fit.
     */
    static List<String> readText(final Path file) throws IOException {
        if (!Files.exists(file)) {
            return null;
        }
        final String all = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        final int crcAt = all.lastIndexOf(CRC_KEY);
        if (crcAt < 0) {
            return null;
        }
        final String text = all.substring(0, crcAt);
        final String crc = all.substring(crcAt + CRC_KEY.length()).trim();
        return crc.equals(crcOf(text)) ? text.lines().toList() : null;
    }

    private static String crcOf(final String text) {
        final CRC32C crc = new CRC32C();
        final byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        crc.update(bytes, 0, bytes.length);
        return HexFormat.of().toHexDigits((int) crc.getValue());
    }
}
