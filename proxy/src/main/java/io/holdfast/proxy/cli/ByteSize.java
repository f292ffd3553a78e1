package io.holdfast.proxy.cli;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.TypeConversionException;

/**
 * A number of bytes: {@code 65536}, {@code 64KiB}, {@code 16MiB}, {@code 2GiB}.
 *
 * @param bytes 0 or more
 */
public record ByteSize(long bytes) {
    private static final Pattern FORM = Pattern.compile("(\\d{1,18})\\s*(B|KIB|MIB|GIB|TIB|K|M|G|T)?");

    /** @throws TypeConversionException saying what would be right */
    static ByteSize parse(String text) {
        Matcher matcher = FORM.matcher(text.trim().toUpperCase(Locale.ROOT));
        if (!matcher.matches()) {
            throw new TypeConversionException("'" + text + "' is no size; write 65536, 64KiB, 16MiB or 2GiB");
        }
        String unit = matcher.group(2) == null ? "B" : matcher.group(2);
        int shift = switch (unit.charAt(0)) {
            case 'K' -> 10;
            case 'M' -> 20;
            case 'G' -> 30;
            case 'T' -> 40;
            default -> 0;
        };
        long number = Long.parseLong(matcher.group(1));
        if (number > Long.MAX_VALUE >> shift) {
            throw new TypeConversionException("'" + text + "' is more than can be counted");
        }
        return new ByteSize(number << shift);
    }
}
