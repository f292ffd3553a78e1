package io.holdfast.bench;

import io.holdfast.proxy.Transport;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Promise;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * A long outage by volume: with the broker away the outbox is filled, then the proxy is killed and started again, and the broker
 * comes back. Prints a line every few seconds: the backlog, the proxy's anonymous resident memory, how a live publisher fares; and
 * at the end how fast the backlog went, beside a bare publisher with the same window to the same broker. Exit codes: 0 ok, 1
 * failed, 2 bad usage.
 */
@Command(
        name = "OutageVolume",
        mixinStandardHelpOptions = true,
        description = "Fills the outbox with the broker away, restarts, drains; prints memory, live traffic and rates.")
public final class OutageVolume implements Callable<Integer> {
    private static final long REPORT_S = 5;
    private static final int FILLERS = 4;
    private static final long GIB = 1L << 30;

    @Option(names = "--gib", defaultValue = "1", description = "Size of the backlog. Default: ${DEFAULT-VALUE}.")
    private double gib;

    @Option(names = "--payload", defaultValue = "1024", description = "Bytes of a payload. Default: ${DEFAULT-VALUE}.")
    private int payload;

    @Option(
            names = "--drain",
            defaultValue = "5000000",
            description = "Records whose drain is timed. Default: ${DEFAULT-VALUE}.")
    private long timedRecords;

    @Option(names = "--drain-all", description = "Go on until the outbox is empty and the disk is given back.")
    private boolean drainAll;

    @Option(
            names = "--window",
            defaultValue = "1000",
            description = "Of the uplink and of the bare publisher. Default: ${DEFAULT-VALUE}.")
    private int window;

    @Option(
            names = "--live",
            defaultValue = "200",
            description = "Messages per second of the live publisher. Default: ${DEFAULT-VALUE}.")
    private int livePerSecond;

    @Option(
            names = "--bare-seconds",
            defaultValue = "20",
            description = "Length of each of the two runs of the bare publisher. Default: ${DEFAULT-VALUE}.")
    private int bareSeconds;

    @Option(
            names = "--holdfast",
            defaultValue = "proxy/target/holdfast",
            description = "The proxy's distribution directory. Default: ${DEFAULT-VALUE}.")
    private Path holdfast;

    @Option(
            names = "--work-dir",
            defaultValue = "bench/target",
            description = "Where the outbox lies; it is deleted at the end. Default: ${DEFAULT-VALUE}.")
    private Path workDirectory;

    @Option(names = "--mosquitto", defaultValue = "", description = "Mosquitto's path. Default: looked for.")
    private String mosquitto;

    @Option(
            names = "--proxy-java-options",
            defaultValue = "-Xmx256m",
            description = "JVM options of the proxy. Default: ${DEFAULT-VALUE}.")
    private String proxyJavaOptions;

    @Option(
            names = "--proxy-flag",
            description = "A further flag of the proxy, as --proxy-flag=--outbox-max-bytes=30GiB; repeatable.")
    private List<String> proxyFlags = new ArrayList<>();

    private final NanoClock clock = SystemNanoClock.INSTANCE;
    private final Transport transport = Transport.best();
    private final EventLoopGroup group = transport.newGroup(1, "load");
    private final long startedNs = clock.nanoTime();
    private Path directory;
    private Target broker;
    private Target proxy;
    private long reportedAtNs = startedNs;
    private long liveBefore;
    private long largestAnonymousKib;
    private long longestGapMs;

    /** Runs it. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new OutageVolume()).execute(arguments));
    }

    @Override
    public Integer call() throws Exception {
        Files.createDirectories(workDirectory);
        directory = Files.createTempDirectory(workDirectory.toAbsolutePath(), "outage-volume-");
        try {
            play();
            return 0;
        } finally {
            if (proxy != null) {
                proxy.close();
            }
            if (broker != null) {
                broker.close();
            }
            group.shutdownGracefully(0, 5, TimeUnit.SECONDS).await(10, TimeUnit.SECONDS);
            delete();
        }
    }

    private void play() throws Exception {
        broker = Target.mosquitto(program(), directory);
        proxy = startProxy("with an empty outbox");
        fill();
        proxy.kill();
        proxy = startProxy("with the backlog");
        proxy.kill(); // so that it takes nothing from the bare publisher
        broker = Target.mosquitto(program(), directory, broker.port());
        double before = bareRate();
        proxy = startProxy("with the backlog and the broker");
        double drained = drain();
        if (drainAll) {
            awaitEmpty();
        }
        proxy.close();
        double after = bareRate();
        say(
                "drain %,.0f/s; bare publisher %,.0f/s before, %,.0f/s after; ratio %.2f",
                drained, before, after, 2 * drained / (before + after));
        say(
                "anonymous resident memory of the proxy: at most %d MiB; live publishes waited at most %d ms",
                largestAnonymousKib / 1024, longestGapMs);
    }

    private Target startProxy(String how) throws IOException, InterruptedException {
        List<String> flags = new ArrayList<>(List.of("--uplink-window", Integer.toString(window)));
        flags.addAll(proxyFlags);
        long startNs = clock.nanoTime();
        Target started = Target.proxy("Holdfast", holdfast, directory.resolve("data"), broker, proxyJavaOptions, flags);
        say("ready %d ms after the start %s", TimeUnit.NANOSECONDS.toMillis(clock.nanoTime() - startNs), how);
        return started;
    }

    // ---- the outage

    private void fill() throws Exception {
        PipeliningPublisher live = connect(proxy.port(), "live", 100, livePerSecond);
        List<PipeliningPublisher> fillers = new ArrayList<>();
        for (int i = 0; i < FILLERS; i++) {
            fillers.add(connect(proxy.port(), "filler" + i, 256, 0));
        }
        broker.close();
        live.begin();
        fillers.forEach(PipeliningPublisher::begin);
        long fillNs = clock.nanoTime();
        long enough = (long) (gib * GIB);
        while (bytesOnDisk() < enough) {
            TimeUnit.SECONDS.sleep(REPORT_S);
            report("filling", live);
            for (PipeliningPublisher filler : fillers) {
                if (filler.failure() != null) {
                    throw new IOException("a publisher lost its connection", filler.failure());
                }
            }
        }
        fillers.forEach(PipeliningPublisher::stop);
        live.stop();
        long records = proxy.pending();
        double seconds = (clock.nanoTime() - fillNs) / 1e9;
        say("filled: %,d records in %.0f s, %,.0f/s", records, seconds, records / seconds);
    }

    // ---- the drain

    private double drain() throws Exception {
        PipeliningPublisher live = connectPatiently();
        live.begin();
        liveBefore = 0;
        reportedAtNs = clock.nanoTime();
        long first = proxy.delivered();
        long firstNs = clock.nanoTime();
        long wanted = Math.min(timedRecords, proxy.pending() * 9 / 10);
        long delivered = first;
        while (delivered - first < wanted) {
            TimeUnit.SECONDS.sleep(REPORT_S);
            report("draining", live);
            delivered = proxy.delivered();
        }
        double rate = (delivered - first) * 1e9 / (clock.nanoTime() - firstNs);
        live.stop();
        say("drained %,d records at %,.0f/s", delivered - first, rate);
        return rate;
    }

    private PipeliningPublisher connectPatiently() throws Exception {
        for (int attempt = 0; ; attempt++) {
            try {
                return connect(proxy.port(), "live", 100, livePerSecond);
            } catch (IOException e) {
                if (attempt == 60) {
                    throw e;
                }
                TimeUnit.MILLISECONDS.sleep(500);
            }
        }
    }

    private void awaitEmpty() throws Exception {
        while (proxy.pending() > 0) {
            TimeUnit.SECONDS.sleep(REPORT_S);
            report("draining", null);
        }
        TimeUnit.SECONDS.sleep(REPORT_S);
        say("empty: %,d MiB on disk", bytesOnDisk() >> 20);
    }

    /** Messages per second that a bare publisher with the same window gets acknowledged by the broker itself. */
    private double bareRate() throws Exception {
        PipeliningPublisher bare = connect(broker.port(), "bare", window, 0);
        bare.begin();
        TimeUnit.SECONDS.sleep(2);
        long before = bare.acknowledged();
        long beforeNs = clock.nanoTime();
        TimeUnit.SECONDS.sleep(bareSeconds);
        double rate = (bare.acknowledged() - before) * 1e9 / (clock.nanoTime() - beforeNs);
        if (bare.failure() != null) {
            throw new IOException("the bare publisher failed", bare.failure());
        }
        bare.stop();
        say("bare publisher: %,.0f/s", rate);
        return rate;
    }

    // ---- reports

    private void report(String phase, PipeliningPublisher live) throws IOException, InterruptedException {
        long now = clock.nanoTime();
        double seconds = (now - reportedAtNs) / 1e9;
        reportedAtNs = now;
        long anonymousKib = proxy.anonymousKib();
        largestAnonymousKib = Math.max(largestAnonymousKib, anonymousKib);
        String liveText = "";
        if (live != null) {
            if (live.failure() != null) {
                throw new IOException("the live publisher lost its connection", live.failure());
            }
            long acknowledged = live.acknowledged();
            long gapMs = live.takeLongestGapMs();
            liveText = String.format(
                    Locale.ROOT,
                    "; live %.0f/s, longest wait %d ms",
                    Math.max(0, acknowledged - liveBefore) / seconds,
                    gapMs);
            longestGapMs = Math.max(longestGapMs, gapMs);
            liveBefore = acknowledged;
        }
        say(
                "%s: %,d pending, %,d MiB on disk, RssAnon %d MiB%s",
                phase, proxy.pending(), bytesOnDisk() >> 20, anonymousKib / 1024, liveText);
    }

    private void say(String format, Object... arguments) {
        System.out.printf(
                Locale.ROOT,
                "%5d s  %s%n",
                TimeUnit.NANOSECONDS.toSeconds(clock.nanoTime() - startedNs),
                String.format(Locale.ROOT, format, arguments));
    }

    private PipeliningPublisher connect(int port, String clientId, int inFlight, int perSecond)
            throws IOException, InterruptedException {
        EventLoop loop = group.next();
        Promise<Void> connected = loop.newPromise();
        PipeliningPublisher publisher =
                new PipeliningPublisher(clientId, inFlight, payload, perSecond, clock, connected);
        Channel channel = new Bootstrap()
                .group(loop)
                .channel(transport.channel())
                .option(ChannelOption.TCP_NODELAY, true)
                .handler(publisher)
                .connect("127.0.0.1", port)
                .sync()
                .channel();
        if (!connected.await(10, TimeUnit.SECONDS) || !connected.isSuccess()) {
            channel.close();
            throw new IOException(clientId + " cannot connect", connected.cause());
        }
        return publisher;
    }

    private String program() throws IOException {
        return mosquitto.isEmpty() ? Target.findMosquitto() : mosquitto;
    }

    /** Without the files that the proxy deletes meanwhile. */
    private long bytesOnDisk() throws IOException {
        AtomicLong bytes = new AtomicLong();
        Files.walkFileTree(directory.resolve("data"), new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                bytes.addAndGet(attributes.size());
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
                if (e instanceof NoSuchFileException) {
                    return FileVisitResult.CONTINUE;
                }
                throw e;
            }
        });
        return bytes.get();
    }

    private void delete() throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
