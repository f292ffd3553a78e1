package io.holdfast.proxy.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.ProxyContext;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Flags from the command line, from files and from the environment, and what is said about wrong ones. */
class SettingsTest {
    private static final String UPSTREAM = "HOLDFAST_UPSTREAM";

    @TempDir
    Path directory;

    private static List<String> routes(ProxyContext context) {
        return context.routes().stream().map(Object::toString).toList();
    }

    private String file(String text) throws IOException {
        return "@" + Files.writeString(directory.resolve("a file.args"), text);
    }

    /** Expects exit code 2 and gives back what was said: one message, and at most one line that names the help. */
    private static String refusal(Map<String, String> environment, String... arguments) {
        StringWriter err = new StringWriter();
        int exit = Holdfast.execute(Holdfast.commandLine().setErr(new PrintWriter(err, true)), environment, arguments);
        assertEquals(CommandLine.ExitCode.USAGE, exit, err::toString);
        List<String> lines = err.toString().lines().toList();
        assertTrue(lines.size() == 1 || (lines.size() == 2 && lines.get(1).startsWith("Try 'holdfast")), err::toString);
        return lines.get(0);
    }

    private static void assertSaid(String message, String... parts) {
        for (String part : parts) {
            assertTrue(message.contains(part), () -> "'" + part + "' is missing in: " + message);
        }
    }

    @Test
    void everyFlagMayComeFromTheEnvironment() {
        ProxyContext context = Holdfast.contextOf(
                Map.of(
                        UPSTREAM,
                        "mqtt://broker:1884",
                        "HOLDFAST_LISTEN",
                        "mqtt://127.0.0.1:1 mqtt://127.0.0.1:2",
                        "HOLDFAST_ROUTE",
                        "'outbox:when-full=reject telemetry/#' \"hold it's/#\" hold\\ #",
                        "HOLDFAST_MAX_PACKET_SIZE",
                        "64KiB",
                        "HOLDFAST_UPLINK_CLIENT_ID",
                        "it's \"${user.name}\" #1",
                        "HOLDFAST_UPLINK_USERNAME",
                        "=edge",
                        "HOLDFAST_OUTBOX_TRUST_DEVICES",
                        "true",
                        "HOLDFAST_ACK_TIMEOUT",
                        "2m"),
                "run");
        assertEquals("mqtt://broker:1884", context.upstream().toString());
        assertEquals(2, context.listeners().size());
        assertEquals(List.of("outbox:when-full=reject telemetry/#", "hold it's/#", "hold #"), routes(context));
        assertEquals(65_536, context.devices().maxPacketSize());
        assertEquals(Optional.of("it's \"${user.name}\" #1"), context.uplink().clientId());
        assertEquals(Optional.of("=edge"), context.uplink().userName());
        assertEquals(120_000, context.uplink().ackTimeoutMs());
    }

    @Test
    void theCommandLineWinsOverTheEnvironmentAndReplacesRepeatableFlags() throws IOException {
        Map<String, String> environment = Map.of(
                UPSTREAM, "mqtt://broker:1884", "HOLDFAST_LANES", "2", "HOLDFAST_ROUTE", "'hold a/#' 'hold b/#'");
        ProxyContext context =
                Holdfast.contextOf(environment, "run", "--lanes=3", "--route", "hold c/#", "--route", "outbox #");
        assertEquals("mqtt://broker:1884", context.upstream().toString());
        assertEquals(3, context.outbox().lanes());
        assertEquals(List.of("hold c/#", "outbox #"), routes(context));

        context = Holdfast.contextOf(environment, "run", file("--lanes 4 --route 'hold f/#'"));
        assertEquals(4, context.outbox().lanes());
        assertEquals(List.of("hold f/#"), routes(context));

        // A wrong value that is not looked at is no error.
        context = Holdfast.contextOf(Map.of("HOLDFAST_LANES", "many"), "run", "--upstream", "mqtt://b", "--lanes", "5");
        assertEquals(5, context.outbox().lanes());
    }

    @Test
    void aFlagWithoutAValueCanBeTakenBack() {
        Map<String, String> environment = Map.of(
                UPSTREAM, "mqtt://broker", "HOLDFAST_UPLINK_USERNAME", "edge", "HOLDFAST_OUTBOX_TRUST_DEVICES", "true");
        assertEquals(
                Optional.of("edge"),
                Holdfast.contextOf(environment, "run").uplink().userName());
        assertSaid(
                refusal(environment, "run", "--outbox-trust-devices=false"),
                "confirm with --outbox-trust-devices",
                "--uplink-username comes from HOLDFAST_UPLINK_USERNAME");
    }

    @Test
    void aFileStandsForItsArguments() throws IOException {
        String text = """
                # the edge proxy
                --upstream mqtt://broker:1884   # not mqtts yet
                --route 'outbox telemetry/#' \\
                  --route="outbox a b/#"
                --route 'hold #'
                --uplink-client-id @edge#1
                --max-payload
                  64KiB
                #--lanes 9
                """;
        ProxyContext context = Holdfast.contextOf(Map.of(), "run", "--lanes", "2", file(text));
        assertEquals("mqtt://broker:1884", context.upstream().toString());
        assertEquals(List.of("outbox telemetry/#", "outbox a b/#", "hold #"), routes(context));
        assertEquals(Optional.of("@edge#1"), context.uplink().clientId());
        assertEquals(65_536, context.devices().maxPayload());
        assertEquals(2, context.outbox().lanes());
        assertEquals(
                3,
                routes(Holdfast.contextOf(Map.of(), file("run\r\n" + text.replace("\n", "\r\n"))))
                        .size());
    }

    @Test
    void aValueMayBeginWithTheSignOfAFile() {
        ProxyContext context =
                Holdfast.contextOf(Map.of(), "run", "--upstream", "mqtt://b", "--uplink-client-id", "@@edge");
        assertEquals(Optional.of("@edge"), context.uplink().clientId());
    }

    @Test
    void aFileThatCannotBeReadIsNamed() throws IOException {
        assertSaid(refusal(Map.of(), "run", "@/no/such.args"), "@/no/such.args: cannot read", "@@/no/such.args");
        assertSaid(refusal(Map.of(), "run", "@" + directory), "@" + directory + ": cannot read");
        assertSaid(refusal(Map.of(), "run", file("--lanes 1\n--route 'hold #\n")), "a file.args: ", "line 2");
        Path latin = Files.write(directory.resolve("latin"), "--route 'hold é'".getBytes(StandardCharsets.ISO_8859_1));
        assertSaid(refusal(Map.of(), "run", "@" + latin), "UTF-8");
        assertSaid(refusal(Map.of(), "run", file(" ".repeat((1 << 20) + 1))), "bytes");
        assertSaid(refusal(Map.of(), "run", file("--upstream mqtt://b --route hold #")), "'hold' has no topic filter");
        assertSaid(refusal(Map.of(), "run", file("@other")), "'@other' belongs to no flag");
    }

    @ParameterizedTest
    @CsvSource({
        "--listn, --listen",
        "--lisetn, --listen",
        "--Listen, --listen",
        "--listen-, --listen",
        "--upstraem, --upstream",
        "--payload, --max-payload",
        "--max-packetsize, --max-packet-size",
        "--receive-max, --receive-maximum",
        "-listen, --listen",
        "--hlep, --help",
    })
    void aMisspeltFlagIsAnsweredWithTheNearestRightOne(String flag, String right) {
        assertSaid(refusal(Map.of(), "run", flag, "x"), "'" + flag + "'", "did you mean '" + right + "'?");
        assertSaid(refusal(Map.of(), "run", flag + "=x"), "'" + flag + "'", "did you mean '" + right + "'?");
    }

    @ParameterizedTest
    @CsvSource({
        "HOLDFAST_LISTN, HOLDFAST_LISTEN",
        "HOLDFAST_ROUTES, HOLDFAST_ROUTE",
        "HOLDFAST_UPLINK_USER_NAME, HOLDFAST_UPLINK_USERNAME",
        "HOLDFAST_LOGLEVEL, HOLDFAST_LOG_LEVEL",
        "HOLDFAST_JAVA_OPT, HOLDFAST_JAVA_OPTS",
    })
    void aMisspeltVariableIsAnsweredWithTheNearestRightOne(String variable, String right) {
        Map<String, String> environment = Map.of(variable, "x", UPSTREAM, "mqtt://b");
        assertSaid(refusal(environment, "run"), variable, "did you mean '" + right + "'?");
        assertSaid(refusal(environment, "outbox", "stat", "--data-dir", "x"), variable);
    }

    @ParameterizedTest
    @CsvSource({
        "--durability, fsnc, fsync",
        "--durability, page_cache, page-cache",
        "--durability, FSYNC, ",
        "--qos0, stor, store",
        "--qos0, foward, forward",
    })
    void aMisspeltChoiceIsAnsweredWithTheNearestRightOne(String flag, String value, String right) {
        String message = refusal(Map.of(), "run", "--upstream", "mqtt://b", flag, value);
        assertSaid(message, flag, "'" + value + "'");
        assertEquals(right != null, message.endsWith("did you mean '" + right + "'?"), message);
        String variable = "HOLDFAST_" + flag.substring(2).toUpperCase(Locale.ROOT);
        assertSaid(refusal(Map.of(variable, value, UPSTREAM, "mqtt://b"), "run"), flag + " comes from " + variable);
    }

    @Test
    void aMisspeltCommandIsAnsweredWithTheNearestRightOne() {
        assertSaid(refusal(Map.of(), "rnu"), "'rnu'", "did you mean 'run'?");
        assertSaid(refusal(Map.of(), "outbox", "stats"), "'stats'", "did you mean 'stat'?");
        assertSaid(refusal(Map.of()), "a command is missing");
    }

    @Test
    void whatIsFarFromEverythingGetsNoGuess() {
        assertFalse(refusal(Map.of(), "run", "--zzz").contains("did you mean"));
        assertFalse(refusal(Map.of("HOLDFAST_ZZZ", "x"), "run").contains("did you mean"));
        assertFalse(refusal(Map.of(), "run", "--" + "z".repeat(100_000)).contains("did you mean"));
    }

    @Test
    void emptyMissingAndRepeatedValuesAreNamed() {
        assertSaid(refusal(Map.of(), "run", "--upstream", ""), "--upstream is empty");
        assertSaid(refusal(Map.of(), "run", "--upstream="), "--upstream is empty");
        assertSaid(refusal(Map.of(), "run", "--upstream", "mqtt://b", "--route", " "), "--route is empty");
        assertSaid(refusal(Map.of(), "run", "--outbox-trust-devices="), "--outbox-trust-devices is empty");
        assertSaid(refusal(Map.of(), "run", "--upstream"), "--upstream has no value");
        assertSaid(refusal(Map.of(), "run", "--upstream", "--lanes", "2"), "--upstream has no value");
        assertSaid(refusal(Map.of(), "run"), "--upstream");
        assertSaid(
                refusal(Map.of(), "run", "--upstream", "mqtt://b", "--lanes", "1", "--lanes", "2"),
                "--lanes",
                "only once");
        assertSaid(refusal(Map.of(), "run", "--upstream", "mqtt://b", "--route", "hold", "#"), "'#'", "quotes");
        assertSaid(refusal(Map.of(UPSTREAM, ""), "run"), UPSTREAM + " is empty");
        assertSaid(refusal(Map.of(UPSTREAM, "mqtt://b", "HOLDFAST_ROUTE", "'hold #' ''"), "run"), "HOLDFAST_ROUTE");
        assertSaid(refusal(Map.of(UPSTREAM, "mqtt://b", "HOLDFAST_ROUTE", "'hold #"), "run"), "HOLDFAST_ROUTE");
    }

    @Test
    void aWrongValueOfTheEnvironmentNamesItsVariable() {
        assertSaid(refusal(Map.of(UPSTREAM, "http://b"), "run"), "--upstream comes from HOLDFAST_UPSTREAM");
        assertSaid(refusal(Map.of(UPSTREAM, "mqtt://b", "HOLDFAST_LANES", "x"), "run"), "HOLDFAST_LANES");
        assertSaid(refusal(Map.of(UPSTREAM, "mqtt://b", "HOLDFAST_LANES", "99"), "run"), "HOLDFAST_LANES");
        assertSaid(
                refusal(Map.of(UPSTREAM, "mqtt://b", "HOLDFAST_ROUTE", "hold #"), "run"), "HOLDFAST_ROUTE", "quotes");
        assertSaid(
                refusal(Map.of(UPSTREAM, "mqtt://b", "HOLDFAST_OUTBOX_TRUST_DEVICES", "yes"), "run"),
                "HOLDFAST_OUTBOX_TRUST_DEVICES");
        assertSaid(refusal(Map.of("HOLDFAST_LOG_LEVEL", "debgu"), "run"), "HOLDFAST_LOG_LEVEL", "DEBUG");
        // Its value is right: another flag's is not.
        assertFalse(refusal(Map.of(UPSTREAM, "mqtt://b"), "run", "--lanes", "0").contains(UPSTREAM));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HOLDFAST_SERVICE_HOST",
                "HOLDFAST_SERVICE_PORT",
                "HOLDFAST_SERVICE_PORT_MQTT",
                "HOLDFAST_PORT",
                "HOLDFAST_PORT_1883_TCP",
                "HOLDFAST_PORT_1883_TCP_ADDR",
                "HOLDFAST_ADMIN_SERVICE_HOST",
                "HOLDFAST_ADMIN_PORT_9883_TCP_PROTO",
                "HOLDFAST_JAVA_OPTS",
                "HOLDFASTER",
            })
    void variablesOfOthersAreLeftAlone(String variable) {
        assertEquals(
                "mqtt://b:1883",
                Holdfast.contextOf(Map.of(variable, "tcp://10.0.0.1:1883", UPSTREAM, "mqtt://b"), "run")
                        .upstream()
                        .toString());
    }

    @Test
    void helpIsGivenWhateverTheEnvironmentSays() {
        StringWriter out = new StringWriter();
        int exit = Holdfast.execute(
                Holdfast.commandLine().setOut(new PrintWriter(out, true)), Map.of("HOLDFAST_X", ""), "run", "--help");
        assertEquals(0, exit);
        assertTrue(out.toString().contains("HOLDFAST_MAX_PACKET_SIZE"), out::toString);
    }

    @Test
    void theDirectoryOfOutboxStatMayComeFromTheEnvironment() {
        StringWriter err = new StringWriter();
        int exit = Holdfast.execute(
                Holdfast.commandLine().setErr(new PrintWriter(err, true)),
                Map.of("HOLDFAST_DATA_DIR", directory.resolve("none").toString(), "HOLDFAST_LANES", "2"),
                "outbox",
                "stat");
        assertEquals(1, exit, err::toString);
        assertSaid(err.toString(), directory.resolve("none").toString());
    }

    @Test
    void noTwoFlagsShareAVariable() {
        List<OptionSpec> options = new ArrayList<>(Holdfast.commandLine()
                .getSubcommands()
                .get("run")
                .getCommandSpec()
                .options());
        List<String> variables = options.stream()
                .map(Environment::variableOf)
                .filter(v -> v != null)
                .toList();
        Set<String> distinct = new HashSet<>(variables);
        assertEquals(variables.size(), distinct.size(), variables::toString);
        assertEquals(options.size() - 2, variables.size(), "all but --help and --version");
        assertTrue(Stream.of("HOLDFAST_JAVA_OPTS", "HOLDFAST_LOG_LEVEL").noneMatch(distinct::contains));
    }
}
