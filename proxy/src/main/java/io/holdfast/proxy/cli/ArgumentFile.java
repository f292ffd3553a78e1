package io.holdfast.proxy.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code @FILE} on the command line stands for the arguments in that file: UTF-8, at most 1 MiB, words as in {@link
 * ArgumentLine}, with comments. {@code @@x} is the argument {@code @x}; inside a file {@code @} means nothing special.
 */
final class ArgumentFile {
    private static final int MAX_BYTES = 1 << 20;

    private ArgumentFile() {}

    /** @throws IllegalArgumentException for a file that cannot be read; the message names it and says what to do. */
    static List<String> expand(String... arguments) {
        List<String> expanded = new ArrayList<>(arguments.length);
        for (String argument : arguments) {
            if (argument.startsWith("@@")) {
                expanded.add(argument.substring(1));
            } else if (argument.startsWith("@")) {
                expanded.addAll(read(argument));
            } else {
                expanded.add(argument);
            }
        }
        return expanded;
    }

    private static List<String> read(String argument) {
        String text = textOf(argument);
        try {
            return ArgumentLine.splitWithComments(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(argument + ": " + e.getMessage(), e);
        }
    }

    private static String textOf(String argument) {
        try (InputStream in = Files.newInputStream(Path.of(argument.substring(1)))) {
            byte[] bytes = in.readNBytes(MAX_BYTES + 1);
            if (bytes.length > MAX_BYTES) {
                throw new IllegalArgumentException(argument + ": the file has more than " + MAX_BYTES + " bytes");
            }
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(argument + ": the file is no UTF-8 text", e);
        } catch (IOException | InvalidPathException e) {
            throw new IllegalArgumentException(
                    argument + ": cannot read the file; write @" + argument + " if no file is meant", e);
        }
    }
}
