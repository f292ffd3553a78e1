package io.holdfast.proxy.cli;

import java.util.ArrayList;
import java.util.List;

/**
 * Splits text into arguments as a shell would, without expanding anything.
 *
 * <p>Blanks and line ends separate. {@code '…'} is taken as it stands; in {@code "…"} a backslash makes {@code "} and
 * {@code \} plain; outside of quotes it makes any character plain, and joins a line to the next. Quotes may begin in the
 * middle of a word: {@code --route='hold #'}.
 */
final class ArgumentLine {
    private final String text;
    private final boolean comments;
    private final List<String> words = new ArrayList<>();
    private final StringBuilder word = new StringBuilder();
    private boolean inWord;
    private int at;

    private ArgumentLine(String text, boolean comments) {
        this.text = text;
        this.comments = comments;
    }

    /** @throws IllegalArgumentException for a quote without its end. */
    static List<String> split(String text) {
        return new ArgumentLine(text, false).split();
    }

    /** As {@link #split}, where a {@code #} that begins a word begins a comment, up to the end of the line. */
    static List<String> splitWithComments(String text) {
        return new ArgumentLine(text, true).split();
    }

    private List<String> split() {
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (Character.isWhitespace(c)) {
                endWord();
            } else if (c == '\'' || c == '"') {
                inWord = true;
                quoted(c);
            } else if (c == '\\') {
                escaped();
            } else if (c == '#' && comments && !inWord) {
                int end = text.indexOf('\n', at);
                at = end < 0 ? text.length() : end;
            } else {
                inWord = true;
                word.append(c);
            }
        }
        endWord();
        return words;
    }

    private void endWord() {
        if (inWord) {
            words.add(word.toString());
            word.setLength(0);
            inWord = false;
        }
    }

    private void quoted(char quote) {
        int start = at;
        while (at < text.length()) {
            char c = text.charAt(at++);
            if (c == quote) {
                return;
            }
            boolean escape = c == '\\' && quote == '"' && at < text.length() && "\"\\".indexOf(text.charAt(at)) >= 0;
            word.append(escape ? text.charAt(at++) : c);
        }
        throw new IllegalArgumentException(
                "a " + quote + " in line " + text.substring(0, start).lines().count() + " has no second one");
    }

    private void escaped() {
        if (text.startsWith("\r\n", at)) {
            at += 2;
        } else if (text.startsWith("\n", at)) {
            at++;
        } else if (at == text.length()) {
            throw new IllegalArgumentException("a backslash at the end stands before nothing");
        } else {
            inWord = true;
            word.append(text.charAt(at++));
        }
    }
}
