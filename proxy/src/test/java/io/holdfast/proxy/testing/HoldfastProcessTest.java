package io.holdfast.proxy.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The proxy as a process: starts, is killed, starts again on the same data, ends in good order. */
class HoldfastProcessTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    @TempDir
    private Path directory;

    @Test
    void itSurvivesItsKillAndEndsOnSigterm() {
        final int port = FreePorts.next();
        try (Broker broker = MosquittoBroker.create(directory.resolve("broker"));
                HoldfastProcess proxy = HoldfastProcess.proxy(broker.url(), port, 0, directory.resolve("data"))) {
            broker.start();
            proxy.start();
            try (MosquittoClients.Subscriber subscriber =
                    MosquittoClients.subscribe(broker.port(), "-t", "a", "-q", "1")) {
                MosquittoClients.publish(port, "-t", "a", "-q", "1", "-m", "one");
                assertEquals(List.of("a|one"), subscriber.await(1, SOON));

                final long firstPid = proxy.pid();
                proxy.kill9();
                assertFalse(proxy.isAlive());
                proxy.start();
                assertTrue(proxy.pid() != firstPid);
                MosquittoClients.publish(port, "-t", "a", "-q", "2", "-m", "two");
                // Before it "one" may come again: it was delivered, but the cursor that says so need not be durable
                // yet.
                subscriber.awaitMessage("a|two", SOON);
                assertEquals(0, proxy.sigterm(), proxy::allOutput);
            }
        }
    }

    @Test
    void aCommandEndsByItself() {
        final HoldfastProcess version = HoldfastProcess.of("--version").launch();
        assertEquals(0, version.awaitExit(SOON), version::output);
        assertTrue(version.output().contains("0.1.0"), version::output);
        final HoldfastProcess nonsense = HoldfastProcess.of("run", "--upstream", "mqtt://127.0.0.1:1", "--nonsense")
                .launch();
        assertEquals(2, nonsense.awaitExit(SOON), nonsense::output);
        assertTrue(nonsense.output().contains("--nonsense"), nonsense::output);
    }
}
