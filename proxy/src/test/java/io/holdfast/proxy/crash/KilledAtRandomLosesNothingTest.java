package io.holdfast.proxy.crash;

import io.holdfast.proxy.testing.MosquittoBroker;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** P1, P3, P5 and P6 over {@code kill -9}: the short form, and the long one of {@code make crash-test}. */
class KilledAtRandomLosesNothingTest {
    @TempDir
    Path directory;

    @Test
    void shortForm() throws Exception {
        run(3, 12);
    }

    @Test
    @Tag("crash")
    void longForm() throws Exception {
        run(Integer.getInteger("holdfast.crash.rounds", 50), 50);
    }

    private void run(int rounds, int devices) throws InterruptedException {
        long seed = Long.getLong("holdfast.crash.seed", System.nanoTime());
        // With a limit, Mosquitto 2.0 lets new messages pass by those that it has queued for a subscriber: seen as
        // order lost.
        String unlimited = "max_inflight_messages 0";
        try (MosquittoBroker broker = MosquittoBroker.create(directory.resolve("broker"), unlimited)) {
            broker.start();
            new CrashRounds(broker, seed, rounds, devices).run(directory.resolve("data"), "--lanes", "2");
        }
    }
}
