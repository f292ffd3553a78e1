package io.holdfast.proxy.cli;

import java.nio.file.Path;
import picocli.CommandLine.Option;

/** {@code --data-dir} of commands that work on a data directory. */
final class DataDirectory {
    @Option(names = "--data-dir", paramLabel = "DIR", required = true, description = "The data directory.")
    private Path directory;

    Path directory() {
        return directory;
    }
}
