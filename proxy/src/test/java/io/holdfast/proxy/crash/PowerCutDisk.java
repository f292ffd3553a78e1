package io.holdfast.proxy.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/**
 * A file system inside an image file. A copy of the image, made while the writing process is stopped, has what had reached the
 * "disk", and nothing of the page cache. Needs root and loop devices.
 */
final class PowerCutDisk implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Path mountPoint;
    private final Path image;
    private final Path copy;

    private PowerCutDisk(Path directory) {
        this.mountPoint = directory.resolve("disk");
        this.image = directory.resolve("disk.img");
        this.copy = directory.resolve("copy.img");
    }

    /**
     * Makes and mounts one.
     *
     * @param directory for the image files and the mount point
     * @param size      as {@code truncate} understands it
     * @return null where one may not mount images
     */
    static PowerCutDisk mount(Path directory, String size) throws IOException, InterruptedException {
        if (!"root".equals(System.getProperty("user.name")) || !Files.exists(Path.of("/dev/loop-control"))) {
            return null;
        }
        PowerCutDisk disk = new PowerCutDisk(directory);
        Files.createDirectories(disk.mountPoint);
        boolean isMounted = run("truncate", "-s", size, disk.image.toString()) == 0
                && run("mkfs.ext4", "-q", "-F", disk.image.toString()) == 0
                && run("mount", "-o", "loop", disk.image.toString(), disk.mountPoint.toString()) == 0;
        return isMounted ? disk : null;
    }

    /** Its root. */
    Path root() {
        return mountPoint;
    }

    /** Stops the process and copies what it has on disk. The process is to be killed then. */
    void stop(long pid) throws IOException, InterruptedException {
        require("kill", "-STOP", Long.toString(pid));
        require("cp", "--sparse=always", image.toString(), copy.toString());
    }

    /** Mounts the copy in place of what was there. */
    void goOnWithCopy() throws IOException, InterruptedException {
        unmount();
        Files.delete(image);
        Files.move(copy, image);
        require("mount", "-o", "loop", image.toString(), mountPoint.toString());
    }

    private void unmount() {
        // Busy for a moment after its user has been killed.
        Awaitility.await().atMost(PATIENCE).until(() -> run("umount", mountPoint.toString()) == 0);
    }

    @Override
    public void close() {
        unmount();
    }

    private static void require(String... command) throws IOException, InterruptedException {
        assertEquals(0, run(command), String.join(" ", command));
    }

    private static int run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS), String.join(" ", command));
        if (process.exitValue() != 0) {
            System.out.println(String.join(" ", command) + ": " + output);
        }
        return process.exitValue();
    }
}
