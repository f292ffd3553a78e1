package io.holdfast.proxy;

import io.holdfast.proxy.admin.AdminServer;
import io.holdfast.proxy.admin.ProxyReport;
import io.holdfast.proxy.admission.IngressBudget;
import io.holdfast.proxy.admission.LoopContext;
import io.holdfast.proxy.admission.ProducerIdentity;
import io.holdfast.proxy.admission.Route;
import io.holdfast.proxy.admission.RouteTable;
import io.holdfast.proxy.connection.ClientRegistry;
import io.holdfast.proxy.connection.DeviceConnection;
import io.holdfast.proxy.deadletter.DeadLetterDesk;
import io.holdfast.proxy.deadletter.RunningInjector;
import io.holdfast.proxy.guard.AcceptGuard;
import io.holdfast.proxy.guard.BegunPackets;
import io.holdfast.proxy.guard.Descriptors;
import io.holdfast.proxy.guard.PublishCaps;
import io.holdfast.proxy.guard.UnconnectedSockets;
import io.holdfast.proxy.link.LinkDialer;
import io.holdfast.proxy.metrics.Counters;
import io.holdfast.proxy.outbox.LaneFeed;
import io.holdfast.proxy.outbox.WriterAgent;
import io.holdfast.proxy.source.Listener;
import io.holdfast.proxy.tls.BrokerTls;
import io.holdfast.proxy.tls.DeviceTls;
import io.holdfast.proxy.uplink.DeliveryPolicies;
import io.holdfast.proxy.uplink.LaneUplink;
import io.holdfast.store.OutboxStore;
import io.holdfast.store.StoreContext;
import io.holdfast.store.StoreException;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SleepingMillisIdleStrategy;
import org.agrona.concurrent.SystemEpochClock;
import org.agrona.concurrent.SystemNanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The running proxy: wires the stages, starts every thread, and stops them in the order that loses nothing. One thread
 * starts and stops it.
 */
public final class HoldfastProxy implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HoldfastProxy.class);
    private static final int WRITER_QUEUE_SLOTS = 64 * 1024;
    private static final int WRITER_BATCH_BYTES = 1024 * 1024;
    private static final int HOUSEKEEPING_INTERVAL_MS = 10;
    private static final long MIN_DEVICE_SHARE = 4L << 20;
    private static final int HOLD_PART = 4;
    private static final long STOP_STEP_MS = 5_000;

    private final ProxyContext context;
    private final Counters counters = new Counters();
    private final ClientRegistry registry = new ClientRegistry();
    private final NanoClock clock = SystemNanoClock.INSTANCE;
    private final SteadyEpochClock wallClock = new SteadyEpochClock(SystemEpochClock.INSTANCE, clock);
    private final List<WriterAgent> writers = new ArrayList<>();
    private final List<AgentRunner> writerRunners = new ArrayList<>();
    private final List<LaneUplink> uplinks = new ArrayList<>();
    private final List<Listener> listeners = new ArrayList<>();
    private final IdentityHashMap<EventLoop, LoopContext> loops = new IdentityHashMap<>();
    private final List<Runnable> watches = new ArrayList<>();
    private final ErrorHandler errorHandler = error -> LOG.error("An agent failed", error);
    private OutboxStore store;
    private EventLoopGroup deviceLoops;
    /** Accepts, and serves the admin pages: never waits for a disk. */
    private EventLoopGroup frontLoop;
    /** Carries the uplinks, which may wait for the disk, and no device. */
    private EventLoopGroup uplinkLoops;

    /** Null where there is no TLS. */
    private DeviceTls deviceTls;

    private BrokerTls brokerTls;
    private LinkDialer dialer;
    private AgentRunner housekeeping;
    private AdminServer admin;
    private DeadLetterDesk deadLetterDesk;
    private boolean closed;

    private HoldfastProxy(ProxyContext context) {
        this.context = context;
    }

    /**
     * Starts a proxy; when this returns it accepts devices.
     *
     * @throws IOException    if a port or the data directory cannot be had; the message says what to do.
     * @throws StoreException if the data directory cannot be opened; the message says what to do.
     */
    public static HoldfastProxy start(ProxyContext context) throws IOException, StoreException {
        HoldfastProxy proxy = new HoldfastProxy(context);
        try {
            proxy.startAll();
            return proxy;
        } catch (IOException | StoreException | RuntimeException e) {
            proxy.close();
            throw e;
        }
    }

    private void startAll() throws IOException, StoreException {
        Transport transport = Transport.best();
        watches.add(wallClock::look);
        loadTls();
        store = OutboxStore.open(storeContext());
        RouteTable routes = new RouteTable(context.routes(), store::routeNumber);
        deviceLoops = transport.newGroup(context.loops(), "device-loop");
        frontLoop = transport.newGroup(1, "front-loop");
        uplinkLoops = transport.newGroup(Math.min(store.laneCount(), context.loops()), "uplink-loop");
        dialer = new LinkDialer(transport.channel(), context.upstream(), brokerTls);
        startLanes();
        UnconnectedSockets unconnected = new UnconnectedSockets(context.guards().maxUnconnected());
        long memory = context.devices().ingressMemoryBudgetBytes();
        ProxyServices services = new ProxyServices(
                context,
                routes,
                store,
                budget(memory),
                budget(memory / HOLD_PART),
                new PublishCaps(context.devices()),
                unconnected,
                registry,
                dialer,
                counters,
                wallClock,
                clock);
        for (EventExecutor executor : deviceLoops) {
            EventLoop loop = (EventLoop) executor;
            LaneFeed[] feeds =
                    writers.stream().map(writer -> writer.feedFor(loop)).toArray(LaneFeed[]::new);
            loops.put(loop, new LoopContext(loop, feeds, begunPackets(memory), identity()));
        }
        AcceptGuard guard = new AcceptGuard(context.guards(), maxConnections(), unconnected, counters, clock);
        for (Endpoint endpoint : context.listeners()) {
            DeviceTls tls = endpoint.tls() ? deviceTls : null;
            listeners.add(Listener.open(endpoint, transport, frontLoop, deviceLoops, guard, services, tls, loops::get));
        }
        deadLetterDesk = newDeadLetterDesk();
        startThreads(routes.anyOutbox());
        ProxyReport report = new ProxyReport(services, writers, uplinks, listeners);
        if (context.admin().isPresent()) {
            admin = AdminServer.open(context.admin().get(), transport, frontLoop, report);
        }
        LOG.info(
                "holdfast is running: listening on {}, broker {}, data directory {} ({}), routes {}",
                listeners.stream().map(Listener::address).toList(),
                context.upstream(),
                context.outbox().directory(),
                context.outbox().durability(),
                context.routes());
    }

    /** First of all, so that a wrong file is told before anything is touched. */
    private void loadTls() throws IOException {
        if (context.deviceTls().isPresent()) {
            deviceTls = new DeviceTls(context.deviceTls().get(), counters, SystemEpochClock.INSTANCE, clock);
            watches.add(deviceTls::reloadIfChanged);
        }
        if (context.upstream().tls()) {
            brokerTls = new BrokerTls(context.upstream(), context.brokerTls(), counters, SystemEpochClock.INSTANCE);
            watches.add(brokerTls::reloadIfChanged);
        }
    }

    private void startLanes() {
        DeliveryPolicies policies = deliveryPolicies();
        for (int i = 0; i < store.laneCount(); i++) {
            WriterAgent writer = new WriterAgent(i, store.lane(i), WRITER_QUEUE_SLOTS, WRITER_BATCH_BYTES, counters);
            String clientId = store.meta().uplinkClientId() + (store.laneCount() > 1 ? "-" + i : "");
            LaneUplink uplink = new LaneUplink(
                    i,
                    store,
                    clientId,
                    uplinkLoops.next(),
                    dialer,
                    context.uplink(),
                    policies,
                    counters,
                    wallClock,
                    clock);
            writer.onDurable(uplink::wake);
            writers.add(writer);
            uplinks.add(uplink);
        }
    }

    private DeliveryPolicies deliveryPolicies() {
        ProxyContext.Delivery flags = context.delivery();
        return new DeliveryPolicies(
                flags,
                context.routes().stream()
                        .map(route -> new DeliveryPolicies.OfRoute(
                                store.routeNumber(route.toString()),
                                route.onPermanentFailure().orElse(flags.onPermanentFailure()),
                                route.onExpired().orElse(flags.onExpired())))
                        .toList());
    }

    private DeadLetterDesk newDeadLetterDesk() {
        EventLoop loop = frontLoop.next();
        return new DeadLetterDesk(
                store.deadLetters(),
                store::routeText,
                new RunningInjector(
                        loop,
                        writers.stream().map(writer -> writer.feedFor(loop)).toList()),
                (lane, route, removal, count) ->
                        uplinks.get(lane).deadLettersRemoved(route, removal.dropReason(), count),
                wallClock);
    }

    private void startThreads(boolean anyOutbox) {
        for (WriterAgent writer : writers) {
            AgentRunner runner = new AgentRunner(writer.idleStrategy(), errorHandler, null, writer);
            writerRunners.add(runner);
            AgentRunner.startOnThread(runner);
        }
        housekeeping = new AgentRunner(
                new SleepingMillisIdleStrategy(HOUSEKEEPING_INTERVAL_MS),
                errorHandler,
                null,
                new HousekeepingAgent(store, watches, clock));
        AgentRunner.startOnThread(housekeeping);
        if (anyOutbox || hasBacklog()) {
            uplinks.forEach(LaneUplink::start);
        }
    }

    private boolean hasBacklog() {
        for (int i = 0; i < store.laneCount(); i++) {
            if (store.lane(i).durableSequence() > store.lane(i).cursor().sequence()) {
                return true;
            }
        }
        return false;
    }

    private ProducerIdentity identity() {
        return new ProducerIdentity(context.dedup().by(), store.identityHash());
    }

    private StoreContext storeContext() throws IOException {
        ProxyContext.Outbox outbox = context.outbox();
        long[] limits = limits(outbox);
        return new StoreContext()
                .directory(outbox.directory())
                .durability(outbox.durability())
                .lanes(outbox.lanes())
                .segmentBytes(outbox.segmentBytes())
                .maxBytes(limits[0])
                .reserveBytes(limits[1])
                .dedupWindowMs(context.dedup().windowMs())
                .dedupMaxEntries(
                        context.dedup().by() == ProxyContext.DedupBy.OFF
                                ? 0
                                : context.dedup().maxEntries())
                .maxSessionExpiryMs(context.devices().maxSessionExpiryMs())
                .uplinkBroker(context.upstream().hostAndPort())
                .uplinkClientId(context.uplink().clientId().orElse(null))
                .routes(context.routes().stream().map(Route::toString).toList())
                .epochClock(wallClock)
                .nanoClock(clock)
                .errorHandler(error -> LOG.error("outbox: {}", error.getMessage(), error));
    }

    /** A device that is let in has a descriptor for its session link too. */
    private int maxConnections() {
        Descriptors descriptors = Descriptors.now();
        int room = descriptors.roomForDevices();
        int configured = context.guards().maxConnections();
        if (configured > room) {
            LOG.warn(
                    "--max-connections {} needs up to {} file descriptors, but {}: there is room for {} devices. Raise"
                            + " ulimit -n or lower --max-connections",
                    configured,
                    descriptors.neededFor(configured),
                    descriptors,
                    room);
        }
        return configured > 0 ? configured : room;
    }

    /** Max bytes and reserve; what is not set follows from the file system. */
    private static long[] limits(ProxyContext.Outbox outbox) throws IOException {
        Path existing = outbox.directory().toAbsolutePath();
        while (!Files.exists(existing)) {
            existing = existing.getParent();
        }
        FileStore fileSystem = Files.getFileStore(existing);
        long total = fileSystem.getTotalSpace();
        long maxBytes = outbox.maxBytes() > 0 ? outbox.maxBytes() : total / 10 * 8;
        long reserve = outbox.reserveBytes() > 0 ? outbox.reserveBytes() : Math.min(256L << 20, total / 20);
        return new long[] {maxBytes, reserve};
    }

    /** A part of the memory, divided among the loops; a packet has to fit, and to be copied once while it grows. */
    private BegunPackets begunPackets(long memory) {
        long part = memory / HOLD_PART / context.loops();
        return new BegunPackets(Math.max(part, 2L * context.devices().maxPacketSize()));
    }

    private IngressBudget budget(long limit) {
        long share = Math.max(MIN_DEVICE_SHARE, 2L * context.devices().maxPacketSize());
        return new IngressBudget(limit, Math.min(share, limit));
    }

    /** The addresses that devices can connect to, with real ports. */
    public List<Endpoint> addresses() {
        return listeners.stream().map(Listener::address).toList();
    }

    /** Where the admin server listens, with the real port; empty if it is off. */
    public Optional<Endpoint> adminAddress() {
        return Optional.ofNullable(admin).map(AdminServer::address);
    }

    /** What can be done with the dead letters; not on an event loop. */
    public DeadLetterDesk deadLetterDesk() {
        return deadLetterDesk;
    }

    /** What is counted. */
    public Counters counters() {
        return counters;
    }

    /**
     * Stops: accepts no more, tells the devices (v5 0x8B), settles or leaves unacknowledged what is in flight, syncs.
     *
     * @throws StoreException if the last sync failed; what was acknowledged before is safe all the same.
     */
    @Override
    public void close() throws StoreException {
        if (closed) {
            return;
        }
        closed = true;
        listeners.forEach(Listener::close);
        registry.forEach(DeviceConnection::shutDown);
        awaitDevices();
        for (LaneUplink uplink : uplinks) {
            await(uplink.stop());
        }
        writerRunners.forEach(AgentRunner::close);
        if (housekeeping != null) {
            housekeeping.close();
        }
        if (admin != null) {
            admin.close();
        }
        if (dialer != null) {
            dialer.close();
        }
        shutDown(deviceLoops);
        shutDown(frontLoop);
        shutDown(uplinkLoops);
        if (deviceTls != null) {
            deviceTls.close();
        }
        if (brokerTls != null) {
            brokerTls.close();
        }
        if (store != null) {
            store.close();
        }
    }

    private void awaitDevices() {
        long deadline = clock.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STOP_STEP_MS);
        while (registry.size() > 0 && clock.nanoTime() - deadline < 0) {
            try {
                TimeUnit.MILLISECONDS.sleep(10);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }

    private static void await(Future<?> future) {
        try {
            future.get(STOP_STEP_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.warn("An uplink did not stop: {}", e.toString());
        }
    }

    private static void shutDown(EventLoopGroup group) {
        if (group != null) {
            group.shutdownGracefully(0, STOP_STEP_MS, TimeUnit.MILLISECONDS).awaitUninterruptibly(STOP_STEP_MS);
        }
    }
}
