package io.holdfast.proxy.crash;

import io.holdfast.proxy.testing.FreePorts;
import io.holdfast.proxy.testing.MosquittoBroker;
import io.holdfast.proxy.testing.TestAuthority;
import java.nio.file.Files;
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

    /** {@code -Dholdfast.crash.tls=true}: with TLS on both sides. */
    private void run(int rounds, int devices) throws Exception {
        long seed = Long.getLong("holdfast.crash.seed", System.nanoTime());
        // With a limit, Mosquitto 2.0 lets new messages pass by those that it has queued for a subscriber: seen as
        // order lost.
        String unlimited = "max_inflight_messages 0";
        if (!Boolean.getBoolean("holdfast.crash.tls")) {
            try (MosquittoBroker broker = MosquittoBroker.create(directory.resolve("broker"), unlimited)) {
                broker.start();
                new CrashRounds(broker, seed, rounds, devices).run(directory.resolve("data"), "--lanes", "2");
            }
            return;
        }
        TestAuthority authority = new TestAuthority(Files.createDirectory(directory.resolve("ca")), "ca");
        TestAuthority.Issued identity = authority.server("localhost", "localhost", "127.0.0.1");
        int tlsPort = FreePorts.next();
        try (MosquittoBroker broker = MosquittoBroker.create(
                directory.resolve("broker"),
                unlimited,
                "listener " + tlsPort + " localhost",
                "certfile " + identity.certificate(),
                "keyfile " + identity.key())) {
            broker.start();
            new CrashRounds(broker, seed, rounds, devices)
                    .overTls("mqtts://localhost:" + tlsPort, authority.sockets(null))
                    .run(
                            directory.resolve("data"),
                            "--lanes",
                            "2",
                            "--upstream-ca",
                            authority.file().toString(),
                            "--tls-cert",
                            identity.certificate().toString(),
                            "--tls-key",
                            identity.key().toString());
        }
    }
}
