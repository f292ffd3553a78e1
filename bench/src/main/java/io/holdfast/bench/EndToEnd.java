package io.holdfast.bench;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Acknowledged QoS 1 messages per second and PUBACK latency through the proxy (fsync, page-cache, hold), beside
 * Mosquitto directly: in one run, in alternating rounds, every server in a process of its own. Prints one Markdown table
 * with the medians over the rounds; the ratio is the median of the rounds' own ratios. Exit codes: 0 ok, 1 failed, 2 bad
 * usage.
 */
@Command(
        name = "EndToEnd",
        mixinStandardHelpOptions = true,
        description = "QoS 1 through the proxy beside Mosquitto directly; prints a Markdown table.")
public final class EndToEnd implements Callable<Integer> {
    private static final long WARM_UP_MS = 1000;
    private static final int FORCES = 200;
    private static final int FORCED_BYTES = 4096;

    @Option(
            names = "--seconds",
            defaultValue = "5",
            description = "Measured seconds per cell. Default: ${DEFAULT-VALUE}.")
    private int seconds;

    @Option(
            names = "--rounds",
            defaultValue = "3",
            description = "Rounds over all targets. One more comes before them and is thrown away. Default: 3.")
    private int rounds;

    @Option(
            names = "--load",
            defaultValue = "1x1,50x32",
            split = ",",
            description = "Connections x window; repeatable, or with commas. Default: ${DEFAULT-VALUE}.")
    private List<String> loads;

    @Option(names = "--payload", defaultValue = "256", description = "Bytes of a payload, up to 16,000. Default: 256.")
    private int payload;

    @Option(
            names = "--only",
            split = ",",
            defaultValue = "fsync,page-cache,hold",
            description = "Which proxies to measure. Default: ${DEFAULT-VALUE}.")
    private List<String> only;

    @Option(
            names = "--holdfast",
            defaultValue = "proxy/target/holdfast",
            description = "The proxy's distribution directory. Default: ${DEFAULT-VALUE}.")
    private Path holdfast;

    @Option(
            names = "--work-dir",
            defaultValue = "bench/target",
            description = "Where the outboxes lie: the disk that is measured. Default: ${DEFAULT-VALUE}.")
    private Path workDirectory;

    @Option(names = "--mosquitto", defaultValue = "", description = "Mosquitto's path. Default: looked for.")
    private String mosquitto;

    @Option(
            names = "--proxy-java-options",
            defaultValue = "-Xmx256m",
            description = "JVM options of each proxy; %%n becomes its name. Default: ${DEFAULT-VALUE}.")
    private String proxyJavaOptions;

    private final NanoClock clock = SystemNanoClock.INSTANCE;
    private final Map<String, List<Cell>> cells = new LinkedHashMap<>();

    /** One target under one load in one round. */
    private record Cell(
            double perSecond,
            double ratio,
            double p50Ms,
            double p99Ms,
            double p999Ms,
            double deliveredPerSecond,
            double cpuMicros) {}

    /** Runs it. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new EndToEnd()).execute(arguments));
    }

    @Override
    public Integer call() throws Exception {
        Files.createDirectories(workDirectory);
        Path directory = Files.createTempDirectory(workDirectory.toAbsolutePath(), "end-to-end-");
        List<Target> targets = new ArrayList<>();
        try (ClosedLoopLoad load = new ClosedLoopLoad(clock)) {
            System.out.println(conditions(directory));
            start(targets, directory);
            for (int round = 0; round <= rounds; round++) {
                for (String text : loads) {
                    measure(load, shape(text), targets, round);
                }
            }
            System.out.println(table());
            return 0;
        } finally {
            for (int i = targets.size() - 1; i >= 0; i--) {
                targets.get(i).close();
            }
            delete(directory);
        }
    }

    private void start(List<Target> targets, Path directory) throws IOException, InterruptedException {
        Target broker = Target.mosquitto(mosquitto.isEmpty() ? Target.findMosquitto() : mosquitto, directory);
        targets.add(broker);
        for (String name : only) {
            List<String> flags = switch (name) {
                case "fsync", "page-cache" -> List.of("--durability", name);
                case "hold" -> List.of("--route", "hold #");
                default -> throw new IOException("--only takes fsync, page-cache and hold, not " + name);
            };
            String label = "Holdfast, " + (name.equals("hold") ? "hold" : "outbox, " + name);
            targets.add(Target.proxy(
                    label, holdfast, directory.resolve(name), broker, proxyJavaOptions.replace("%n", name), flags));
        }
    }

    private void measure(ClosedLoopLoad load, ClosedLoopLoad.Shape shape, List<Target> targets, int round)
            throws IOException, InterruptedException {
        double direct = 0;
        for (Target target : targets) {
            Reading before = new Reading();
            Reading after = new Reading();
            AckRecorder acks = load.run(
                    target.port(),
                    shape,
                    WARM_UP_MS,
                    seconds * 1000L,
                    () -> before.take(target),
                    () -> after.take(target));
            target.awaitDrained();
            direct = direct == 0 ? acks.perSecond() : direct;
            double elapsedSeconds = (after.nanos - before.nanos) / 1e9;
            Cell cell = new Cell(
                    acks.perSecond(),
                    acks.perSecond() / direct,
                    acks.latencyMs(50),
                    acks.latencyMs(99),
                    acks.latencyMs(99.9),
                    (after.delivered - before.delivered) / elapsedSeconds,
                    (after.cpuNanos - before.cpuNanos) / 1e3 / acks.count());
            System.out.printf(Locale.ROOT, "round %d of %d, %s, %s: %s%n", round, rounds, shape, target.label(), cell);
            if (round > 0) {
                cells.computeIfAbsent("| " + shape + " | " + target.label(), key -> new ArrayList<>())
                        .add(cell);
            }
        }
    }

    /** What a target's own process has done so far. */
    private final class Reading {
        private long nanos;
        private long cpuNanos;
        private long delivered;

        void take(Target target) {
            nanos = clock.nanoTime();
            cpuNanos = target.cpuTime().toNanos();
            try {
                delivered = target.delivered();
            } catch (IOException e) {
                throw new IllegalStateException(e.getMessage(), e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("interrupted", e);
            }
        }
    }

    private String table() {
        StringBuilder text =
                new StringBuilder("\n| connections × window | through | acknowledged/s | of direct | p50 ms"
                        + " | p99 ms | p99.9 ms | delivered/s | CPU µs per message |\n"
                        + "|---|---|---:|---:|---:|---:|---:|---:|---:|\n");
        cells.forEach((row, list) -> text.append(row)
                .append(String.format(
                        Locale.ROOT,
                        " | %,.0f | %.2f | %.3f | %.3f | %.3f | %s | %.1f |%n",
                        median(list, Cell::perSecond),
                        median(list, Cell::ratio),
                        median(list, Cell::p50Ms),
                        median(list, Cell::p99Ms),
                        median(list, Cell::p999Ms),
                        row.contains("outbox")
                                ? String.format(Locale.ROOT, "%,.0f", median(list, Cell::deliveredPerSecond))
                                : "as acknowledged",
                        median(list, Cell::cpuMicros))));
        return text.toString();
    }

    private static double median(List<Cell> list, ToDoubleFunction<Cell> field) {
        double[] values = list.stream().mapToDouble(field).sorted().toArray();
        int middle = values.length / 2;
        return values.length % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    }

    private String conditions(Path directory) throws IOException {
        FileStore disk = Files.getFileStore(directory);
        return String.format(
                Locale.ROOT,
                "%s, %d processors; Java %s; %s: one forced write of 4 KiB takes %.3f ms (median of %d); %d rounds of"
                        + " %d s, payload %d bytes",
                System.getProperty("os.name") + " " + System.getProperty("os.version"),
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("java.version"),
                disk.type(),
                forceMs(directory),
                FORCES,
                rounds,
                seconds,
                payload);
    }

    /** The disk's own share: what one force costs in a file whose blocks are there already. */
    private double forceMs(Path directory) throws IOException {
        long[] nanos = new long[FORCES];
        try (FileChannel file = FileChannel.open(
                directory.resolve("forced"), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            ByteBuffer block = ByteBuffer.allocateDirect(FORCED_BYTES);
            for (int i = 0; i < FORCES; i++) {
                file.write(block.clear(), (long) i * FORCED_BYTES);
            }
            file.force(true);
            for (int i = 0; i < FORCES; i++) {
                long begin = clock.nanoTime();
                file.write(block.clear(), (long) i * FORCED_BYTES);
                file.force(false);
                nanos[i] = clock.nanoTime() - begin;
            }
        }
        Arrays.sort(nanos);
        return nanos[FORCES / 2] / 1e6;
    }

    private ClosedLoopLoad.Shape shape(String text) {
        String[] parts = text.split("x", -1);
        return new ClosedLoopLoad.Shape(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), payload);
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
