package io.holdfast.proxy.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.holdfast.proxy.testing.HoldfastProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * A proxy that ends by a crash, at some instant or at a {@link CrashPoint}, and is started again on what that left: after a
 * {@code kill -9} everything that was written, after a power cut only what had reached the disk.
 */
final class CrashingProxy implements AutoCloseable {
    private final List<String> arguments;
    private final PowerCutDisk disk;
    private HoldfastProcess process;
    private CrashPoint point;

    /**
     * Not started yet.
     *
     * @param disk that has the data directory and loses power with the proxy; null for {@code kill -9}
     */
    CrashingProxy(List<String> arguments, PowerCutDisk disk) {
        this.arguments = arguments;
        this.disk = disk;
    }

    /** Starts it, to be crashed at any instant. */
    void start() {
        startUntil(null, 0);
    }

    /**
     * Starts it, to be crashed when it comes to that point for the n-th time.
     *
     * @return false if it got there before it was ready
     */
    boolean startUntil(CrashPoint newPoint, int nth) {
        point = newPoint;
        process = HoldfastProcess.of(arguments.toArray(new String[0])).jvmFlags("-XX:TieredStopAtLevel=1");
        if (point != null) {
            process.jvmFlags(CrashPointAgent.flag(point, nth, disk == null));
        }
        boolean isReady = process.startUnless(CrashPointAgent.REACHED);
        if (!isReady && point == null) {
            throw new AssertionError("it does not start:\n" + process.output());
        }
        return isReady;
    }

    /** Waits until it has come to its point; false if it does not in that time. */
    boolean reachesPoint(Duration timeout) {
        return disk == null
                ? process.endsWithin(timeout)
                : process.hasPrinted(CrashPointAgent.REACHED, timeout) || !process.isAlive();
    }

    /** The crash, now, or what is left to do of it. */
    void crash() throws IOException, InterruptedException {
        if (point != null && !process.isAlive()) {
            assertEquals(
                    CrashPointAgent.EXIT_CODE,
                    process.awaitExit(Duration.ofSeconds(10)),
                    () -> "it ended by itself:\n" + process.output());
        } else if (!process.isAlive()) {
            throw new AssertionError("it ended by itself:\n" + process.output());
        } else if (disk == null) {
            process.kill9();
        } else {
            disk.stop(process.pid());
            process.kill9();
            disk.goOnWithCopy();
        }
    }

    /** Ends it in good order; returns the exit code. */
    int end() {
        return process.sigterm();
    }

    @Override
    public void close() {
        if (process != null) {
            process.close();
        }
    }
}
