package io.holdfast.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Route texts and their numbers, in the file {@code routes}: line n is route n. A number never changes its meaning. */
final class RouteTable {
    /** Routes a data directory may see in its life. */
    static final int MAX_ROUTES = 256;

    private static final String NAME = "routes";

    private final Path file;
    private List<String> texts;

    private RouteTable(final Path file, final List<String> texts) {
        this.file = file;
        this.texts = texts;
    }

    static RouteTable read(final Path directory) throws IOException {
        final Path file = directory.resolve(NAME);
        final List<String> lines = DurableFiles.readText(file);
        return new RouteTable(file, lines == null ? List.of() : List.copyOf(lines));
    }

    /** Gives each text that is not known yet a number, and makes that durable. */
    void add(final List<String> configured) throws IOException, StoreException {
        final List<String> all = new ArrayList<>(texts);
        for (final String text : configured) {
            final String line = oneLine(text);
            if (!all.contains(line)) {
                all.add(line);
            }
        }
        if (all.size() > MAX_ROUTES) {
            throw new StoreException(file + " would hold more than " + MAX_ROUTES
                    + " different routes: drain the outbox and use a new --data-dir");
        }
        if (all.size() != texts.size()) {
            DurableFiles.replaceText(file, all);
            texts = List.copyOf(all);
        }
    }

    int numberOf(final String text) {
        return texts.indexOf(oneLine(text));
    }

    String textOf(final int number) {
        return number >= 0 && number < texts.size() ? texts.get(number) : "unknown route " + number;
    }

    int size() {
        return texts.size();
    }

    private static String oneLine(final String text) {
        return text.replace('\n', ' ').replace('\r', ' ');
    }
}
