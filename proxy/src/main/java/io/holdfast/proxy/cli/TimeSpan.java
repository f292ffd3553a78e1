package io.holdfast.proxy.cli;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.TypeConversionException;

/**
 * A duration: {@code 500ms}, {@code 30s}, {@code 15m}, {@code 24h}, {@code 7d}.
 *
 * @param ms milliseconds, 0 or more
 */
public record TimeSpan(long ms) {
    private static final Pattern FORM = Pattern.compile("(\\d{1,12})\\s*(ms|s|m|h|d)");

    /** @throws TypeConversionException saying what would be right */
    static TimeSpan parse(String text) {
        Matcher matcher = FORM.matcher(text.trim());
        if (!matcher.matches()) {
            throw new TypeConversionException("'" + text + "' is no duration; write 500ms, 30s, 15m, 24h or 7d");
        }
        long number = Long.parseLong(matcher.group(1));
        long unit = switch (matcher.group(2)) {
            case "ms" -> 1L;
            case "s" -> 1_000L;
            case "m" -> 60_000L;
            case "h" -> 3_600_000L;
            default -> 86_400_000L;
        };
        return new TimeSpan(number * unit);
    }
}
