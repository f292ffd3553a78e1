package io.holdfast.proxy.cli;

import io.holdfast.proxy.ProxyContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The program {@code holdfast}. */
@Command(
        name = "holdfast",
        mixinStandardHelpOptions = true,
        versionProvider = Holdfast.Version.class,
        description = "An MQTT edge proxy that never acknowledges what it could still lose.",
        footer = {
            "",
            "Every flag may come from the environment: --data-dir as HOLDFAST_DATA_DIR. The command line wins.",
            "@FILE stands for the arguments in that file."
        },
        subcommands = {RunCommand.class, OutboxCommand.class, DlqCommand.class},
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:ok", "1:failed", "2:bad usage"})
public final class Holdfast implements Runnable {
    @Spec
    private CommandSpec spec;

    /** Runs the program and exits with its code. */
    public static void main(String[] arguments) {
        System.exit(execute(commandLine(), System.getenv(), arguments));
    }

    /** The flags of all commands, for the reference page and for {@link #execute}. */
    static CommandLine commandLine() {
        return prepared(new CommandLine(new Holdfast()));
    }

    /** With what all command lines of the program share. */
    static CommandLine prepared(CommandLine commandLine) {
        return commandLine
                .setExpandAtFiles(false)
                .registerConverter(ByteSize.class, ByteSize::parse)
                .registerConverter(TimeSpan.class, TimeSpan::parse)
                .setExecutionExceptionHandler(Holdfast::onFailure);
    }

    /**
     * Runs a command.
     *
     * @param variables the environment
     * @param arguments the command line, with {@code @FILE} where one is meant
     * @return the exit code
     */
    static int execute(CommandLine commandLine, Map<String, String> variables, String... arguments) {
        Environment environment = new Environment(variables);
        commandLine.setParameterExceptionHandler((e, all) -> onBadUsage(e, environment));
        try {
            List<String> expanded = expandFiles(commandLine, arguments);
            return commandLine.execute(Arguments.merge(commandLine.getCommandSpec(), expanded, environment));
        } catch (ParameterException e) {
            return onBadUsage(e, environment);
        }
    }

    private static List<String> expandFiles(CommandLine commandLine, String... arguments) {
        try {
            return ArgumentFile.expand(arguments);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(commandLine, e.getMessage(), e);
        }
    }

    /**
     * What {@code holdfast run} would run with these arguments and an empty environment.
     *
     * @throws ParameterException for what the command would answer with exit code 2
     */
    public static ProxyContext contextOf(String... runArguments) {
        List<String> arguments = new ArrayList<>(List.of("run"));
        arguments.addAll(List.of(runArguments));
        return contextOf(Map.of(), arguments.toArray(new String[0]));
    }

    static ProxyContext contextOf(Map<String, String> variables, String... arguments) {
        CommandLine commandLine = commandLine();
        String[] merged = Arguments.merge(
                commandLine.getCommandSpec(), expandFiles(commandLine, arguments), new Environment(variables));
        CommandSpec run = commandLine.parseArgs(merged).subcommand().commandSpec();
        return ((RunCommand) run.userObject()).context();
    }

    private static int onBadUsage(ParameterException e, Environment environment) {
        CommandLine command = e.getCommandLine();
        command.getErr().println("holdfast: " + e.getMessage() + environment.originOfFlagsIn(e.getMessage()));
        if (!e.getMessage().endsWith("?")) {
            command.getErr().println("Try '" + command.getCommandSpec().qualifiedName() + " --help'.");
        }
        return CommandLine.ExitCode.USAGE;
    }

    private static int onFailure(Exception e, CommandLine commandLine, CommandLine.ParseResult parsed) {
        commandLine.getErr().println("holdfast: " + e.getMessage());
        return CommandLine.ExitCode.SOFTWARE;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is missing: run, outbox or dlq");
    }

    /** The version that the build wrote down. */
    static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() throws Exception {
            Properties properties = new Properties();
            try (var in = Holdfast.class.getResourceAsStream("/io/holdfast/proxy/version.properties")) {
                properties.load(in);
            }
            return new String[] {
                "holdfast " + properties.getProperty("version"), "Java " + System.getProperty("java.version")
            };
        }
    }
}
