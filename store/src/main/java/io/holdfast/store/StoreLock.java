package io.holdfast.store;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/** The operating system's lock on the data directory: it ends with the process, however that ends. */
final class StoreLock implements AutoCloseable {
    static final String NAME = "lock";

    private final FileChannel channel;

    private StoreLock(final FileChannel channel) {
        this.channel = channel;
    }

    static StoreLock take(final Path directory, final boolean create) throws IOException, StoreException {
        final Path file = directory.resolve(NAME);
        final Set<OpenOption> options =
                create ? Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE) : Set.of(StandardOpenOption.WRITE);
        final FileChannel channel = FileChannel.open(file, options);
        try {
            final FileLock lock = channel.tryLock();
            if (lock != null) {
                return new StoreLock(channel);
            }
        } catch (final OverlappingFileLockException e) {
            // Taken by this very process: the same answer.
        } catch (final IOException e) {
            channel.close();
            throw e;
        }
        channel.close();
        throw new StoreException("the data directory " + directory
                + " is in use by another process: stop it, or use another --data-dir");
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
