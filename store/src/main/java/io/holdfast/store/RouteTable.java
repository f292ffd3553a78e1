package io.holdfast.store;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Route texts and their numbers, in the file {@code routes} and its copy {@code routes.bak}: line n is route n. A number never
 * changes its meaning: if both are lost, the numbers in use get placeholders and the configured routes get new ones.
 */
final class RouteTable {
    /** Routes a data directory may see in its life. */
    static final int MAX_ROUTES = 256;

    static final String NAME = "routes";
    static final String COPY_NAME = "routes.bak";

    private static final Logger LOGGER = LoggerFactory.getLogger(RouteTable.class);

    private final Path file;
    private final Path copy;
    private List<String> texts;
    private boolean isWhole;

    private RouteTable(final Path directory) throws IOException {
        file = directory.resolve(NAME);
        copy = directory.resolve(COPY_NAME);
        final List<String> lines = DurableFiles.readText(file);
        final List<String> copied = DurableFiles.readText(copy);
        isWhole = lines != null && copied != null;
        if (lines != null) {
            texts = List.copyOf(lines);
        } else {
            texts = copied == null ? List.of() : List.copyOf(copied);
        }
    }

    static RouteTable read(final Path directory) throws IOException {
        return new RouteTable(directory);
    }

    /**
     * Gives each text that is not known yet a number, and makes that durable.
     *
     * @param configured texts.
     * @param used       numbers below it occur in the store.
     */
    void add(final List<String> configured, final int used) throws IOException, StoreException {
        final List<String> all = new ArrayList<>(texts);
        if (all.size() < used) {
            LOGGER.error(
                    "{} and its copy are damaged: what the routes 0 to {} were is not known any more", file, used - 1);
        }
        while (all.size() < used) {
            all.add("lost route " + all.size());
        }
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
        if (all.size() != texts.size() || !isWhole) {
            DurableFiles.replaceText(file, all);
            DurableFiles.replaceText(copy, all);
            texts = List.copyOf(all);
            isWhole = true;
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
