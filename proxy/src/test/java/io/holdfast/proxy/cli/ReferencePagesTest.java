package io.holdfast.proxy.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.holdfast.proxy.metrics.Meter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/**
 * docs/CONFIGURATION.md says what the flags say, and docs/METRICS.md what the meters say. {@code make docs} writes them anew
 * ({@code -Dholdfast.docs.write=true}).
 */
class ReferencePagesTest {
    private static final Path DOCS =
            Path.of(System.getProperty("holdfast.root", "..")).resolve("docs");

    @Test
    void configuration() throws IOException {
        StringBuilder page = new StringBuilder(head());
        append(page, Holdfast.commandLine(), "holdfast");
        check("CONFIGURATION.md", page.toString());
    }

    private static String head() throws IOException {
        try (InputStream in = ReferencePagesTest.class.getResourceAsStream("configuration.md")) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static void append(StringBuilder page, CommandLine command, String name) {
        command.getSubcommands().forEach((word, subcommand) -> append(page, subcommand, name + " " + word));
        if (!command.getSubcommands().isEmpty()) {
            return;
        }
        page.append("\n## ").append(name).append("\n\n");
        for (String line : command.getCommandSpec().usageMessage().description()) {
            page.append(line).append('\n');
        }
        page.append("\n| flag | variable | value | what it does |\n|---|---|---|---|\n");
        for (OptionSpec option : command.getCommandSpec().options()) {
            page.append("| `").append(String.join("`, `", option.names())).append("` | ");
            String variable = Environment.variableOf(option);
            page.append(variable == null ? "" : "`" + variable + "`").append(" | ");
            page.append(option.arity().max() == 0 ? "" : cell("`" + option.paramLabel() + "`"))
                    .append(" | ");
            page.append(option.required() ? "Required. " : "");
            for (String line : option.description()) {
                page.append(cell(line.replace("${DEFAULT-VALUE}", String.valueOf(option.defaultValue()))
                                .replace("%%", "%")))
                        .append(' ');
            }
            page.append("|\n");
        }
    }

    private static String cell(String text) {
        return text.replace("|", "\\|");
    }

    @Test
    void metrics() throws IOException {
        StringBuilder page = new StringBuilder();
        page.append("# Metrics\n\n");
        page.append("Generated from the list of meters by `make docs`. Prometheus text at `/metrics` of `--admin`.\n");
        page.append("Tags are lanes and reasons, never client ids or topics, so the page has a constant size.\n");
        table(page, "Counters since the start", Meter.Kind.COUNTER, "_total");
        table(page, "Gauges", Meter.Kind.GAUGE, "");
        table(page, "Gauges, one per `lane`", Meter.Kind.LANE_GAUGE, "");
        table(
                page,
                "Counters of the outbox, one per `lane` (the ledger's own, marked \"ever\", survive restarts)",
                Meter.Kind.LANE_COUNTER,
                "_total");
        check("METRICS.md", page.toString());
    }

    private static void table(StringBuilder page, String title, Meter.Kind kind, String suffix) {
        page.append("\n## ").append(title).append("\n\n| metric | `reason` | meaning |\n|---|---|---|\n");
        for (Meter meter : Meter.values()) {
            if (meter.kind() == kind) {
                page.append("| `")
                        .append(meter.meterName().replace('.', '_').toLowerCase(Locale.ROOT))
                        .append(suffix)
                        .append("` | ")
                        .append(meter.reason().isEmpty() ? "" : "`" + meter.reason() + "`")
                        .append(" | ")
                        .append(meter.sentence())
                        .append(" |\n");
            }
        }
    }

    private static void check(String file, String page) throws IOException {
        Path path = DOCS.resolve(file);
        if (Boolean.getBoolean("holdfast.docs.write")) {
            Files.createDirectories(DOCS);
            Files.writeString(path, page);
        }
        assertEquals(Files.readString(path), page, () -> path + " is out of date: run make docs");
    }
}
