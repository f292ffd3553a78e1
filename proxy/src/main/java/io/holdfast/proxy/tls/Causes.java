package io.holdfast.proxy.tls;

import java.util.Locale;

/** Finds its way in the nested exceptions of two TLS providers. */
final class Causes {
    private Causes() {}

    /** The first of this type among {@code error} and its causes, or null. */
    static <T extends Throwable> T find(Throwable error, Class<T> type) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return type.cast(cause);
            }
        }
        return null;
    }

    /** All messages, in capitals with underscores: as BoringSSL writes alerts, and then the JDK's too. */
    static String words(Throwable error) {
        StringBuilder words = new StringBuilder();
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            words.append(cause.getMessage()).append(' ');
        }
        return words.toString().toUpperCase(Locale.ROOT).replace(' ', '_');
    }

    /** The message of the innermost cause, which has the facts; without line breaks. */
    static String innermost(Throwable error) {
        Throwable cause = error;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        String message = cause.getMessage() == null ? cause.toString() : cause.getMessage();
        return message.lines().findFirst().orElse("");
    }

    static boolean anyOf(String words, String... parts) {
        for (String part : parts) {
            if (words.contains(part)) {
                return true;
            }
        }
        return false;
    }
}
