package io.holdfast.proxy.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.store.ClientSession;
import io.holdfast.store.LaneWriter;
import io.holdfast.store.OutboxStore;
import io.holdfast.store.RecordEncoder;
import io.holdfast.store.StoreContext;
import java.io.PrintWriter;
import java.io.RandomAccessFile;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The commands for a stopped proxy's outbox, through the command line. */
class OutboxToolsTest {
    private static final String EVIL = "dev\u001b[2Jice\n\u202e";

    @TempDir
    Path parent;

    private Path directory;
    private String out;
    private String err;

    @BeforeEach
    void fill() throws Exception {
        directory = parent.resolve("data");
        try (OutboxStore store = open()) {
            LaneWriter writer = store.lane(0).writer();
            for (int i = 0; i < 30; i++) {
                publish(writer, "meter-" + i % 3, "site/" + i % 2 + "/value", "payload " + i, 1 + i);
            }
            publish(writer, EVIL, "alarm/" + EVIL, "x", 1);
        }
    }

    private OutboxStore open() throws Exception {
        return OutboxStore.open(new StoreContext()
                .directory(directory)
                .segmentBytes(StoreContext.SEGMENT_BYTES_MIN)
                .routes(List.of("outbox #")));
    }

    private static void publish(LaneWriter writer, String client, String topic, String payload, int packetId)
            throws Exception {
        ExpandableArrayBuffer record = new ExpandableArrayBuffer();
        byte[] topicBytes = topic.getBytes(StandardCharsets.UTF_8);
        byte[] body = payload.getBytes(StandardCharsets.UTF_8);
        ClientSession session = writer.openSession(client, 1, true);
        int length = new RecordEncoder()
                .publish(record, 0, 1, false, 5)
                .times(1_700_000_000_000L, 0)
                .route(0)
                .packetId(packetId)
                .clientId(client.getBytes(StandardCharsets.UTF_8))
                .topic(new UnsafeBuffer(topicBytes), 0, topicBytes.length)
                .properties(record, 0, 0)
                .payload(new UnsafeBuffer(body), 0, body.length)
                .finish();
        writer.publish(record, 0, length, session, 1);
        writer.force();
    }

    private int run(String... arguments) {
        StringWriter outText = new StringWriter();
        StringWriter errText = new StringWriter();
        CommandLine commandLine =
                Holdfast.commandLine().setOut(new PrintWriter(outText)).setErr(new PrintWriter(errText));
        String[] all = new String[arguments.length + 3];
        all[0] = "outbox";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        all[arguments.length + 1] = "--data-dir";
        all[arguments.length + 2] = directory.toString();
        int code = Holdfast.execute(commandLine, Map.of(), all);
        out = outText.toString();
        err = errText.toString();
        return code;
    }

    private void flipInTheLog(int from) throws Exception {
        Path segment = directory.resolve("lane-0").resolve("19700101-0001.seg");
        if (!Files.exists(segment)) {
            segment = directory.resolve("lane-0").resolve("19700101-0001.cq4");
        }
        byte[] bytes = Files.readAllBytes(segment);
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        try (RandomAccessFile file = new RandomAccessFile(segment.toFile(), "rw")) {
            file.seek(text.indexOf("payload " + from));
            file.write('P');
        }
    }

    @Test
    void statCountsAndNamesTheClientsWithTheMost() {
        assertEquals(0, run("stat", "--clients", "4"));
        assertTrue(out.contains("pending in all: 31"), out);
        assertTrue(out.contains("the oldest pending record came in at 2023-11-14T22:13:20Z"), out);
        assertTrue(out.contains("client 'meter-0': 10 pending"), out);
        assertTrue(out.contains("client 'dev\\u001b[2Jice\\u000a\\u202e': 1 pending, 1 payload bytes"), out);
        assertFalse(out.contains("\u001b"), "no control character of a device");
    }

    @Test
    void lsFiltersAndLimits() {
        assertEquals(0, run("ls", "--client", "meter-1", "--topic", "site/1/#", "--limit", "3"));
        List<String> lines = out.lines().toList();
        assertEquals("0 2 2023-11-14T22:13:20Z 1 - 9 - 'meter-1' 'site/1/value'", lines.get(1));
        assertEquals(5, lines.size(), out);
        assertTrue(lines.get(4).startsWith("and more"), out);
        assertEquals(0, run("ls", "--topic", "alarm/#"));
        assertFalse(out.contains("\u001b") || out.contains("\u202e"), out);
        assertEquals(2, out.lines().count());
        assertEquals(2, run("ls", "--topic", "a/#/b"));
        assertTrue(err.contains("--topic"), err);
        assertEquals(0, run("ls", "--json", "--topic", "alarm/#"));
        assertTrue(out.contains("\"client\":\"dev\\u001B[2Jice\\n\\u202E\""), out);
    }

    @Test
    void dumpHoldsEveryPayload() throws Exception {
        assertEquals(0, run("dump"));
        assertEquals(31, out.lines().count());
        String payload = Base64.getEncoder().encodeToString("payload 7".getBytes(StandardCharsets.UTF_8));
        assertTrue(out.contains("\"payload\":\"" + payload + "\""), out);
        Path file = parent.resolve("dump.jsonl");
        assertEquals(0, run("dump", "--client", "meter-2", "--out", file.toString()));
        assertEquals(10, Files.readAllLines(file).size());
        assertTrue(err.contains("10 record(s) written"), err);
        assertEquals(2, run("dump", "--out", file.toString()), "an existing file is not overwritten");
    }

    @Test
    void verifyNamesFileAndOffsetAndRepairMakesItClean() throws Exception {
        assertEquals(0, run("verify"), () -> out);
        flipInTheLog(12);
        assertEquals(1, run("verify"));
        assertTrue(out.contains("19700101-0001.cq4 at offset "), out);
        assertTrue(out.contains("records 13 to 13 are missing"), out);
        assertEquals(0, run("repair"));
        assertTrue(out.contains("written again with its 30 intact record(s)"), out);
        assertEquals(0, run("verify"), () -> out);
        assertEquals(0, run("audit"), () -> out);
        assertEquals(0, run("ls", "--limit", "0"));
        assertEquals(31, out.lines().count(), "a heading and 30 records");
    }

    @Test
    void auditSeesWhatDoesNotAddUp() throws Exception {
        assertEquals(0, run("audit"));
        assertTrue(out.contains("31 accepted = 0 finished + 31 pending; in the log 31"), out);
        try (OutboxStore store = open()) {
            store.lane(0).cursor().advance(2, 2); // and counts nothing
        }
        assertEquals(1, run("audit"));
        assertTrue(out.contains("2 record(s) are pending in the ledger and not in the log, but 0 are missing"), out);
        try (OutboxStore store = open()) {
            store.lane(0).cursor().delivered(0, 5);
        }
        assertEquals(1, run("audit"));
        assertTrue(out.contains("FAULT lane 0: 3 record(s) more are finished or in the log than"), out);
    }

    @Test
    void aRunningProxyIsLeftAlone() throws Exception {
        try (OutboxStore store = open()) {
            for (String command : List.of("stat", "ls", "verify", "audit", "dump", "repair")) {
                assertEquals(1, run(command), command);
                assertTrue(err.contains("in use by another process"), err);
            }
            assertEquals(31, store.lane(0).durableSequence());
        }
        directory = parent;
        assertEquals(1, run("verify"));
        assertTrue(err.contains("not a Holdfast data directory"), err);
    }
}
