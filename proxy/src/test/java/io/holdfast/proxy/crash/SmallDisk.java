package io.holdfast.proxy.crash;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** A file system that is soon full, and a foreign file that takes all that is free. */
final class SmallDisk implements AutoCloseable {
    private final Path root;

    private SmallDisk(Path root) {
        this.root = root;
    }

    /** Mounts one, of that many MiB; skips the test where that is not allowed. */
    static SmallDisk mount(Path directory, String type, int mebibytes) throws IOException, InterruptedException {
        assumeTrue("root".equals(System.getProperty("user.name")), "skipped: needs root to mount a small file system");
        Path root = Files.createDirectory(directory.resolve("disk"));
        boolean isMounted;
        if (type.equals("tmpfs")) {
            isMounted = run("mount", "-t", "tmpfs", "-o", "size=" + mebibytes + "m", "tmpfs", root.toString());
        } else {
            String image = directory.resolve("disk.img").toString();
            isMounted = run("truncate", "-s", mebibytes + "M", image)
                    && run("mkfs." + type, "-q", "-F", image)
                    && run("mount", "-o", "loop", image, root.toString());
        }
        assumeTrue(isMounted, "skipped: this machine does not let us mount a " + type);
        return new SmallDisk(root);
    }

    Path root() {
        return root;
    }

    long freeBytes() throws IOException {
        return Files.getFileStore(root).getUsableSpace();
    }

    /** Bytes of the files below a directory. */
    static long used(Path directory) throws IOException {
        try (var files = Files.walk(directory)) {
            return files.mapToLong(
                            file -> file.toFile().isFile() ? file.toFile().length() : 0)
                    .sum();
        }
    }

    /** The foreign file grows until nothing is free. */
    void fillUp() throws IOException {
        ByteBuffer block = ByteBuffer.allocate(4096);
        try (FileChannel file =
                FileChannel.open(root.resolve("foreign"), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            while (file.write(block) > 0) {
                block.clear();
            }
        } catch (IOException e) {
            if (!String.valueOf(e.getMessage()).contains("No space")) {
                throw e;
            }
        }
    }

    @Override
    public void close() {
        // Busy for a moment after its user has been killed.
        Awaitility.await().atMost(60, TimeUnit.SECONDS).until(() -> run("umount", root.toString()));
    }

    private static boolean run(String... command) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of(command));
        return new ProcessBuilder(words).inheritIO().start().waitFor() == 0;
    }
}
