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

/** The pages name only tests that exist; docs/SPEC-COVERAGE.md has each statement of a version once, without a gap. */
class PagesNameRealTestsTest {
    private static final Pattern TEST = Pattern.compile("`([A-Z]\\w*Test)(?:#(\\w+))?`");
    private static final Pattern METHOD = Pattern.compile("`([a-z]\\w*)`");
    private static final Pattern ROW = Pattern.compile("^\\| MQTT-([\\d.-]+)-(\\d+) \\|.*\\| (.+) \\|$");
    /** These numbers the specification itself has left out. */
    private static final Set<String> NOT_GIVEN = Set.of("MQTT 5.0 2.2.1-1");

    private final Map<String, String> sources = readTests();

    @Test
    void everyTestThatAPageNamesExists() throws IOException {
        List<String> missing = new ArrayList<>();
        List<Path> pages = new ArrayList<>(List.of(root().resolve("README.md")));
        try (Stream<Path> docs = Files.walk(root().resolve("docs"))) {
            docs.filter(path -> path.toString().endsWith(".md")).forEach(pages::add);
        }
        for (Path page : pages) {
            Matcher test = TEST.matcher(Files.readString(page));
            while (test.find()) {
                if (!exists(test.group(1), test.group(2))) {
                    missing.add(page.getFileName() + ": " + test.group());
                }
            }
        }
        assertEquals(List.of(), missing);
    }

    private boolean exists(String testClass, String method) {
        String source = sources.get(testClass);
        return source != null && (method == null || source.contains("void " + method + "("));
    }

    /** In the guarantee matrix the last cell names methods of one class. */
    @Test
    void everyRowOfTheGuaranteesNamesATest() {
        int rows = 0;
        for (String line : readPage("GUARANTEES.md")) {
            if (line.startsWith("| ") && !line.startsWith("| case |")) {
                String cell = line.substring(line.lastIndexOf('|', line.length() - 2) + 1);
                Matcher method = METHOD.matcher(cell);
                boolean isNamed = TEST.matcher(cell).find() || cell.contains("the same");
                while (method.find()) {
                    isNamed = true;
                    assertTrue(exists("GuaranteeMatrixTest", method.group(1)), () -> method.group() + " in " + line);
                }
                assertTrue(isNamed, line);
                rows++;
            }
        }
        assertTrue(rows >= 20, "rows: " + rows);
    }

    @Test
    void everyStatementStandsOnceAndHasAnAnswer() {
        Set<String> seen = new HashSet<>();
        Map<String, Integer> last = new HashMap<>();
        String version = "";
        for (String line : readPage("SPEC-COVERAGE.md")) {
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

    private static List<String> readPage(String name) {
        try {
            return Files.readAllLines(root().resolve("docs").resolve(name));
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
