package io.holdfast.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The data directory as a process that is killed now would leave it: a copy, taken while the store is open. */
final class CrashImage {
    private CrashImage() {}

    static Path of(final Path directory, final Path target) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (final Path file : files.toList()) {
                final Path copy = target.resolve(directory.relativize(file).toString());
                if (Files.isDirectory(file)) {
                    Files.createDirectories(copy);
                } else {
                    Files.copy(file, copy);
                }
            }
        }
        return target;
    }

    static Path laneOf(final Path directory) {
        return OutboxStore.laneDirectory(directory, 0);
    }

    static List<Path> files(final Path directory, final String suffix) throws IOException {
        return SegmentFiles.list(laneOf(directory)).stream()
                .filter(file -> file.toString().endsWith(suffix))
                .toList();
    }

    static Path lastSegment(final Path directory) throws IOException {
        final List<Path> files = files(directory, SegmentName.LIVE);
        return files.get(files.size() - 1);
    }

    /** Offset of the document header of each record in a file, and at last the offset behind the last one. */
    static List<Long> recordOffsets(final Path file, final byte[] salt) throws IOException {
        final List<Long> offsets = new ArrayList<>();
        try (SegmentReader reader = new SegmentReader(salt)) {
            reader.open(file, 0);
            while (reader.step(Long.MAX_VALUE) == SegmentReader.Step.RECORD) {
                offsets.add(reader.offset());
            }
            offsets.add(reader.offset());
        }
        return offsets;
    }

    static byte[] salt(final Path directory) throws IOException, StoreException {
        return MetaFile.saltOf(MetaFile.read(directory));
    }

    static void truncate(final Path file, final long length) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(length);
        }
    }

    static void zero(final Path file, final long from, final long to) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            DurableFiles.writeFully(channel, ByteBuffer.allocate((int) (to - from)), from);
        }
    }

    static void flip(final Path file, final long offset) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            final ByteBuffer one = ByteBuffer.allocate(1);
            channel.read(one, offset);
            one.put(0, (byte) ~one.get(0)).rewind();
            channel.write(one, offset);
        }
    }
}
