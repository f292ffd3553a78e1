package io.holdfast.proxy.admin;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The socket in the data directory over which commands reach a running proxy. Whoever may open it is whoever may read the data
 * directory: the owner. One command at a time, on a thread of its own.
 *
 * <p>A request is a count and so many strings (the arguments); an answer is pieces of output, each with its stream's number
 * and a length, and at the end {@link #EXIT} and the exit code.
 */
public final class ControlSocket implements AutoCloseable {
    /** Runs a command line and says its exit code. */
    public interface Commands {
        /** Runs it; what it writes goes to the one who asked. */
        int run(String[] arguments, PrintWriter out, PrintWriter err);
    }

    private static final Logger LOG = LoggerFactory.getLogger(ControlSocket.class);
    private static final String NAME = "control.sock";
    private static final int OUT = 1;
    private static final int ERR = 2;
    private static final int EXIT = 3;
    private static final int MAX_ARGUMENTS = 1_000;

    private final Path file;
    private final ServerSocketChannel server;
    private final Commands commands;
    private final Thread thread;

    private ControlSocket(Path file, ServerSocketChannel server, Commands commands) {
        this.file = file;
        this.server = server;
        this.commands = commands;
        this.thread = new Thread(this::serve, "control");
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * Listens, as the owner of the data directory: a socket that an earlier process left is replaced.
     *
     * @return empty if there can be no socket there; the reason is logged
     */
    public static Optional<ControlSocket> open(Path dataDirectory, Commands commands) {
        Path file = dataDirectory.toAbsolutePath().resolve(NAME);
        try {
            Files.deleteIfExists(file);
            ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
            try {
                server.bind(UnixDomainSocketAddress.of(file));
                Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
                return Optional.of(new ControlSocket(file, server, commands));
            } catch (IOException | RuntimeException e) {
                server.close();
                throw e;
            }
        } catch (IOException | RuntimeException e) {
            LOG.warn(
                    "No control socket {}: {}; 'holdfast dlq' works only while the proxy is stopped",
                    file,
                    e.getMessage());
            return Optional.empty();
        }
    }

    private void serve() {
        while (server.isOpen()) {
            try (SocketChannel channel = server.accept()) {
                answer(channel);
            } catch (IOException e) {
                LOG.debug("control: {}", e.getMessage());
            } catch (RuntimeException e) {
                LOG.error("A command failed", e);
            }
        }
    }

    private void answer(SocketChannel channel) throws IOException {
        DataInputStream in = new DataInputStream(new BufferedInputStream(Channels.newInputStream(channel)));
        int count = in.readInt();
        if (count < 0 || count > MAX_ARGUMENTS) {
            throw new IOException(count + " arguments");
        }
        String[] arguments = new String[count];
        for (int i = 0; i < count; i++) {
            arguments[i] = in.readUTF();
        }
        DataOutputStream answer = new DataOutputStream(new BufferedOutputStream(Channels.newOutputStream(channel)));
        int code;
        try (PrintWriter out = writer(answer, OUT);
                PrintWriter err = writer(answer, ERR)) {
            code = commands.run(arguments, out, err);
        }
        answer.writeByte(EXIT);
        answer.writeInt(code);
        answer.flush();
    }

    private static PrintWriter writer(DataOutputStream answer, int stream) {
        return new PrintWriter(new OutputStreamWriter(new Pieces(answer, stream), StandardCharsets.UTF_8));
    }

    /** Each write becomes a piece of the answer; it does not close it. */
    private static final class Pieces extends OutputStream {
        private final DataOutputStream answer;
        private final int stream;

        Pieces(DataOutputStream answer, int stream) {
            this.answer = answer;
            this.stream = stream;
        }

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            answer.writeByte(stream);
            answer.writeInt(length);
            answer.write(bytes, offset, length);
        }

        @Override
        public void flush() throws IOException {
            answer.flush();
        }
    }

    /**
     * Has a running proxy run a command.
     *
     * @return its exit code; empty if no proxy runs on that data directory
     * @throws IOException if the proxy ended in the middle
     */
    public static Optional<Integer> ask(Path dataDirectory, String[] arguments, PrintWriter out, PrintWriter err)
            throws IOException {
        Path file = dataDirectory.toAbsolutePath().resolve(NAME);
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            try {
                channel.connect(UnixDomainSocketAddress.of(file));
            } catch (IOException e) {
                LOG.debug("{} is of a process that is gone", file);
                return Optional.empty();
            }
            DataOutputStream request =
                    new DataOutputStream(new BufferedOutputStream(Channels.newOutputStream(channel)));
            request.writeInt(arguments.length);
            for (String argument : arguments) {
                request.writeUTF(argument);
            }
            request.flush();
            DataInputStream in = new DataInputStream(new BufferedInputStream(Channels.newInputStream(channel)));
            while (true) {
                int kind = in.readByte();
                if (kind == EXIT) {
                    out.flush();
                    err.flush();
                    return Optional.of(in.readInt());
                }
                String piece = new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8);
                (kind == OUT ? out : err).print(piece);
            }
        }
    }

    @Override
    public void close() {
        try {
            server.close();
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOG.debug("while closing {}", file, e);
        }
    }
}
