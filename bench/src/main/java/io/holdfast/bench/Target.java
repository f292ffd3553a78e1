package io.holdfast.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the load is put on: Mosquitto, or a proxy in front of that Mosquitto; on loopback, in a process of its own. */
final class Target implements AutoCloseable {
    private static final Duration DRAIN_LIMIT = Duration.ofMinutes(3);
    private static final Pattern PORT = Pattern.compile("127\\.0\\.0\\.1:(\\d+)");
    private static final String LEDGER_TOTAL = "\"total\"";

    private final String label;
    private final ServerProcess process;
    private final int port;
    private final URI admin;
    private final HttpClient http;

    private Target(String label, ServerProcess process, int port, URI admin) {
        this.label = label;
        this.process = process;
        this.port = port;
        this.admin = admin;
        this.http = admin == null ? null : HttpClient.newHttpClient();
    }

    /** Mosquitto without persistence, its queue limits raised as docs/OPERATIONS.md asks for. */
    static Target mosquitto(String program, Path directory) throws IOException, InterruptedException {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        return mosquitto(program, directory, port);
    }

    /** As above, on this port. */
    static Target mosquitto(String program, Path directory, int port) throws IOException, InterruptedException {
        Path config = Files.write(
                directory.resolve("mosquitto.conf"),
                List.of(
                        "listener " + port + " 127.0.0.1",
                        "allow_anonymous true",
                        "user root",
                        "persistence false",
                        "max_queued_messages 0",
                        "max_inflight_messages 1000",
                        "set_tcp_nodelay true",
                        "log_dest stderr",
                        "log_type error",
                        "log_type warning",
                        "log_type information"));
        ServerProcess process = ServerProcess.start("mosquitto", List.of(program, "-c", config.toString()), Map.of());
        process.awaitLine(" running");
        return new Target("Mosquitto directly", process, port, null);
    }

    /** Mosquitto on the path or in the usual places. */
    static String findMosquitto() throws IOException {
        String path = System.getenv("PATH") + ":/usr/sbin:/usr/local/sbin:/opt/homebrew/sbin";
        for (String directory : path.split(":", -1)) {
            Path program = Path.of(directory, "mosquitto");
            if (Files.isExecutable(program)) {
                return program.toString();
            }
        }
        throw new IOException("mosquitto is not installed: install it, or give its path with --mosquitto");
    }

    /** The proxy from its distribution directory, in front of {@code upstream}. */
    static Target proxy(
            String label, Path home, Path dataDirectory, Target upstream, String javaOptions, List<String> flags)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                home.resolve("bin/holdfast").toString(),
                "run",
                "--upstream",
                "mqtt://127.0.0.1:" + upstream.port,
                "--listen",
                "mqtt://127.0.0.1:0",
                "--admin",
                "127.0.0.1:0",
                "--data-dir",
                dataDirectory.toString()));
        command.addAll(flags);
        ServerProcess process = ServerProcess.start("holdfast", command, Map.of("HOLDFAST_JAVA_OPTS", javaOptions));
        String listening = process.awaitLine("listening on ");
        URI admin = URI.create(process.awaitLine("admin on ").replaceFirst(".*admin on ", "") + "/ledger");
        process.awaitLine("holdfast ready");
        Matcher port = PORT.matcher(listening);
        if (!port.find()) {
            throw new IOException("no port in '" + listening + "'");
        }
        return new Target(label, process, Integer.parseInt(port.group(1)), admin);
    }

    String label() {
        return label;
    }

    int port() {
        return port;
    }

    /** CPU time of its own process so far. */
    Duration cpuTime() {
        return process.cpuTime();
    }

    /** Outbox records that the broker has acknowledged so far; -1 for Mosquitto itself. */
    long delivered() throws IOException, InterruptedException {
        return admin == null ? -1 : ledger("delivered");
    }

    /** Outbox records that the broker has not acknowledged. */
    long pending() throws IOException, InterruptedException {
        return ledger("pending");
    }

    /** Anonymous resident memory of its process, in KiB: heap, direct buffers, stacks, but no mapped files. Linux only. */
    long anonymousKib() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/" + process.pid() + "/status"))) {
            if (line.startsWith("RssAnon:")) {
                return Long.parseLong(line.replaceAll("\\D", ""));
            }
        }
        throw new IOException("no RssAnon in /proc/" + process.pid() + "/status");
    }

    /** SIGKILL. */
    void kill() throws InterruptedException {
        process.kill();
    }

    /** Waits until the outbox is empty, so that no target works off a backlog while another one is measured. */
    void awaitDrained() throws IOException, InterruptedException {
        if (admin == null) {
            return;
        }
        for (long leftMs = DRAIN_LIMIT.toMillis(); ledger("pending") > 0; leftMs -= 100) {
            if (leftMs <= 0) {
                throw new IOException(label + " still has a backlog after " + DRAIN_LIMIT);
            }
            Thread.sleep(100);
        }
    }

    private long ledger(String term) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(admin).build();
        String body = http.send(request, HttpResponse.BodyHandlers.ofString()).body();
        Matcher matcher = Pattern.compile(String.format(Locale.ROOT, "\"%s\"\\s*:\\s*(\\d+)", term))
                .matcher(body.substring(body.indexOf(LEDGER_TOTAL)));
        if (!matcher.find()) {
            throw new IOException("no " + term + " in " + body);
        }
        return Long.parseLong(matcher.group(1));
    }

    @Override
    public void close() {
        process.close();
    }
}
