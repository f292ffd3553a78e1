package io.holdfast.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** docs/SPEC-COVERAGE.md names only tests that exist, and each statement of a version once, without a gap. */
class SpecCoveragePageTest {
    private static final Pattern TEST = Pattern.compile("`([A-Z]\\w*Test)(?:#(\\w+))?`");
    private static final Pattern ROW = Pattern.compile("^\\| MQTT-([\\d.-]+)-(\\d+) \\|.*\\| (.+) \\|$");
    /** These numbers the specification itself has left out. */
    private static final Set<String> NOT_GIVEN = Set.of("MQTT 5.0 2.2.1-1");

    private final List<String> lines = readPage();
    private final Map<String, String> sources = readTests();

    @Test
    void everyTestThatItNamesExists() {
        List<String> missing = new ArrayList<>();
        for (String line : lines) {
            Matcher test = TEST.matcher(line);
            while (test.find()) {
                String source = sources.get(test.group(1));
                if (source == null || (test.group(2) != null && !source.contains("void " + test.group(2) + "("))) {
                    missing.add(test.group());
                }
            }
        }
        assertEquals(List.of(), missing);
    }

    @Test
    void everyStatementStandsOnceAndHasAnAnswer() {
        Set<String> seen = new HashSet<>();
        Map<String, Integer> last = new HashMap<>();
        String version = "";
        for (String line : lines) {
            version = line.startsWith("## ") ? line.substring(3) : version;
            Matcher row = ROW.matcher(line);
            if (!row.matches()) {
                assertTrue(!line.startsWith("| MQTT-"), () -> "no row as it should be: " + line);
                continue;
            }
            String section = version + " " + row.group(1).replace("3-8.3", "3.8.3"); // misprinted in 3.1.1
            int number = Integer.parseInt(row.group(2));
            assertTrue(seen.add(section + "-" + number), () -> "twice: " + line);
            int next = last.getOrDefault(section, 0) + 1;
            assertEquals(NOT_GIVEN.contains(section + "-" + next) ? next + 1 : next, number, line);
            last.put(section, number);
        }
        assertEquals(392, seen.size());
    }

    private static List<String> readPage() {
        try {
            return Files.readAllLines(root().resolve("docs/SPEC-COVERAGE.md"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The text of every test class, by its simple name. */
    private static Map<String, String> readTests() {
        Map<String, String> all = new HashMap<>();
        for (String module : List.of("codec", "store", "proxy")) {
            try (Stream<Path> files = Files.walk(root().resolve(module).resolve("src/test"))) {
                for (Path file : files.filter(path -> path.toString().endsWith("Test.java"))
                        .toList()) {
                    all.put(file.getFileName().toString().replace(".java", ""), Files.readString(file));
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return all;
    }

    private static Path root() {
        return Path.of(System.getProperty("holdfast.root", ".."));
    }
}
