package io.holdfast.proxy.cli;

import io.holdfast.proxy.Endpoint;
import io.holdfast.proxy.HoldfastProxy;
import io.holdfast.proxy.ProxyContext;
import io.holdfast.proxy.admin.ControlSocket;
import io.holdfast.proxy.admission.DeliveryMode;
import io.holdfast.proxy.admission.Route;
import io.holdfast.store.Durability;
import io.holdfast.store.StoreContext;
import io.holdfast.store.StoreException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code holdfast run}: reads the flags, checks them together, runs the proxy until SIGTERM. */
@Command(
        name = "run",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Runs the proxy. Sizes take KiB, MiB, GiB; durations take ms, s, m, h, d.",
            "It ends on SIGTERM: devices are told, what is unsettled stays unacknowledged, the outbox is synced."
        },
        footer = {
            "",
            "Every flag may come from the environment: --max-packet-size as HOLDFAST_MAX_PACKET_SIZE; a repeatable one as a"
                    + " line of arguments: HOLDFAST_ROUTE=\"'outbox telemetry/#' 'hold #'\". The command line wins.",
            "@FILE stands for the arguments in that file; there, # at the start of a word begins a comment."
        })
final class RunCommand implements Callable<Integer> {
    private static final Logger LOG = LoggerFactory.getLogger(RunCommand.class);
    private static final int TOPIC_ALIAS_MAXIMUM = 64;
    private static final int MAX_WINDOW = 32_767;
    private static final int MAX_PACKET = 268_435_460;
    private static final int RECORD_HEADER = 80;
    private static final long SHUTDOWN_LIMIT_S = 20;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--upstream",
            paramLabel = "URL",
            required = true,
            description = "The broker: mqtt://host:port, or mqtts://host:port with TLS.")
    private String upstream;

    @Option(
            names = "--listen",
            paramLabel = "URL",
            defaultValue = "mqtt://0.0.0.0:1883",
            description =
                    "Where devices connect: mqtt://host:port, or mqtts://host:port with TLS; repeatable. Default: ${DEFAULT-VALUE}.")
    private List<String> listen;

    @Option(
            names = "--data-dir",
            paramLabel = "DIR",
            defaultValue = "./holdfast-data",
            description = "The data directory with the outbox; made if missing. Default: ${DEFAULT-VALUE}.")
    private Path dataDirectory;

    @Option(
            names = "--route",
            paramLabel = "'MODE[:key=value,...] FILTER'",
            defaultValue = "outbox #",
            description = {
                "How a topic is settled; repeatable, the first match wins, a topic that none matches goes by hold.",
                "hold: the device's acknowledgement waits for the broker's own. No disk.",
                "outbox: acknowledged when durable here, delivered later. Policy when-full=hold|reject|drop-oldest|drop-new.",
                "Default: '${DEFAULT-VALUE}'."
            })
    private List<String> routes;

    @Option(
            names = "--durability",
            paramLabel = "fsync|page-cache",
            defaultValue = "fsync",
            description = {
                "What 'durable' waits for. fsync: survives a power cut. page-cache: survives the end of the process only.",
                "Default: ${DEFAULT-VALUE}."
            })
    private String durability;

    @Option(
            names = "--qos0",
            paramLabel = "forward|store",
            defaultValue = "forward",
            description = {
                "QoS 0 on outbox routes. forward: over the session link, dropped and counted without one. store: appended to"
                        + " the outbox.",
                "Default: ${DEFAULT-VALUE}."
            })
    private String qos0;

    @Option(
            names = "--lanes",
            paramLabel = "N",
            defaultValue = "1",
            description = "Outbox partitions, 1 to 64; fixed in the data directory. Default: ${DEFAULT-VALUE}.")
    private int lanes;

    @Option(
            names = "--receive-maximum",
            paramLabel = "N",
            defaultValue = "1024",
            description =
                    "Unfinished QoS 1 and 2 PUBLISHes that one device may have, 1 to 65535. Default: ${DEFAULT-VALUE}.")
    private int receiveMaximum;

    @Option(
            names = "--max-packet-size",
            paramLabel = "BYTES",
            defaultValue = "1MiB",
            description =
                    "The largest packet of a device, fixed header included; told to v5 devices. Default: ${DEFAULT-VALUE}.")
    private ByteSize maxPacketSize;

    @Option(
            names = "--max-payload",
            paramLabel = "BYTES",
            defaultValue = "256KiB",
            description = "The largest payload; more is acknowledged, dropped and counted. Default: ${DEFAULT-VALUE}.")
    private ByteSize maxPayload;

    @Option(
            names = "--max-user-properties",
            paramLabel = "N",
            defaultValue = "128",
            description =
                    "User Properties of a PUBLISH; more is acknowledged, dropped and counted. Default: ${DEFAULT-VALUE}.")
    private int maxUserProperties;

    @Mixin
    private GuardOptions guards = new GuardOptions();

    @Option(
            names = "--segment-bytes",
            paramLabel = "BYTES",
            defaultValue = "16MiB",
            description = {
                "Record bytes of an outbox segment, a multiple of 64KiB from 256KiB to 1GiB; its file is a quarter larger.",
                "The largest record is a quarter of it. Default: ${DEFAULT-VALUE}."
            })
    private ByteSize segmentBytes;

    @Option(
            names = "--outbox-max-bytes",
            paramLabel = "BYTES",
            description = "Bytes that the outbox may take on disk. Default: 80 %% of the file system.")
    private ByteSize outboxMaxBytes;

    @Option(
            names = "--disk-reserve-bytes",
            paramLabel = "BYTES",
            description = "Free bytes to leave on the file system. Default: 256MiB, or 5 %% where that is less.")
    private ByteSize diskReserveBytes;

    @Option(
            names = "--uplink-client-id",
            paramLabel = "ID",
            description = {
                "Client Identifier of the uplink (with -LANE behind it if there are several lanes).",
                "Default: a random one made with the data directory."
            })
    private String uplinkClientId;

    @Option(names = "--uplink-username", paramLabel = "NAME", description = "User Name of the uplink.")
    private String uplinkUserName;

    @Option(
            names = "--uplink-password-file",
            paramLabel = "FILE",
            description = "File with the Password of the uplink; read at each connect.")
    private Path uplinkPasswordFile;

    @Option(
            names = "--outbox-trust-devices",
            description = {
                "What goes through the outbox is published with the uplink's rights: the broker no longer sees the device.",
                "With uplink credentials this flag has to confirm that every device may publish what the uplink may."
            })
    private boolean outboxTrustDevices;

    @Option(
            names = "--uplink-window",
            paramLabel = "N",
            defaultValue = "1000",
            description = {
                "Span of records that may be unacknowledged by the broker, 1 to 32767; lowered to its Receive Maximum.",
                "Default: ${DEFAULT-VALUE}."
            })
    private int uplinkWindow;

    @Option(
            names = "--ack-timeout",
            paramLabel = "DURATION",
            defaultValue = "30s",
            description =
                    "A broker acknowledgement missing for so long makes the uplink connect anew. Default: ${DEFAULT-VALUE}.")
    private TimeSpan ackTimeout;

    @Option(
            names = "--hold-timeout",
            paramLabel = "DURATION",
            defaultValue = "30s",
            description = {
                "How long a hold PUBLISH waits without a session link before it is refused (v5) or its device closed.",
                "Default: ${DEFAULT-VALUE}."
            })
    private TimeSpan holdTimeout;

    @Option(
            names = "--connect-deadline",
            paramLabel = "DURATION",
            defaultValue = "10s",
            description = "From accept to the end of CONNECT. Default: ${DEFAULT-VALUE}.")
    private TimeSpan connectDeadline;

    @Option(
            names = "--ingress-memory-budget",
            paramLabel = "BYTES",
            defaultValue = "256MiB",
            description =
                    "Bytes of unsettled PUBLISHes of all devices; above it devices are not read. Default: ${DEFAULT-VALUE}.")
    private ByteSize ingressMemoryBudget;

    @Option(
            names = "--max-session-expiry",
            paramLabel = "DURATION",
            defaultValue = "24h",
            description = {
                "How long the received packet ids of a 3.x device without Clean Session are kept after it left.",
                "Default: ${DEFAULT-VALUE}."
            })
    private TimeSpan maxSessionExpiry;

    @Option(
            names = "--admin",
            paramLabel = "HOST:PORT|off",
            defaultValue = "127.0.0.1:9883",
            description =
                    "HTTP for /metrics, /health/live, /health/ready, /health/uplink, /ledger. Default: ${DEFAULT-VALUE}.")
    private String admin;

    @Mixin
    private DeliveryOptions delivery = new DeliveryOptions();

    @Mixin
    private DedupOptions dedup = new DedupOptions();

    @Mixin
    private TlsOptions tls;

    @Override
    public Integer call() throws Exception {
        ProxyContext context = context();
        HoldfastProxy proxy;
        try {
            proxy = HoldfastProxy.start(context);
        } catch (IOException | StoreException e) {
            spec.commandLine().getErr().println("holdfast: " + e.getMessage());
            return ExitCode.SOFTWARE;
        }
        Optional<ControlSocket> control =
                ControlSocket.open(dataDirectory, DlqCommand.commandsOf(proxy.deadLetterDesk()));
        runUntilSignal(proxy, control);
        return ExitCode.OK;
    }

    /** The hook lets the process end only when everything is down; its exit code is then ours and not the signal's. */
    private void runUntilSignal(HoldfastProxy proxy, Optional<ControlSocket> control) throws InterruptedException {
        CountDownLatch stopping = new CountDownLatch(1);
        Thread hook = new Thread(
                () -> {
                    control.ifPresent(ControlSocket::close);
                    stop(proxy);
                    stopping.countDown();
                },
                "shutdown");
        Runtime.getRuntime().addShutdownHook(hook);
        for (Endpoint address : proxy.addresses()) {
            spec.commandLine().getOut().println("listening on " + address);
        }
        proxy.adminAddress()
                .ifPresent(address -> spec.commandLine().getOut().println("admin on http://" + address.hostAndPort()));
        spec.commandLine().getOut().println("holdfast ready");
        spec.commandLine().getOut().flush();
        stopping.await();
    }

    private static void stop(HoldfastProxy proxy) {
        Thread watchdog = new Thread(
                () -> {
                    try {
                        TimeUnit.SECONDS.sleep(SHUTDOWN_LIMIT_S);
                        LOG.error("Stopping took more than {} s: ending without it", SHUTDOWN_LIMIT_S);
                        Runtime.getRuntime().halt(ExitCode.SOFTWARE);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                "shutdown-watchdog");
        watchdog.setDaemon(true);
        watchdog.start();
        try {
            LOG.info("Stopping");
            proxy.close();
            LOG.info("Stopped");
            Runtime.getRuntime().halt(ExitCode.OK);
        } catch (StoreException e) {
            LOG.error("Stopped, but the outbox could not be closed: {}", e.getMessage());
            Runtime.getRuntime().halt(ExitCode.SOFTWARE);
        }
    }

    /** Reads and checks all flags. */
    ProxyContext context() {
        List<Route> routeList = readAll("--route", routes, Route::parse);
        List<Endpoint> listeners = readAll("--listen", listen, Endpoint::parseMqtt);
        checkRange("--lanes", lanes, 1, StoreContext.LANES_MAX);
        checkRange("--receive-maximum", receiveMaximum, 1, 65_535);
        checkRange("--max-user-properties", maxUserProperties, 0, Integer.MAX_VALUE - 1);
        checkRange("--uplink-window", uplinkWindow, 1, MAX_WINDOW);
        checkRange("--max-packet-size", maxPacketSize.bytes(), 16, MAX_PACKET);
        checkRange("--max-payload", maxPayload.bytes(), 0, MAX_PACKET);
        checkRange("--segment-bytes", segmentBytes.bytes(), 256 << 10, 1 << 30);
        checkRange("--ack-timeout", ackTimeout.ms(), 100, Long.MAX_VALUE);
        checkRange("--connect-deadline", connectDeadline.ms(), 1, Long.MAX_VALUE);
        checkRange("--ingress-memory-budget", ingressMemoryBudget.bytes(), 1 << 20, Long.MAX_VALUE);
        boolean anyOutbox = routeList.stream().anyMatch(route -> route.mode() == DeliveryMode.OUTBOX);
        if (anyOutbox) {
            checkRecordFits();
        }
        checkRights(anyOutbox);
        Endpoint broker = read("--upstream", upstream, Endpoint::parseMqtt);
        return new ProxyContext(
                broker,
                listeners,
                admin.equals("off")
                        ? Optional.empty()
                        : Optional.of(read("--admin", admin, Endpoint::parseHostAndPort)),
                routeList,
                new ProxyContext.Devices(
                        receiveMaximum,
                        TOPIC_ALIAS_MAXIMUM,
                        (int) maxPacketSize.bytes(),
                        (int) maxPayload.bytes(),
                        guards.maxMetadata(),
                        maxUserProperties,
                        oneOf("--qos0", qos0, "forward", "store") == 1,
                        connectDeadline.ms(),
                        ingressMemoryBudget.bytes(),
                        holdTimeout.ms(),
                        maxSessionExpiry.ms()),
                guards.settings(),
                new ProxyContext.Outbox(
                        dataDirectory,
                        oneOf("--durability", durability, "fsync", "page-cache") == 0
                                ? Durability.FSYNC
                                : Durability.PAGE_CACHE,
                        lanes,
                        (int) segmentBytes.bytes(),
                        outboxMaxBytes == null ? 0 : outboxMaxBytes.bytes(),
                        diskReserveBytes == null ? 0 : diskReserveBytes.bytes()),
                dedup.settings(lanes),
                new ProxyContext.Uplink(
                        Optional.ofNullable(uplinkClientId),
                        Optional.ofNullable(uplinkUserName),
                        Optional.ofNullable(uplinkPasswordFile),
                        uplinkWindow,
                        ackTimeout.ms()),
                delivery.delivery(),
                together(() -> tls.forListeners(listeners)),
                together(() -> tls.forUpstream(broker)),
                Math.max(1, Runtime.getRuntime().availableProcessors()));
    }

    /**
     * A packet within the limits has to fit a record, or an acknowledged one could not be stored. A record has besides the
     * Client Identifier, and the topic that an alias stood for; both came in a packet of their own. With
     * {@code --on-cap-violation dead-letter} the caps do not keep a packet out of the outbox.
     */
    private void checkRecordFits() {
        long largestName = Math.min(maxPacketSize.bytes(), 65_535);
        long largestPacket = guards.keepsCapViolations()
                ? maxPacketSize.bytes()
                : Math.min(maxPacketSize.bytes(), maxPayload.bytes() + guards.maxMetadata());
        long largestStored = largestPacket + 2 * largestName + RECORD_HEADER;
        long largestRecord = segmentBytes.bytes() / 4;
        if (largestStored > largestRecord) {
            throw badUsage("--segment-bytes " + segmentBytes.bytes() + " takes records up to " + largestRecord
                    + " bytes, but "
                    + (guards.keepsCapViolations()
                            ? "--max-packet-size with --on-cap-violation dead-letter allows"
                            : "--max-packet-size, --max-payload and --max-metadata allow")
                    + " records of " + largestStored + " bytes: raise --segment-bytes or lower them");
        }
    }

    private void checkRights(boolean anyOutbox) {
        if (uplinkPasswordFile != null && uplinkUserName == null) {
            throw badUsage("--uplink-password-file needs --uplink-username");
        }
        if (uplinkPasswordFile != null && !Files.isReadable(uplinkPasswordFile)) {
            throw badUsage("--uplink-password-file: cannot read " + uplinkPasswordFile);
        }
        if (anyOutbox && uplinkUserName != null && !outboxTrustDevices) {
            throw badUsage("--uplink-username with an outbox route lets every device publish with the uplink's rights:"
                    + " confirm with --outbox-trust-devices, or use hold routes");
        }
    }

    private <T> T read(String flag, String text, Function<String, T> reader) {
        try {
            return reader.apply(text);
        } catch (IllegalArgumentException e) {
            throw badUsage(flag + ": " + e.getMessage());
        }
    }

    /** Of flags that have to fit together. */
    private <T> T together(Supplier<T> settings) {
        try {
            return settings.get();
        } catch (IllegalArgumentException e) {
            throw badUsage(e.getMessage());
        }
    }

    private <T> List<T> readAll(String flag, List<String> texts, Function<String, T> reader) {
        List<T> values = new ArrayList<>();
        for (String text : texts) {
            values.add(read(flag, text, reader));
        }
        return values;
    }

    private void checkRange(String flag, long value, long least, long most) {
        if (value < least || value > most) {
            throw badUsage(flag + " is " + value + ", but has to be "
                    + (most == Long.MAX_VALUE ? "at least " + least : "from " + least + " to " + most));
        }
    }

    private int oneOf(String flag, String value, String... right) {
        List<String> words = List.of(right);
        if (!words.contains(value)) {
            throw badUsage(flag + " is '" + value + "', but has to be '" + String.join("' or '", words) + "'"
                    + Nearest.hint(value, words, ""));
        }
        return words.indexOf(value);
    }

    private ParameterException badUsage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
