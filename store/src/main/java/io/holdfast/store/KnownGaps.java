package io.holdfast.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The sequences of a lane that a repair has found missing, in the file {@code gaps}: a later check need not say them again. */
final class KnownGaps {
    private static final String NAME = "gaps";

    private final Path file;
    private final List<String> lines;

    private KnownGaps(final Path file, final List<String> lines) {
        this.file = file;
        this.lines = lines;
    }

    static KnownGaps read(final Path lane) throws IOException {
        final Path file = lane.resolve(NAME);
        final List<String> lines = DurableFiles.readText(file);
        return new KnownGaps(file, lines == null ? new ArrayList<>() : new ArrayList<>(lines));
    }

    boolean contains(final long first, final long last) {
        return lines.contains(line(first, last));
    }

    void add(final long first, final long last) throws IOException {
        if (!contains(first, last)) {
            lines.add(line(first, last));
            DurableFiles.replaceText(file, lines);
        }
    }

    private static String line(final long first, final long last) {
        return first + "-" + last;
    }
}
