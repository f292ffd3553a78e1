package io.holdfast.proxy.sim;

import io.holdfast.proxy.ProxyContext;
import io.holdfast.proxy.SimulatedProxy;
import io.holdfast.proxy.cli.Holdfast;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.store.SimulatedLog;
import io.holdfast.store.StoreContext;
import io.holdfast.store.StoreException;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelPromise;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * One run: devices, the proxy's own classes, a broker, a disk, a network and a clock in one thread. The seed decides what
 * happens next and what goes wrong; the promises are checked after every step. At the end everything is healed, and what was
 * acknowledged has to be there.
 */
final class Simulation implements SimNetwork, SimConnection.Tap {
    private static final int HEAL_ROUNDS = 5_000;
    private static final int TRACE_LINES = Integer.getInteger("holdfast.sim.trace", 150);

    private static final ConcurrentHashMap<String, ProxyContext> CONTEXTS = new ConcurrentHashMap<>();

    private final long seed;
    private final boolean isTracing;
    private final ArrayDeque<String> trace = new ArrayDeque<>();
    private final SplittableRandom random;
    private final Plan plan;
    private final SimClock clock = new SimClock();
    private final SimDisk disk;
    private final SimFileSystem files;
    private final Promises promises;
    private final SimBroker broker;
    private final ProxyContext context;
    private final ByteBufAllocator allocator = SimNetwork.newAllocator();
    private final List<SimDevice> devices = new ArrayList<>();
    private final List<SimConnection> connections = new ArrayList<>();
    private final List<SimLoop> deviceLoops = new ArrayList<>();
    private final List<SimLoop> uplinkLoops = new ArrayList<>();
    private long crashAtOperation;
    private SimulatedProxy proxy;
    private boolean isHealing;
    private boolean isLoopFree;
    private boolean isUplinkFree;
    private boolean isPower;
    private int connectionNumber;
    private int crashes;
    private long steps;

    Simulation(long seed, boolean isTracing) {
        this(seed, isTracing, false);
    }

    /** With a small scene, to be played again and again. */
    Simulation(long seed, boolean isTracing, boolean isSmall) {
        this.seed = seed;
        this.isTracing = isTracing;
        this.random = new SplittableRandom(seed);
        this.plan = new Plan(random.split(), isSmall);
        this.disk = new SimDisk(random.split());
        this.files = new SimFileSystem(disk);
        disk.whileForcing(this::whileForcing);
        this.promises = new Promises(disk, plan, this::trace);
        this.broker = new SimBroker(plan, promises, random.split());
        this.context = contextOf(plan);
        for (int i = 0; i < plan.devices; i++) {
            SimDevice device = new SimDevice(i, plan, promises, random.split());
            devices.add(device);
            broker.knows(device);
        }
    }

    /** Parsing flags takes longer than a short run. */
    private static ProxyContext contextOf(Plan plan) {
        String key = route(plan) + plan.receiveMaximum + '/' + plan.uplinkWindow + '/' + plan.lanes;
        return CONTEXTS.computeIfAbsent(key, unused -> parse(plan));
    }

    private static ProxyContext parse(Plan plan) {
        try {
            return Holdfast.contextOf(
                    "--upstream",
                    "mqtt://127.0.0.1:1883",
                    "--listen",
                    "mqtt://127.0.0.1:0",
                    "--data-dir",
                    "/data",
                    "--route",
                    route(plan),
                    "--receive-maximum",
                    String.valueOf(plan.receiveMaximum),
                    "--uplink-window",
                    String.valueOf(plan.uplinkWindow),
                    "--lanes",
                    String.valueOf(plan.lanes),
                    "--max-lone-hang-ups",
                    "1000",
                    "--ack-timeout",
                    "5s");
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static String route(Plan plan) {
        return plan.rejectWhenFull ? "outbox:when-full=reject #" : "outbox #";
    }

    /** Ends the process in the middle of that change of the disk, for the first time. */
    Simulation crashAt(long operation, boolean withPower) {
        crashAtOperation = operation;
        isPower = withPower;
        return this;
    }

    /** Changes of the disk in the whole run. */
    long operations() {
        return disk.operations();
    }

    long steps() {
        return steps;
    }

    int crashes() {
        return crashes;
    }

    List<String> trace() {
        return List.copyOf(trace);
    }

    /** Something of the proxy has failed in a way that is logged and gone on with. */
    void unexpected(String what) {
        if (!disk.isCrashed()) {
            promises.broken("P12", what);
        }
    }

    /** Runs it all. */
    void run() {
        trace(plan::toString);
        if (crashAtOperation > 0) {
            disk.crashAt(crashAtOperation);
        }
        try {
            for (int i = 0; i < plan.steps; i++) {
                step();
            }
            heal();
        } catch (BrokenPromise e) {
            throw e;
        } catch (RuntimeException | AssertionError e) {
            throw new BrokenPromise("the simulation failed: " + e, e);
        }
    }

    /** A line of the proxy's own log. */
    void log(String line) {
        trace(() -> line);
    }

    private void trace(Supplier<String> line) {
        if (isTracing) {
            if (trace.size() == TRACE_LINES) {
                trace.removeFirst();
            }
            trace.addLast(String.format("%5d %9.3f ms  %s", steps, clock.nanoTime() / 1e6, line.get()));
        }
    }

    // ---- steps

    private void step() {
        steps++;
        if (proxy == null) {
            startOrWait();
        } else {
            act();
        }
        afterStep();
    }

    private void act() {
        clock.advance(random.nextInt(100_000));
        int choice = random.nextInt(1000);
        if (choice < 40) {
            fault();
        } else if (choice < 160) {
            deviceActs(devices.get(random.nextInt(devices.size())));
        } else if (choice < 330) {
            deliver(true);
        } else if (choice < 500) {
            deliver(false);
        } else if (choice < 660) {
            guarded(() -> deviceLoops.get(random.nextInt(deviceLoops.size())).runNow());
        } else if (choice < 740) {
            besides(true, () -> proxy.writer(random.nextInt(plan.lanes)).doWork());
        } else if (choice < 840) {
            besides(false, () -> uplinkLoops.get(random.nextInt(plan.lanes)).runNow());
        } else if (choice < 860) {
            besides(true, () -> proxy.housekeeping().doWork());
        } else if (choice < 970) {
            brokerActs();
        } else {
            tick();
        }
    }

    /** What is to be run by the process's own threads. */
    private interface Work {
        void run() throws Exception;
    }

    private void guarded(Work work) {
        try {
            work.run();
        } catch (SimCrash e) {
            // seen at the end of the step
        } catch (Exception e) {
            throw new BrokenPromise("a thread of the proxy throws: " + e, e);
        }
    }

    /** The event loops go on while another thread waits for the disk. */
    private void besides(boolean uplinksToo, Work work) {
        isUplinkFree = uplinksToo;
        isLoopFree = true;
        guarded(work);
        isLoopFree = false;
    }

    private void whileForcing() {
        if (isLoopFree && random.nextInt(3) == 0) {
            isLoopFree = false;
            List<SimLoop> loops = isUplinkFree && random.nextBoolean() ? uplinkLoops : deviceLoops;
            guarded(loops.get(random.nextInt(loops.size()))::runNow);
            isLoopFree = true;
        }
    }

    private void afterStep() {
        if (proxy != null && disk.isCrashed()) {
            processEnded();
        } else if (proxy != null) {
            promises.check();
        }
        promises.throwIfBroken();
    }

    private void tick() {
        int kind = random.nextInt(20);
        long ms = kind < 15 ? random.nextInt(20) : kind < 19 ? random.nextInt(500) : random.nextInt(8000);
        clock.advance(TimeUnit.MILLISECONDS.toNanos(ms));
    }

    private void deviceActs(SimDevice device) {
        if (device.isAway()) {
            connect(device);
        } else if (random.nextInt(20) == 0) {
            device.repeat();
        } else {
            device.publish();
        }
    }

    private void connect(SimDevice device) {
        SimConnection connection = new SimConnection(device.clientId() + '#' + connectionNumber++, this);
        SimChannel channel = new SimChannel(connection);
        connection.join(channel, device);
        connections.add(connection);
        guarded(() -> proxy.accept(channel, deviceLoops.get(connectionNumber % deviceLoops.size())));
        device.connect(connection);
        trace(() -> connection + " connects");
    }

    private void deliver(boolean toProxy) {
        connections.removeIf(SimConnection::isOver);
        List<SimConnection> ready = connections.stream()
                .filter(toProxy ? SimConnection::canDeliverToProxy : SimConnection::canDeliverToPeer)
                .toList();
        if (ready.isEmpty()) {
            return;
        }
        SimConnection connection = ready.get(random.nextInt(ready.size()));
        int most = random.nextInt(3) == 0 ? 1 + random.nextInt(20) : 100_000;
        if (toProxy) {
            connection.deliverToProxy(most);
        } else {
            connection.deliverToPeer(most);
        }
    }

    private boolean brokerActs() {
        List<SimBroker.Link> waiting =
                broker.links().stream().filter(SimBroker.Link::hasAnswers).toList();
        if (waiting.isEmpty()) {
            return false;
        }
        waiting.get(random.nextInt(waiting.size())).answer();
        return true;
    }

    // ---- trouble

    private void fault() {
        int choice = random.nextInt(60);
        if (choice < plan.kills) {
            end(false);
        }
        choice = random.nextInt(60);
        if (choice < plan.powerCuts) {
            end(true);
        }
        if (random.nextInt(60) < plan.connectionCuts && !connections.isEmpty()) {
            SimConnection connection = connections.get(random.nextInt(connections.size()));
            trace(() -> connection + " is cut");
            connection.cut();
        }
        if (random.nextInt(60) < plan.stalls && !connections.isEmpty()) {
            stall(connections.get(random.nextInt(connections.size())));
        }
        if (random.nextInt(60) < plan.brokerRestarts) {
            trace(() -> broker.isUp() ? "the broker goes down" : "the broker comes up");
            if (broker.isUp()) {
                broker.down();
            } else {
                broker.up();
            }
        } else if (!broker.isUp() && random.nextInt(4) == 0) {
            trace(() -> "the broker comes up");
            broker.up();
        }
        if (random.nextInt(60) < plan.sessionLosses) {
            trace(() -> "the broker loses sessions");
            broker.down();
            broker.loseSessions();
        }
        if (random.nextInt(60) < plan.refusals) {
            broker.refuse(1 + random.nextInt(6));
        }
        if (random.nextInt(60) < plan.fullDisks || (disk.isLimited() && random.nextInt(6) == 0)) {
            long usable = disk.isLimited() ? Long.MAX_VALUE : random.nextInt(900_000);
            trace(() -> usable + " bytes left on the disk");
            disk.usableBytes(usable);
        }
        if (random.nextInt(60) < plan.failedForces) {
            trace(() -> "the next sync fails");
            disk.failForces(1 + random.nextInt(2));
        }
        if (random.nextInt(10) == 0) {
            disk.writeBack();
        }
    }

    private void stall(SimConnection connection) {
        trace(() -> connection + " stalls");
        connection.stall();
        if (connection.peer() instanceof SimDevice device && random.nextBoolean()) {
            device.forget();
        }
    }

    /** At once, or in the middle of one of the next changes of the disk. */
    private void end(boolean power) {
        isPower = power;
        if (random.nextInt(3) == 0) {
            disk.kill();
        } else {
            disk.crashAt(disk.operations() + 1 + random.nextInt(12));
        }
    }

    private void processEnded() {
        crashes++;
        trace(() -> isPower ? "the power goes" : "the process is killed");
        proxy = null;
        for (SimConnection connection : connections) {
            connection.processEnded(isPower || random.nextBoolean());
        }
        disk.restart(isPower);
    }

    private void startOrWait() {
        clock.advance(TimeUnit.MILLISECONDS.toNanos(random.nextInt(500)));
        if (!isHealing && random.nextBoolean()) {
            for (int i = 0; i < 5; i++) {
                deliver(false);
                brokerActs();
            }
            return;
        }
        if (!isHealing && crashes > 0 && random.nextInt(5) < 2 && plan.kills + plan.powerCuts > 0) {
            disk.crashAt(disk.operations() + 1 + random.nextInt(60));
        }
        start();
    }

    private void start() {
        deviceLoops.clear();
        uplinkLoops.clear();
        for (int i = 0; i < plan.deviceLoops; i++) {
            deviceLoops.add(new SimLoop(this, clock));
        }
        for (int i = 0; i < plan.lanes; i++) {
            uplinkLoops.add(new SimLoop(this, clock));
        }
        try {
            proxy = SimulatedProxy.start(context, storeContext(), SimChannel.class, deviceLoops, uplinkLoops);
            promises.opened(proxy);
            trace(() -> "the proxy runs");
        } catch (SimCrash e) {
            processEnded();
        } catch (StoreException | RuntimeException e) {
            throw new BrokenPromise("P9 is broken: the store does not open: " + e, e);
        }
    }

    private StoreContext storeContext() {
        StoreContext store = new StoreContext()
                .directory(files.getPath("/data"))
                .lanes(plan.lanes)
                .segmentBytes(StoreContext.SEGMENT_BYTES_MIN)
                .maxBytes(plan.outboxBytes)
                .reserveBytes(64 << 10)
                .uplinkClientId(SimBroker.UPLINK)
                .uplinkBroker("127.0.0.1:1883")
                .routes(List.of(route(plan)))
                .epochClock(clock)
                .nanoClock(clock)
                .errorHandler(error -> trace(() -> "outbox: " + error.getMessage()));
        return SimulatedLog.use(store, promises);
    }

    // ---- the end

    private void heal() {
        trace(() -> "everything is healed");
        isHealing = true;
        disk.crashAt(crashAtOperation > disk.operations() ? crashAtOperation : Long.MAX_VALUE);
        disk.usableBytes(Long.MAX_VALUE);
        disk.failForces(0);
        broker.heal();
        for (SimConnection connection : List.copyOf(connections)) {
            if (connection.isStalled()) {
                connection.cut();
            }
        }
        for (int round = 0; round < HEAL_ROUNDS; round++) {
            steps++;
            if (proxy == null) {
                startOrWait();
            } else {
                healingRound();
            }
            afterStep();
            if (proxy != null && devices.stream().allMatch(SimDevice::isDone) && promises.isDrained()) {
                promises.checkEnd();
                promises.throwIfBroken();
                return;
            }
        }
        throw new BrokenPromise("P4 is broken: it does not drain: "
                + devices.stream()
                        .filter(device -> !device.isDone())
                        .map(SimDevice::clientId)
                        .toList() + " are not done, drained " + promises.isDrained());
    }

    /** Everybody does what there is to do; if that is nothing, time passes. */
    private void healingRound() {
        clock.advance(TimeUnit.MILLISECONDS.toNanos(5));
        boolean moved = false;
        for (SimDevice device : devices) {
            if (device.isAway()) {
                connect(device);
                moved = true;
            }
            moved |= device.publish();
        }
        for (SimConnection connection : List.copyOf(connections)) {
            if (connection.canDeliverToProxy()) {
                connection.deliverToProxy(100_000);
                moved = true;
            }
            if (connection.canDeliverToPeer()) {
                connection.deliverToPeer(100_000);
                moved = true;
            }
        }
        connections.removeIf(SimConnection::isOver);
        deviceLoops.forEach(loop -> guarded(loop::runNow));
        for (int i = 0; i < plan.lanes; i++) {
            int lane = i;
            guarded(() -> proxy.writer(lane).doWork());
            guarded(uplinkLoops.get(lane)::runNow);
        }
        guarded(() -> proxy.housekeeping().doWork());
        while (brokerActs()) {
            moved = true;
        }
        if (!moved) {
            passTime();
        }
        for (int i = 0; i < plan.lanes; i++) {
            if (proxy.store().lane(i).hasFailed()) {
                trace(() -> "a lane has failed: the operator restarts the proxy");
                isPower = false;
                disk.kill();
            }
        }
    }

    private void passTime() {
        long next = clock.nanoTime() + TimeUnit.SECONDS.toNanos(1);
        for (SimLoop loop : deviceLoops) {
            next = Math.min(next, loop.nextTimerNs());
        }
        for (SimLoop loop : uplinkLoops) {
            next = Math.min(next, loop.nextTimerNs());
        }
        clock.advance(TimeUnit.MILLISECONDS.toNanos(1));
        clock.advanceTo(next);
    }

    // ---- the network

    @Override
    public ByteBufAllocator allocator() {
        return allocator;
    }

    @Override
    public boolean isProcessDead() {
        return disk.isCrashed();
    }

    @Override
    public void dialled(SimChannel channel, ChannelPromise promise) {
        if (!broker.isUp()) {
            channel.eventLoop().execute(() -> channel.connected(null, promise));
            return;
        }
        SimConnection connection = new SimConnection("broker#" + connectionNumber++, this);
        connection.join(channel, broker.accept(connection));
        connections.add(connection);
        channel.eventLoop().execute(() -> channel.connected(connection, promise));
    }

    @Override
    public void onWritten(SimConnection connection, Packet packet) {
        trace(() -> "proxy -> " + connection + ' ' + describe(packet));
        if (connection.peer() instanceof SimDevice device) {
            promises.writtenToDevice(connection, device, packet);
        } else if (connection.peer() instanceof SimBroker.Link link && link.isUplink()) {
            promises.writtenToBroker(packet, link.version());
        }
    }

    private static String describe(Packet packet) {
        String text = packet.toString();
        return text.length() > 90 ? text.substring(0, 90) : text;
    }

    @Override
    public String toString() {
        return "seed " + seed + ": " + plan + "; " + promises;
    }
}
