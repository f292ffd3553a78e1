package io.holdfast.proxy.cli;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.testing.FreePorts;
import io.holdfast.proxy.testing.HoldfastProcess;
import io.holdfast.proxy.testing.LinkAndUplinkBroker;
import io.holdfast.proxy.testing.MetricsPage;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.RawMqttClient;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code holdfast dlq} as an operator uses it: on a running proxy and on a stopped one. */
class DlqCommandTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    @TempDir
    Path directory;

    private final int port = FreePorts.next();
    private final int adminPort = FreePorts.next();
    private final AtomicBoolean refuses = new AtomicBoolean(true);
    private final LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();
    private HoldfastProcess proxy;
    private String out;
    private String err;

    @BeforeEach
    void start() {
        broker.uplink()
                .sessionPresent(true)
                .on(
                        Packet.PUBLISH,
                        (connection, publish) -> refuses.get()
                                        && publish.topic().startsWith("bad")
                                ? Packets.ack(
                                        publish.qos() == 2 ? Packet.PUBREC : Packet.PUBACK, publish.packetId(), 0x87)
                                : null);
        proxy = HoldfastProcess.proxy(
                        broker.url(),
                        port,
                        adminPort,
                        directory,
                        LinkAndUplinkBroker.UPLINK_FLAG,
                        LinkAndUplinkBroker.UPLINK)
                .start();
        try (RawMqttClient device = RawMqttClient.connect(port, Packets.V5, "de\u001bvice", true)) {
            for (int id = 1; id <= 6; id++) {
                String topic = id % 2 == 0 ? "good/" + id : "bad/" + id;
                device.send(Packets.publish(Packets.V5, id < 3 ? 2 : 1, id, topic, "payload " + id));
                device.expect(id < 3 ? Packet.PUBREC : Packet.PUBACK, id);
            }
        }
        awaitPending(0);
        assertEquals(3, gauge("holdfast_dead_letters"));
    }

    @AfterEach
    void stop() {
        proxy.close();
        broker.close();
    }

    @Test
    void aRunningProxyListsReplaysAndPurges() {
        worksOnTheDataDirectory();
        assertEquals(0, gauge("holdfast_dead_letters"));
        assertEquals(0, gauge("holdfast_outbox_dead_lettered"));
        awaitPending(0);
        assertEquals(7, gauge("holdfast_outbox_accepted_total"), "the replayed one is accepted once more");
        assertEquals(4, gauge("holdfast_outbox_delivered_total"));
    }

    @Test
    void soDoesTheCommandOnAStoppedProxy() {
        assertEquals(0, proxy.sigterm());
        worksOnTheDataDirectory();
        proxy.start();
        awaitPending(0);
        await().atMost(SOON).until(() -> gauge("holdfast_outbox_delivered_total") == 4);
        assertEquals(0, gauge("holdfast_dead_letters"));
    }

    private void worksOnTheDataDirectory() {
        assertEquals(0, dlq("list"));
        assertTrue(out.contains("3 shown, 3 in all"), out);
        assertTrue(out.contains("client=de\\u001bvice"), "control characters do not reach the terminal: " + out);
        assertTrue(out.contains("refused(0x87)"), out);
        assertEquals(0, dlq("list", "--topic", "bad/3", "--json"));
        assertTrue(out.contains("\"topic\":\"bad/3\""), out);
        assertEquals(1, out.lines().count(), out);
        assertEquals(0, dlq("show", "1"));
        assertTrue(out.contains("topic:           bad/1"), out);
        assertEquals(0, dlq("export", "--id", "2-3"));
        assertEquals(2, out.lines().count(), out);
        assertTrue(out.contains("\"payload\":\"cGF5bG9hZCAz\""), out);

        assertEquals(2, dlq("purge"), "nothing goes without a choice");
        assertTrue(err.contains("--all"), err);
        refuses.set(false);
        assertEquals(0, dlq("replay", "--id", "1"));
        assertTrue(out.contains("1 replayed, 2 left"), out);
        assertEquals(0, dlq("purge", "--reason", "refused", "--limit", "1"));
        assertTrue(out.contains("1 purged, 1 left"), out);
        assertEquals(0, dlq("purge", "--all"));
        assertTrue(out.contains("1 purged, 0 left"), out);
    }

    @Test
    void aReplayedRecordIsDeliveredWithItsContent() {
        refuses.set(false);
        assertEquals(0, dlq("replay", "--all"));
        awaitPending(0);
        await().atMost(SOON).until(() -> gauge("holdfast_outbox_delivered_total") == 6);
        assertTrue(broker.uplinkReceived(Packet.PUBLISH).stream()
                .anyMatch(packet -> packet.topic().equals("bad/1")
                        && packet.qos() == 2
                        && packet.text(Packets.V5).equals("payload 1")));
        proxy.kill9();
        proxy.start();
        awaitPending(0);
        assertEquals(9, gauge("holdfast_outbox_accepted_total"));
        assertEquals(0, gauge("holdfast_dead_letters"));
    }

    @Test
    void whatCannotBeIsSaidWithTheFlagsName() {
        assertEquals(2, dlq("list", "--id", "x"));
        assertTrue(err.contains("--id: 'x'"), err);
        assertEquals(2, dlq("list", "--reason", "bored"));
        assertTrue(err.contains("--reason is refused"), err);
        assertEquals(1, dlq("show", "99"));
        assertTrue(err.contains("there is no dead letter 99"), err);
        assertEquals(
                1,
                execute("dlq", "list", "--data-dir", directory.resolve("none").toString()));
        assertFalse(err.isEmpty());
    }

    private int dlq(String command, String... arguments) {
        String[] all = new String[arguments.length + 4];
        all[0] = "dlq";
        all[1] = command;
        all[2] = "--data-dir";
        all[3] = directory.toString();
        System.arraycopy(arguments, 0, all, 4, arguments.length);
        return execute(all);
    }

    private int execute(String... arguments) {
        StringWriter outText = new StringWriter();
        StringWriter errText = new StringWriter();
        CommandLine line =
                Holdfast.commandLine().setOut(new PrintWriter(outText, true)).setErr(new PrintWriter(errText, true));
        int code = Holdfast.execute(line, Map.of(), arguments);
        out = outText.toString();
        err = errText.toString();
        return code;
    }

    private void awaitPending(long count) {
        await().atMost(SOON).until(() -> gauge("holdfast_outbox_pending") == count);
    }

    /** Over all lanes. */
    private long gauge(String name) {
        return (long) new MetricsPage(adminPort)
                .text()
                .lines()
                .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }
}
