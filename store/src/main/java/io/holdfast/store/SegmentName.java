package io.holdfast.store;

import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * File names of segments. The log names a file after a minute of the clock; the clock it is given is the segment number in
 * minutes, so 1 is {@code 19700101-0001}.
 */
final class SegmentName {
    /** Written by the running process through the log library. */
    static final String LIVE = ".cq4";

    /** From an earlier process: out of the library's sight, which would map and extend each such file when it starts. */
    static final String SEALED = ".seg";

    /** Zero-filled, waits for its turn. */
    static final String PRECREATED = ".precreated";

    /** Set aside by the log library because it could not make sense of it. */
    static final String DISCARDED = ".discard";

    /** Set aside by us, because there are intact records behind a damaged place at its end. */
    static final String DAMAGED = ".damaged";

    private static final DateTimeFormatter FORMAT = DateTimeFormatter.ofPattern("uuuuMMdd-HHmm", Locale.ROOT);
    private static final int SECONDS_PER_SEGMENT = 60;

    private SegmentName() {}

    static String of(final int segment, final String suffix) {
        return LocalDateTime.ofEpochSecond((long) segment * SECONDS_PER_SEGMENT, 0, ZoneOffset.UTC)
                        .format(FORMAT)
                + suffix;
    }

    /** The segment number of a file with that suffix, or -1 if the name is not one of ours. */
    static int numberOf(final Path file, final String suffix) {
        final String name = String.valueOf(file.getFileName());
        if (!name.endsWith(suffix)) {
            return -1;
        }
        try {
            final String minute = name.substring(0, name.length() - suffix.length());
            return (int) (LocalDateTime.parse(minute, FORMAT).toEpochSecond(ZoneOffset.UTC) / SECONDS_PER_SEGMENT);
        } catch (final DateTimeException e) {
            return -1;
        }
    }
}
