package io.holdfast.proxy.cli;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/**
 * One list of arguments out of the command line and the environment. The command line wins: for a flag that stands on it,
 * be it once of many times, the environment is not asked. What stands in neither has its default.
 */
final class Arguments {
    private final List<String> arguments;
    private final Set<OptionSpec> given = new HashSet<>();
    private CommandSpec command;
    private int commandEnd;
    private int at;
    private int positionals;
    private boolean asksForHelp;

    private Arguments(CommandSpec program, List<String> arguments) {
        this.command = program;
        this.arguments = arguments;
    }

    /**
     * The arguments with those of the environment put in behind the command's name.
     *
     * @param arguments the command line, its files expanded
     * @throws ParameterException for a flag that does not exist or has no value, and for what is wrong in the environment
     */
    static String[] merge(CommandSpec program, List<String> arguments, Environment environment) {
        Arguments own = new Arguments(program, arguments);
        own.scan();
        List<String> merged = new ArrayList<>(arguments);
        if (!own.asksForHelp) {
            try {
                environment.checkNames(program);
                merged.addAll(own.commandEnd, own.from(environment));
            } catch (IllegalArgumentException e) {
                throw own.badUsage(e.getMessage());
            }
        }
        return merged.toArray(new String[0]);
    }

    /** Finds out which command this is and which of its flags are given, as the parser will. */
    private void scan() {
        while (at < arguments.size()) {
            String argument = arguments.get(at++);
            int equals = argument.startsWith("-") ? argument.indexOf('=') : -1;
            String word = equals < 0 ? argument : argument.substring(0, equals);
            OptionSpec flag = command.optionsMap().get(word);
            CommandLine subcommand = command.subcommands().get(word);
            if (flag != null) {
                takeFlag(flag, equals < 0 ? null : argument.substring(equals + 1));
            } else if (subcommand != null) {
                command = subcommand.getCommandSpec();
                commandEnd = at;
            } else if (!word.startsWith("-")
                    && positionals < command.positionalParameters().size()) {
                positionals++;
            } else {
                throw badUsage(describeUnknown(word));
            }
        }
    }

    private void takeFlag(OptionSpec flag, String attachedValue) {
        given.add(flag);
        asksForHelp |= flag.usageHelp() || flag.versionHelp();
        String value = attachedValue;
        if (value == null && flag.arity().max() > 0) {
            if (at == arguments.size() || arguments.get(at).startsWith("--")) {
                throw badUsage(
                        flag.longestName() + " has no value: write " + flag.longestName() + "=" + flag.paramLabel());
            }
            value = arguments.get(at++);
        }
        if (value != null && value.isBlank()) {
            throw badUsage(flag.longestName() + " is empty: give it a value or leave it out");
        }
    }

    private String describeUnknown(String word) {
        if (word.startsWith("-")) {
            return "no flag is called '" + word + "'"
                    + Nearest.hint(word, command.optionsMap().keySet(), "--");
        }
        if (command.subcommands().isEmpty()) {
            return "'" + word + "' belongs to no flag; a value with a blank in it needs quotes";
        }
        return "no command is called '" + word + "'"
                + Nearest.hint(word, command.subcommands().keySet(), "");
    }

    private List<String> from(Environment environment) {
        List<String> found = new ArrayList<>();
        for (OptionSpec flag : command.options()) {
            if (!given.contains(flag)) {
                found.addAll(environment.argumentsFor(flag));
            }
        }
        return found;
    }

    private ParameterException badUsage(String message) {
        return new ParameterException(command.commandLine(), message);
    }
}
