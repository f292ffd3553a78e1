package io.holdfast.proxy.cli;

import io.holdfast.proxy.ProxyContext;
import java.io.PrintWriter;
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
        subcommands = {RunCommand.class, OutboxCommand.class},
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:ok", "1:failed", "2:bad usage"})
public final class Holdfast implements Runnable {
    @Spec
    private CommandSpec spec;

    /** Runs the program and exits with its code. */
    public static void main(String[] arguments) {
        System.exit(commandLine().execute(arguments));
    }

    /** The whole command line, for main, for tests and for the reference page. */
    public static CommandLine commandLine() {
        return configure(new CommandLine(new Holdfast()))
                .setParameterExceptionHandler(Holdfast::onBadUsage)
                .setExecutionExceptionHandler(Holdfast::onFailure);
    }

    private static CommandLine configure(CommandLine commandLine) {
        return commandLine
                .registerConverter(ByteSize.class, ByteSize::parse)
                .registerConverter(TimeSpan.class, TimeSpan::parse);
    }

    /**
     * What {@code holdfast run} would run with these arguments.
     *
     * @throws ParameterException for what the command would answer with exit code 2
     */
    public static ProxyContext contextOf(String... runArguments) {
        RunCommand command = new RunCommand();
        configure(new CommandLine(command)).parseArgs(runArguments);
        return command.context();
    }

    private static int onBadUsage(ParameterException e, String[] arguments) {
        PrintWriter err = e.getCommandLine().getErr();
        err.println("holdfast: " + e.getMessage());
        if (!CommandLine.UnmatchedArgumentException.printSuggestions(e, err)) {
            err.println("Try 'holdfast "
                    + (e.getCommandLine().getParent() == null
                            ? ""
                            : e.getCommandLine().getCommandName() + " ") + "--help'.");
        }
        return CommandLine.ExitCode.USAGE;
    }

    private static int onFailure(Exception e, CommandLine commandLine, CommandLine.ParseResult parsed) {
        commandLine.getErr().println("holdfast: " + e.getMessage());
        return CommandLine.ExitCode.SOFTWARE;
    }

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is missing: run or outbox");
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
