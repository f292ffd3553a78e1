package io.holdfast.proxy.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.holdfast.codec.ReasonCode;
import io.holdfast.proxy.admin.ControlSocket;
import io.holdfast.proxy.deadletter.DeadLetterDesk;
import io.holdfast.proxy.deadletter.OfflineDesk;
import io.holdfast.store.DeadLetter;
import io.holdfast.store.RecordView;
import io.holdfast.store.StoreException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code holdfast dlq}: the dead letters of a proxy, running or stopped. A running one is asked over the socket in its data
 * directory, and runs the same command there.
 */
@Command(
        name = "dlq",
        mixinStandardHelpOptions = true,
        description = {
            "Dead letters: records that could not be delivered. Works on the data directory of a running proxy (over the",
            "socket in it) and of a stopped one."
        })
final class DlqCommand implements Runnable {
    private static final int PREVIEW = 1024;

    private final DeadLetterDesk running;
    private final JsonFactory json = new JsonFactory();

    @Spec
    private CommandSpec spec;

    /** For a command line that may or may not meet a running proxy. */
    DlqCommand() {
        this(null);
    }

    private DlqCommand(DeadLetterDesk running) {
        this.running = running;
    }

    /** What a running proxy answers on its control socket. */
    static ControlSocket.Commands commandsOf(DeadLetterDesk desk) {
        return (arguments, out, err) -> {
            CommandLine line = Holdfast.prepared(new CommandLine(new DlqCommand(desk)));
            line.setOut(out);
            line.setErr(err);
            return line.execute(arguments);
        };
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is missing: list, show, replay, export or purge");
    }

    private interface Task {
        int run(DeadLetterDesk desk, PrintWriter out) throws StoreException;
    }

    private int execute(Path directory, Task task) throws StoreException, IOException {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        try {
            if (running != null) {
                return task.run(running, out);
            }
            CommandLine.ParseResult parsed = spec.root().commandLine().getParseResult();
            String[] arguments = parsed.originalArgs().stream().skip(1).toArray(String[]::new);
            Optional<Integer> code = ControlSocket.ask(directory, arguments, out, err);
            if (code.isPresent()) {
                return code.get();
            }
            try (OfflineDesk offline = OfflineDesk.open(directory)) {
                return task.run(offline.desk(), out);
            }
        } catch (StoreException e) {
            err.println("holdfast: " + e.getMessage());
            return ExitCode.SOFTWARE;
        } finally {
            out.flush();
        }
    }

    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = "Lists dead letters, oldest first. Changes nothing.")
    int list(
            @Mixin DataDirectory data,
            @Mixin LetterSelection selection,
            @Option(names = "--json", description = "One JSON object a line, without payloads.") boolean asJson)
            throws StoreException, IOException {
        return execute(data.directory(), (desk, out) -> {
            long[] shown = {0};
            desk.show(selection.wanted(), selection.limit(), letter -> {
                shown[0]++;
                out.println(asJson ? toJson(desk, letter, false) : line(letter));
                return true;
            });
            if (!asJson) {
                out.println(shown[0] + " shown, " + desk.count() + " in all");
            }
            return ExitCode.OK;
        });
    }

    @Command(
            name = "show",
            mixinStandardHelpOptions = true,
            description = "Shows all about one dead letter. Changes nothing.")
    int show(@Mixin DataDirectory data, @Parameters(paramLabel = "ID", description = "Its number in the list.") long id)
            throws StoreException, IOException {
        return execute(data.directory(), (desk, out) -> {
            boolean[] found = new boolean[1];
            desk.show(letter -> letter.id() == id, 1, letter -> {
                describe(desk, letter, out);
                found[0] = true;
                return false;
            });
            if (!found[0]) {
                throw new StoreException("there is no dead letter " + id + ": see 'holdfast dlq list'");
            }
            return ExitCode.OK;
        });
    }

    @Command(
            name = "export",
            mixinStandardHelpOptions = true,
            description = {
                "Writes dead letters as JSON, one a line, payload and properties in base64. Changes nothing:",
                "export, look at the file, then purge."
            })
    int export(@Mixin DataDirectory data, @Mixin LetterSelection selection) throws StoreException, IOException {
        return execute(data.directory(), (desk, out) -> {
            desk.show(selection.wanted(), selection.limit(), letter -> {
                out.println(toJson(desk, letter, true));
                return true;
            });
            return ExitCode.OK;
        });
    }

    @Command(
            name = "replay",
            mixinStandardHelpOptions = true,
            description = {
                "Sends dead letters again: each is appended to its lane, behind what waits there, then removed from the list.",
                "A kill in between leaves both: it may arrive twice."
            })
    int replay(
            @Mixin DataDirectory data,
            @Mixin LetterSelection selection,
            @Option(
                            names = "--even-expired",
                            description =
                                    "Also those whose Message Expiry Interval has passed; they will not expire again.")
                    boolean evenExpired)
            throws StoreException, IOException {
        selection.checkChosen();
        return execute(data.directory(), (desk, out) -> {
            DeadLetterDesk.Replay replay = desk.replay(selection.wanted(), selection.limit(), evenExpired);
            out.println(replay.replayed() + " replayed, " + desk.count() + " left");
            if (replay.expired() > 0) {
                out.println(
                        replay.expired() + " not replayed: they have expired (--even-expired sends them all the same)");
            }
            if (replay.isFull()) {
                throw new StoreException("stopped: the outbox is full. Let it drain, then go on with the rest");
            }
            return ExitCode.OK;
        });
    }

    @Command(
            name = "purge",
            mixinStandardHelpOptions = true,
            description = "Throws dead letters away, for good. The ledger counts them as dropped, reason purged.")
    int purge(@Mixin DataDirectory data, @Mixin LetterSelection selection) throws StoreException, IOException {
        selection.checkChosen();
        return execute(data.directory(), (desk, out) -> {
            out.println(desk.purge(selection.wanted(), selection.limit()) + " purged, " + desk.count() + " left");
            return ExitCode.OK;
        });
    }

    private static String line(DeadLetter letter) {
        RecordView record = letter.view();
        return String.format(
                Locale.ROOT,
                "%d  %s  %s  attempts=%d  client=%s  topic=%s  qos=%d  %d bytes  %s",
                letter.id(),
                Instant.ofEpochMilli(letter.givenUpMs()),
                reason(letter),
                letter.attempts(),
                Printable.escape(record.clientId()),
                Printable.escape(record.topic()),
                record.qos(),
                record.payloadLength(),
                Printable.escape(letter.text()));
    }

    private static String reason(DeadLetter letter) {
        String reason = letter.reason().name().toLowerCase(Locale.ROOT).replace('_', '-');
        return letter.reasonCode() == 0
                ? reason
                : String.format(Locale.ROOT, "%s(0x%02x)", reason, letter.reasonCode());
    }

    private static void describe(DeadLetterDesk desk, DeadLetter letter, PrintWriter out) {
        RecordView record = letter.view();
        out.println("id:              " + letter.id());
        out.println("reason:          " + reason(letter) + ": " + Printable.escape(letter.text()));
        if (letter.reasonCode() != 0) {
            out.println("broker's code:   " + ReasonCode.name(letter.reasonCode()));
        }
        out.println("attempts:        " + letter.attempts());
        out.println("first attempt:   "
                + (letter.firstAttemptMs() == 0 ? "none" : Instant.ofEpochMilli(letter.firstAttemptMs())));
        out.println("given up:        " + Instant.ofEpochMilli(letter.givenUpMs()));
        out.println("received:        " + Instant.ofEpochMilli(record.receiveTimeMs()));
        out.println("expires:         "
                + (record.expiryTimeMs() == 0 ? "never" : Instant.ofEpochMilli(record.expiryTimeMs())));
        out.println("lane, sequence:  " + letter.lane() + ", " + record.sequence());
        out.println("route:           " + Printable.escape(desk.routeOf(letter)));
        out.println("client:          " + Printable.escape(record.clientId()));
        out.println("topic:           " + Printable.escape(record.topic()));
        out.println("qos, retain:     " + record.qos() + ", " + record.retain());
        out.println("properties:      " + record.propertiesLength() + " bytes");
        byte[] payload = part(record, record.payloadOffset(), Math.min(PREVIEW, record.payloadLength()));
        out.println("payload:         " + record.payloadLength() + " bytes"
                + (record.payloadLength() > PREVIEW ? ", the first " + PREVIEW + " in hex" : ", in hex"));
        out.println(HexFormat.of().formatHex(payload));
    }

    private String toJson(DeadLetterDesk desk, DeadLetter letter, boolean whole) {
        StringWriter text = new StringWriter();
        RecordView record = letter.view();
        try (JsonGenerator out = json.createGenerator(text)) {
            out.writeStartObject();
            out.writeNumberField("id", letter.id());
            out.writeStringField(
                    "reason", letter.reason().name().toLowerCase(Locale.ROOT).replace('_', '-'));
            out.writeNumberField("reason_code", letter.reasonCode());
            out.writeStringField("text", letter.text());
            out.writeNumberField("attempts", letter.attempts());
            out.writeNumberField("first_attempt_ms", letter.firstAttemptMs());
            out.writeNumberField("given_up_ms", letter.givenUpMs());
            out.writeNumberField("received_ms", record.receiveTimeMs());
            out.writeNumberField("expires_ms", record.expiryTimeMs());
            out.writeNumberField("lane", letter.lane());
            out.writeNumberField("sequence", record.sequence());
            out.writeStringField("route", desk.routeOf(letter));
            out.writeStringField("client_id", record.clientId());
            out.writeStringField("topic", record.topic());
            out.writeNumberField("qos", record.qos());
            out.writeBooleanField("retain", record.retain());
            out.writeNumberField("protocol_level", record.protocolLevel());
            out.writeNumberField("payload_bytes", record.payloadLength());
            if (whole) {
                out.writeStringField(
                        "properties", base64(record, record.propertiesOffset(), record.propertiesLength()));
                out.writeStringField("payload", base64(record, record.payloadOffset(), record.payloadLength()));
            }
            out.writeEndObject();
        } catch (IOException e) {
            throw new IllegalStateException("a StringWriter does not fail", e);
        }
        return text.toString();
    }

    private static String base64(RecordView record, int offset, int length) {
        return Base64.getEncoder().encodeToString(part(record, offset, length));
    }

    private static byte[] part(RecordView record, int offset, int length) {
        byte[] bytes = new byte[length];
        record.buffer().getBytes(offset, bytes);
        return bytes;
    }
}
