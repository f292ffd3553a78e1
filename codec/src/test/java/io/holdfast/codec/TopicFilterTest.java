package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TopicFilterTest {
    private static boolean matches(String filter, String name) {
        byte[] bytes = ("x" + name + "x").getBytes(StandardCharsets.UTF_8);
        TopicFilter compiled = TopicFilter.compile(filter);
        boolean inArray = compiled.matches(bytes, 1, bytes.length - 2);
        assertEquals(inArray, compiled.matches(Unpooled.wrappedBuffer(bytes), 1, bytes.length - 2));
        return inArray;
    }

    @ParameterizedTest
    @CsvSource({
        "#, a",
        "#, /",
        "#, a/b/c",
        "a/#, a",
        "a/#, a/",
        "a/#, a/b/c",
        "+, a",
        "+/+, /",
        "+/+, a/b",
        "/+, /a",
        "a/+/c, a/b/c",
        "a/+/c, a//c",
        "a/+, a/",
        "+/b/#, a/b",
        "a, a",
        "/, /",
        "/#, /",
        "$SYS/#, $SYS/x",
        "$SYS/#, $SYS",
        "$SYS/+, $SYS/x",
        "a/+/#, a/b",
        "+/#, a",
        "漢/+, 漢/é",
        "a//b, a//b"
    })
    void matching(String filter, String name) {
        assertTrue(matches(filter, name));
    }

    @ParameterizedTest
    @CsvSource({
        "#, $SYS",
        "#, $SYS/x",
        "+, $SYS",
        "+/x, $SYS/x",
        "a, b",
        "a, a/b",
        "a/b, a",
        "a/#, ab",
        "a/#, b/a",
        "+, a/b",
        "+, /a",
        "a/+, a",
        "a/+/c, a/b/d",
        "a/+/c, a/b/c/d",
        "ab, a",
        "a, ab",
        "a/b/#, a",
        "a/+/#, a",
        "/#, a"
    })
    void notMatching(String filter, String name) {
        assertFalse(matches(filter, name));
    }

    @Test
    void anEmptyNameMatchesNothing() {
        assertFalse(TopicFilter.compile("#").matches(new byte[0], 0, 0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "a#", "#/a", "a/#/b", "a/b#", "+a", "a+", "a/+b", "##", "++", "a\0b", "\uD800"})
    void refuses(String filter) {
        IllegalArgumentException e = assertThrows(IllegalArgumentException.class, () -> TopicFilter.compile(filter));
        assertTrue(e.getMessage().startsWith("topic filter '" + filter + "': "), e.getMessage());
        byte[] bytes = filter.equals("\uD800") ? Bytes.hex("ed a0 80") : filter.getBytes(StandardCharsets.UTF_8);
        assertFalse(TopicFilter.isValidFilter(Unpooled.wrappedBuffer(bytes), 0, bytes.length));
    }

    @Test
    void levelsAreBounded() {
        assertEquals(200, TopicFilter.compile("/".repeat(200)).toString().length());
        assertThrows(IllegalArgumentException.class, () -> TopicFilter.compile("+/".repeat(201) + "+"));
    }

    @Test
    void stripsTheShare() {
        assertEquals("a/+", TopicFilter.stripShare("$share/g/a/+"));
        assertEquals("/a", TopicFilter.stripShare("$share/g//a"));
        assertEquals("a/b", TopicFilter.stripShare("a/b"));
        assertEquals("$sharex/a", TopicFilter.stripShare("$sharex/a"));
        for (String bad :
                List.of("$share", "$share/", "$share/g", "$share/g/", "$share//a", "$share/+/a", "$share/g#/a")) {
            assertThrows(IllegalArgumentException.class, () -> TopicFilter.stripShare(bad), bad);
        }
    }

    /** The rules level by level, recursive and slow. */
    private static boolean reference(List<String> filter, List<String> name) {
        if (!filter.isEmpty() && filter.get(0).equals("#")) {
            return true;
        }
        if (filter.isEmpty() || name.isEmpty()) {
            return filter.isEmpty() && name.isEmpty();
        }
        return (filter.get(0).equals("+") || filter.get(0).equals(name.get(0)))
                && reference(filter.subList(1, filter.size()), name.subList(1, name.size()));
    }

    private static String levels(Random random, String[] from, int most) {
        String[] levels = new String[1 + random.nextInt(most)];
        Arrays.setAll(levels, i -> Seed.oneOf(random, from));
        return String.join("/", levels);
    }

    @Test
    void saysWhatTheRulesSay() {
        Random random = Seed.random(getClass());
        int matched = 0;
        for (int round = 0; round < 100_000; round++) {
            String filter =
                    levels(random, new String[] {"a", "b", "+", "", "ab"}, 4) + (random.nextInt(3) == 0 ? "/#" : "");
            String name = levels(random, new String[] {"a", "b", "", "ab"}, 5);
            if (!filter.isEmpty() && !name.isEmpty()) {
                boolean expected = reference(Arrays.asList(filter.split("/", -1)), Arrays.asList(name.split("/", -1)));
                assertEquals(expected, matches(filter, name), filter + " on " + name);
                matched += expected ? 1 : 0;
            }
        }
        assertTrue(matched > 1000);
    }
}
