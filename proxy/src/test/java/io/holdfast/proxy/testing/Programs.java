package io.holdfast.proxy.testing;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Where the programs that tests start are found. */
final class Programs {
    private Programs() {}

    /** The program's path; looks in sbin too, which is not on every user's PATH. */
    static String find(final String name) {
        final String path = System.getenv("PATH") + File.pathSeparator + "/usr/sbin:/usr/local/sbin:/opt/homebrew/sbin";
        for (final String directory : path.split(File.pathSeparator, -1)) {
            final Path program = Path.of(directory, name);
            if (Files.isExecutable(program)) {
                return program.toString();
            }
        }
        throw new AssertionError(name + " is not installed: 'make test' installs it, or says what to install");
    }

    /** The java command of this JVM. */
    static String java() {
        final boolean windows =
                System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("windows");
        return Path.of(System.getProperty("java.home"), "bin", windows ? "java.exe" : "java")
                .toString();
    }

    /** The diagnostic command of this JDK. */
    static String jcmd() {
        return Path.of(java()).resolveSibling("jcmd").toString();
    }

    /** What this JVM was started with so that Chronicle and Agrona work; a child that runs our code needs the same. */
    static List<String> storeFlags() {
        final List<String> flags = new ArrayList<>();
        for (final String argument : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            if (argument.startsWith("--add-")
                    || argument.startsWith("--enable-native-access")
                    || argument.startsWith("--sun-misc-unsafe")
                    || argument.startsWith("-Dchronicle.")
                    || argument.startsWith("-Dqueue.")) {
                flags.add(argument);
            }
        }
        return flags;
    }

    /** The root of the source tree; Maven passes it, an IDE may not. */
    static Path root() {
        final String given = System.getProperty("holdfast.root");
        Path directory = Path.of(given == null ? "" : given).toAbsolutePath();
        while (directory != null && !Files.isDirectory(directory.resolve("proxy/devbroker"))) {
            directory = directory.getParent();
        }
        if (directory == null) {
            throw new AssertionError("start the tests inside the source tree, or set -Dholdfast.root");
        }
        return directory;
    }
}
