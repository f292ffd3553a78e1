package io.holdfast.proxy.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.testing.FreePorts;
import io.holdfast.proxy.testing.HoldfastProcess;
import io.holdfast.proxy.testing.LinkAndUplinkBroker;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** SIGTERM, exit codes, and a data directory that is taken. */
class StopAndRefuseTest {
    private static final Duration SOON = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private HoldfastProcess proxy(LinkAndUplinkBroker broker, int port, String... flags) {
        return HoldfastProcess.proxy(broker.url(), port, 0, directory.resolve("data"), flags)
                .with("--segment-bytes", "4MiB", LinkAndUplinkBroker.UPLINK_FLAG, LinkAndUplinkBroker.UPLINK);
    }

    @Test
    void sigtermTellsTheDevicesLeavesTheUnsettledUnacknowledgedAndExitsWithZero() {
        int port = FreePorts.next();
        try (LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();
                HoldfastProcess proxy = proxy(broker, port, "--route", "hold h/#", "--route", "outbox #")) {
            broker.uplink().sessionPresent(true).swallow(Packet.PUBLISH);
            broker.link().swallow(Packet.PUBLISH);
            proxy.start();
            try (RawMqttClient v5 = RawMqttClient.connect(port, Packets.V5, "five", true);
                    RawMqttClient v311 = RawMqttClient.connect(port, Packets.V311, "three", true)) {
                for (int id = 1; id <= 20; id++) {
                    v311.send(Packets.publish(Packets.V311, 1, id, "t", "m" + id));
                    v311.expect(Packet.PUBACK, id);
                }
                v5.send(Packets.publish(Packets.V5, 1, 1, "h/1", "unsettled"));
                broker.awaitLink(Packet.PUBLISH, 1);
                assertEquals(0, proxy.sigterm(), proxy::output);
                assertEquals("e0018b", v5.expect(Packet.DISCONNECT).hex());
                v5.expectClosed(SOON);
                v311.expectClosed(SOON);
            }
            broker.uplink().on(Packet.PUBLISH, (connection, publish) -> null);
            int before = broker.uplinkConnections().size();
            proxy.start();
            broker.awaitUplink(Packet.PUBLISH, 40);
            List<String> delivered = broker.uplinkConnections().get(before).stream()
                    .filter(packet -> packet.type() == Packet.PUBLISH)
                    .map(packet -> packet.text(Packets.V5))
                    .toList();
            assertEquals(20, delivered.size());
            assertEquals("m1", delivered.get(0));
            assertEquals(0, proxy.sigterm(), proxy::output);
        }
    }

    @Test
    void aSecondProxyOnTheDataDirectoryIsRefused() {
        try (LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();
                HoldfastProcess first = proxy(broker, FreePorts.next());
                HoldfastProcess second = proxy(broker, FreePorts.next())) {
            first.start();
            second.launch();
            assertEquals(1, second.awaitExit(SOON), second::output);
            assertTrue(second.output().contains(directory.resolve("data").toString()), second::output);
            assertTrue(second.output().contains("another"), second::output);
            first.kill9();
            second.start(); // the lock goes with its process
        }
    }

    @Test
    void aPortThatIsTakenIsNamed() {
        try (LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();
                HoldfastProcess proxy = proxy(broker, broker.broker().port())) {
            proxy.launch();
            assertEquals(1, proxy.awaitExit(SOON), proxy::output);
            assertTrue(proxy.output().contains("" + broker.broker().port()), proxy::output);
        }
    }

    @ParameterizedTest
    @Timeout(20)
    @CsvSource({
        "--upstream, nonsense",
        "--listen, http://x",
        "--route, sideways #",
        "--route, outbox a/#/b",
        "--route, 'outbox:when-full=never #'",
        "--durability, maybe",
        "--qos0, sometimes",
        "--lanes, 0",
        "--lanes, 65",
        "--receive-maximum, 0",
        "--max-packet-size, 12XB",
        "--segment-bytes, 1KiB",
        "--segment-bytes, 300KB",
        "--uplink-window, 40000",
        "--ack-timeout, soon",
        "--ack-timeout, 1ms",
        "--admin, nowhere",
        "--uplink-password-file, /does/not/exist",
        "--no-such-flag, x",
    })
    void aBadFlagIsNamedAndExitsWithTwo(String flag, String value) {
        List<String> arguments = new ArrayList<>(List.of("run"));
        if (!flag.equals("--upstream")) {
            arguments.addAll(List.of("--upstream", "mqtt://127.0.0.1:1"));
        }
        arguments.addAll(List.of("--data-dir", directory.resolve("data").toString(), flag, value));
        assertTrue(refusal(arguments.toArray(new String[0])).contains(flag));
    }

    /** The caps then keep nothing out of the outbox. */
    @Test
    @Timeout(20)
    void aSegmentHasToTakeWhatIsKeptForTheDeadLetters() {
        String text = refusal(
                "run",
                "--upstream",
                "mqtt://127.0.0.1:1",
                "--data-dir",
                directory.resolve("data").toString(),
                "--segment-bytes",
                "4MiB",
                "--max-packet-size",
                "2MiB",
                "--max-payload",
                "64KiB",
                "--on-cap-violation",
                "dead-letter");
        assertTrue(text.contains("--max-packet-size with --on-cap-violation dead-letter allows records of"), text);
    }

    private static String refusal(String... arguments) {
        StringWriter out = new StringWriter();
        int exit = Holdfast.execute(Holdfast.commandLine().setErr(new PrintWriter(out, true)), Map.of(), arguments);
        assertEquals(2, exit, out::toString);
        return out.toString();
    }
}
