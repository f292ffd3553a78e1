package io.holdfast.proxy.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Quotes, backslashes, comments. */
class ArgumentLineTest {
    static List<Arguments> lines() {
        return List.of(
                Arguments.of("", List.of()),
                Arguments.of(" \t\r\n ", List.of()),
                Arguments.of("a  b\tc\r\nd\n", List.of("a", "b", "c", "d")),
                Arguments.of("'hold #' \"outbox a/#\"", List.of("hold #", "outbox a/#")),
                Arguments.of("--route='hold #'", List.of("--route=hold #")),
                Arguments.of("'it'\\''s' \"it's\"", List.of("it's", "it's")),
                Arguments.of("\"a \\\"b\\\" \\\\ \\n $x\" 'a\\'", List.of("a \"b\" \\ \\n $x", "a\\")),
                Arguments.of("a\\ b \\# \\' c\\\\d", List.of("a b", "#", "'", "c\\d")),
                Arguments.of("a \\\n  b\\\r\nc", List.of("a", "bc")),
                Arguments.of("'' \"\" x''", List.of("", "", "x")),
                Arguments.of("'two\nlines'", List.of("two\nlines")),
                Arguments.of("a#b 'c'#d", List.of("a#b", "c#d")));
    }

    @ParameterizedTest
    @MethodSource("lines")
    void isSplitAsAShellWould(String line, List<String> words) {
        assertEquals(words, ArgumentLine.split(line));
        assertEquals(words, ArgumentLine.splitWithComments(line));
    }

    @Test
    void aCommentBeginsWhereAWordWouldAndEndsWithItsLine() {
        String text = "# 'first\n--route 'hold #' # rest\n#\n--listen mqtt://h:1#x # end";
        assertEquals(List.of("--route", "hold #", "--listen", "mqtt://h:1#x"), ArgumentLine.splitWithComments(text));
        assertEquals(List.of("hold", "#", "x"), ArgumentLine.split("hold # x"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\n'b", "a\n\"b", "a\n b\"c\\\"", "a\n''' "})
    void aQuoteWithoutItsEndIsNamedWithItsLine(String text) {
        String message = assertThrows(IllegalArgumentException.class, () -> ArgumentLine.split(text))
                .getMessage();
        assertTrue(message.contains("line 2"), message);
    }

    @Test
    void aBackslashBeforeNothingIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> ArgumentLine.split("a\\"));
    }

    @Test
    void whatIsQuotedComesBackAsItWas() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        String letters = "ab #'\"\\\n\r\t=@$é€";
        for (int round = 0; round < 2_000; round++) {
            List<String> words = IntStream.range(0, random.nextInt(5))
                    .mapToObj(i -> randomWord(random, letters))
                    .toList();
            StringBuilder line = new StringBuilder();
            words.forEach(
                    word -> line.append('\'').append(word.replace("'", "'\\''")).append("' "));
            assertEquals(words, ArgumentLine.splitWithComments(line.toString()), () -> "seed " + seed);
        }
    }

    private static String randomWord(Random random, String letters) {
        StringBuilder word = new StringBuilder();
        for (int i = random.nextInt(8); i > 0; i--) {
            word.append(letters.charAt(random.nextInt(letters.length())));
        }
        return word.toString();
    }
}
