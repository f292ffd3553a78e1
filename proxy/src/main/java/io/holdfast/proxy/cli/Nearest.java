package io.holdfast.proxy.cli;

import java.util.Collection;

/** Names what somebody who misspelt a word may have meant. */
final class Nearest {
    private Nearest() {}

    /**
     * {@code ": did you mean 'x'?"}, or nothing if no right word is near: at most half of the letters left out, put in,
     * changed or swapped.
     *
     * @param prefix what all words begin with, and what does not count
     */
    static String hint(String word, Collection<String> right, String prefix) {
        String stem = word.startsWith(prefix) ? word.substring(prefix.length()) : word;
        int least = (stem.length() + 1) / 2 + 1;
        String nearest = null;
        for (String candidate : right) {
            String other = candidate.startsWith(prefix) ? candidate.substring(prefix.length()) : candidate;
            if (Math.abs(stem.length() - other.length()) < least) {
                int distance = distance(stem, other);
                if (distance < least) {
                    least = distance;
                    nearest = candidate;
                }
            }
        }
        return nearest == null ? "" : ": did you mean '" + nearest + "'?";
    }

    /** The optimal string alignment distance. */
    private static int distance(String a, String b) {
        int[][] d = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    d[i][j] = i + j;
                    continue;
                }
                int change = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
                d[i][j] = Math.min(Math.min(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + change);
                if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
                    d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
                }
            }
        }
        return d[a.length()][b.length()];
    }
}
