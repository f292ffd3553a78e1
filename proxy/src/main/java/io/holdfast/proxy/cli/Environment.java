package io.holdfast.proxy.cli;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The environment as a source of flags: {@code --max-packet-size} may come from {@code HOLDFAST_MAX_PACKET_SIZE}. A flag
 * that may be repeated takes an {@link ArgumentLine}, a flag without a value {@code true} or {@code false}, every other one
 * its value as it stands. A {@code HOLDFAST_} variable that nothing reads is an error.
 */
final class Environment {
    private static final String PREFIX = "HOLDFAST_";
    private static final String LOG_LEVEL = PREFIX + "LOG_LEVEL";
    private static final String JAVA_OPTS = PREFIX + "JAVA_OPTS";
    private static final List<String> LOG_LEVELS = List.of("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "OFF");

    /** What Kubernetes sets in every container for a service whose name begins with "holdfast". */
    private static final Pattern SERVICE_LINK =
            Pattern.compile("HOLDFAST(_\\w+)?_(SERVICE_HOST|SERVICE_PORT(_\\w+)?|PORT(_\\d+_(TCP|UDP|SCTP)(_\\w+)?)?)");

    private final Map<String, String> variables;
    private final Map<String, String> used = new LinkedHashMap<>();

    Environment(Map<String, String> variables) {
        this.variables = variables;
    }

    /** The variable of a flag; null for {@code --help} and {@code --version}, which have none. */
    static String variableOf(OptionSpec option) {
        if (option.usageHelp() || option.versionHelp()) {
            return null;
        }
        return PREFIX
                + option.longestName().replaceFirst("^-+", "").replace('-', '_').toUpperCase(Locale.ROOT);
    }

    /** @throws IllegalArgumentException for a variable of ours that no command knows, naming the nearest right one. */
    void checkNames(CommandSpec program) {
        Set<String> known = new TreeSet<>(List.of(LOG_LEVEL, JAVA_OPTS));
        addVariables(program, known);
        for (String name : new TreeMap<>(variables).keySet()) {
            if (name.startsWith(PREFIX)
                    && !known.contains(name)
                    && !SERVICE_LINK.matcher(name).matches()) {
                String hint = Nearest.hint(name, known, PREFIX);
                throw new IllegalArgumentException(
                        "the environment variable " + name + " is no setting" + (hint.isEmpty() ? ": unset it" : hint));
            }
        }
        String level = variables.get(LOG_LEVEL);
        if (level != null && !LOG_LEVELS.contains(level.toUpperCase(Locale.ROOT))) {
            throw new IllegalArgumentException(LOG_LEVEL + " is '" + level + "', but has to be one of "
                    + String.join(", ", LOG_LEVELS) + Nearest.hint(level.toUpperCase(Locale.ROOT), LOG_LEVELS, ""));
        }
    }

    private static void addVariables(CommandSpec command, Set<String> known) {
        for (OptionSpec option : command.options()) {
            String variable = variableOf(option);
            if (variable != null) {
                known.add(variable);
            }
        }
        for (CommandLine subcommand : command.subcommands().values()) {
            addVariables(subcommand.getCommandSpec(), known);
        }
    }

    /**
     * The arguments that the environment has for a flag: none, one, or for a repeatable flag several.
     *
     * @throws IllegalArgumentException for a value that says nothing, naming the variable
     */
    List<String> argumentsFor(OptionSpec option) {
        String variable = variableOf(option);
        String value = variable == null ? null : variables.get(variable);
        if (value == null) {
            return List.of();
        }
        if (value.isBlank()) {
            throw new IllegalArgumentException(variable + " is empty: give it a value or unset it");
        }
        String flag = option.longestName();
        used.put(flag, variable + (option.isMultiValue() ? ", which is split at blanks outside of quotes" : ""));
        if (!option.isMultiValue()) {
            return List.of(flag + "=" + value);
        }
        return words(variable, value).stream().map(word -> flag + "=" + word).toList();
    }

    private static List<String> words(String variable, String value) {
        try {
            List<String> words = ArgumentLine.split(value);
            if (words.stream().anyMatch(String::isBlank)) {
                throw new IllegalArgumentException("a value is empty");
            }
            return words;
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(variable + ": " + e.getMessage(), e);
        }
    }

    /** Where a flag that a message speaks of was set, if it was here: {@code " (--lanes comes from HOLDFAST_LANES)"}. */
    String originOfFlagsIn(String message) {
        StringBuilder origin = new StringBuilder();
        used.forEach((flag, variable) -> {
            if (Pattern.compile(Pattern.quote(flag) + "(?![\\w-])")
                    .matcher(message)
                    .find()) {
                origin.append(" (")
                        .append(flag)
                        .append(" comes from ")
                        .append(variable)
                        .append(')');
            }
        });
        return origin.toString();
    }
}
