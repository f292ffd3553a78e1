package io.holdfast.proxy.crash;

import io.holdfast.proxy.testing.Broker;
import io.holdfast.proxy.testing.FreePorts;
import io.holdfast.proxy.testing.HiveMqBroker;
import io.holdfast.proxy.testing.MosquittoBroker;
import io.holdfast.proxy.testing.TestAuthority;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * P1, P3, P5, P6 and P7 over {@code kill -9}, at random instants and at named points: the short form, and the long one of
 * {@code make crash-test}. The long one runs in parts, each with a store of its own and a line in the results.
 */
class KilledAtRandomLosesNothingTest {
    // With a limit, Mosquitto 2.0 lets new messages pass by those that it has queued for a subscriber: seen as order
    // lost.
    private static final String UNLIMITED = "max_inflight_messages 0";

    private static final String LIMITED = "max_packet_size " + CrashRounds.BROKER_PACKET_BYTES;

    @TempDir
    Path directory;

    @Test
    void shortForm() throws Exception {
        long seed = LongForm.seed();
        try (Broker broker = broker("mosquitto", "broker")) {
            broker.start();
            int from = (int) Math.floorMod(seed, 2L * CrashPoint.ofAnyStart().size());
            new CrashRounds(broker, seed, from, 9, 12).run(directory.resolve("data"));
        }
    }

    /** {@code -Dholdfast.crash.broker=hivemq}: in front of HiveMQ CE. */
    @Test
    @Tag("crash")
    void longForm() throws Exception {
        LongForm.play(LongForm.rounds(), (seed, from, rounds) -> {
            try (Broker broker = broker(LongForm.broker(), "broker-" + from)) {
                broker.start();
                return new CrashRounds(broker, seed, from, rounds, 20).run(directory.resolve("data-" + from));
            }
        });
    }

    /** With TLS on both sides. */
    @Test
    @Tag("crash")
    void overTls() throws Exception {
        TestAuthority authority = new TestAuthority(Files.createDirectory(directory.resolve("ca")), "ca");
        TestAuthority.Issued identity = authority.server("localhost", "localhost", "127.0.0.1");
        int tlsPort = FreePorts.next();
        LongForm.play(LongForm.tlsRounds(), (seed, from, rounds) -> {
            try (MosquittoBroker broker = MosquittoBroker.create(
                    directory.resolve("broker-" + from),
                    UNLIMITED,
                    LIMITED,
                    "listener " + tlsPort + " localhost",
                    "certfile " + identity.certificate(),
                    "keyfile " + identity.key())) {
                broker.start();
                return new CrashRounds(broker, seed, from, rounds, 20)
                        .overTls("mqtts://localhost:" + tlsPort, authority.sockets(null))
                        .run(
                                directory.resolve("data-" + from),
                                "--upstream-ca",
                                authority.file().toString(),
                                "--tls-cert",
                                identity.certificate().toString(),
                                "--tls-key",
                                identity.key().toString());
            }
        });
    }

    private Broker broker(String kind, String name) {
        Path files = directory.resolve(name);
        return switch (kind) {
            case "mosquitto" -> MosquittoBroker.create(files, UNLIMITED, LIMITED);
            case "hivemq" ->
                HiveMqBroker.create(files, "--max-packet-bytes", Integer.toString(CrashRounds.BROKER_PACKET_BYTES));
            default -> throw new IllegalArgumentException("-Dholdfast.crash.broker=" + kind + ": mosquitto or hivemq");
        };
    }
}
