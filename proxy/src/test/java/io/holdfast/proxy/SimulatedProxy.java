package io.holdfast.proxy;

import io.holdfast.codec.Direction;
import io.holdfast.codec.FrameDecoder;
import io.holdfast.proxy.admission.IngressBudget;
import io.holdfast.proxy.admission.LoopContext;
import io.holdfast.proxy.admission.ProducerIdentity;
import io.holdfast.proxy.admission.RouteTable;
import io.holdfast.proxy.connection.ClientRegistry;
import io.holdfast.proxy.connection.DeviceConnection;
import io.holdfast.proxy.guard.BegunPackets;
import io.holdfast.proxy.guard.ChannelErrors;
import io.holdfast.proxy.guard.PublishCaps;
import io.holdfast.proxy.guard.UnconnectedSockets;
import io.holdfast.proxy.link.LinkDialer;
import io.holdfast.proxy.metrics.Counters;
import io.holdfast.proxy.outbox.LaneFeed;
import io.holdfast.proxy.outbox.WriterAgent;
import io.holdfast.proxy.uplink.DeliveryPolicies;
import io.holdfast.proxy.uplink.LaneUplink;
import io.holdfast.store.OutboxStore;
import io.holdfast.store.StoreContext;
import io.holdfast.store.StoreException;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.agrona.concurrent.Agent;

/**
 * The proxy's own classes, wired as {@link HoldfastProxy} does it, but without a thread, a socket or a clock of its own: its
 * loops and agents are run by hand.
 */
public final class SimulatedProxy {
    private static final int QUEUE_SLOTS = 1024;
    private static final int BATCH_BYTES = 1024 * 1024;

    private final ProxyServices services;
    private final IdentityHashMap<EventLoop, LoopContext> loops = new IdentityHashMap<>();
    private final List<WriterAgent> writers = new ArrayList<>();
    private final List<LaneUplink> uplinks = new ArrayList<>();
    private final HousekeepingAgent housekeeping;

    private SimulatedProxy(
            ProxyContext context,
            StoreContext settings,
            OutboxStore store,
            Class<? extends Channel> channelClass,
            List<? extends EventLoop> deviceLoops,
            List<? extends EventLoop> uplinkLoops) {
        Counters counters = new Counters();
        LinkDialer dialer = new LinkDialer(channelClass, context.upstream(), null);
        long memory = context.devices().ingressMemoryBudgetBytes();
        services = new ProxyServices(
                context,
                new RouteTable(context.routes(), store::routeNumber),
                store,
                new IngressBudget(memory, memory),
                new IngressBudget(memory, memory),
                new PublishCaps(context.devices()),
                new UnconnectedSockets(context.guards().maxUnconnected()),
                new ClientRegistry(),
                dialer,
                counters,
                settings.epochClock(),
                settings.nanoClock());
        DeliveryPolicies policies = new DeliveryPolicies(
                context.delivery(),
                context.routes().stream()
                        .map(route -> new DeliveryPolicies.OfRoute(
                                store.routeNumber(route.toString()),
                                route.onPermanentFailure()
                                        .orElse(context.delivery().onPermanentFailure()),
                                route.onExpired().orElse(context.delivery().onExpired())))
                        .toList());
        for (int i = 0; i < store.laneCount(); i++) {
            WriterAgent writer = new WriterAgent(i, store.lane(i), QUEUE_SLOTS, BATCH_BYTES, counters);
            LaneUplink uplink = new LaneUplink(
                    i,
                    store,
                    store.meta().uplinkClientId() + "-" + i,
                    uplinkLoops.get(i),
                    dialer,
                    context.uplink(),
                    policies,
                    counters,
                    settings.epochClock(),
                    settings.nanoClock());
            writer.onDurable(uplink::wake);
            writers.add(writer);
            uplinks.add(uplink);
        }
        for (EventLoop loop : deviceLoops) {
            LaneFeed[] feeds =
                    writers.stream().map(writer -> writer.feedFor(loop)).toArray(LaneFeed[]::new);
            loops.put(
                    loop,
                    new LoopContext(
                            loop,
                            feeds,
                            new BegunPackets(memory),
                            new ProducerIdentity(ProxyContext.DedupBy.OFF, store.identityHash())));
        }
        housekeeping = new HousekeepingAgent(store, List.of(), settings.nanoClock());
        uplinks.forEach(LaneUplink::start);
    }

    /**
     * Opens the store and makes everything that needs no thread.
     *
     * @param deviceLoops for the devices and their session links
     * @param uplinkLoops one per lane
     */
    public static SimulatedProxy start(
            ProxyContext context,
            StoreContext settings,
            Class<? extends Channel> channelClass,
            List<? extends EventLoop> deviceLoops,
            List<? extends EventLoop> uplinkLoops)
            throws StoreException {
        OutboxStore store = OutboxStore.open(settings);
        return new SimulatedProxy(context, settings, store, channelClass, deviceLoops, uplinkLoops);
    }

    /** A device has connected; the pipeline is that of every listener. */
    public void accept(Channel channel, EventLoop loop) {
        channel.pipeline().addLast(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel accepted) {
                DeviceConnection connection = new DeviceConnection(services, loops.get(loop));
                FrameDecoder decoder = new FrameDecoder(
                        connection,
                        Direction.FROM_CLIENT,
                        services.context().devices().maxPacketSize(),
                        Integer.MAX_VALUE);
                accepted.pipeline().addLast(decoder, ChannelErrors.INSTANCE);
                connection.accepted(accepted.pipeline().context(decoder), decoder);
            }
        });
        loop.register(channel);
    }

    /** The store. */
    public OutboxStore store() {
        return services.store();
    }

    /** What is counted. */
    public Counters counters() {
        return services.counters();
    }

    /** The writer of a lane. */
    public Agent writer(int lane) {
        return writers.get(lane);
    }

    /** Housekeeping. */
    public Agent housekeeping() {
        return housekeeping;
    }

    /** A clean stop begins: the devices are told, the uplinks stop. The loops have to be run before {@link #close()}. */
    public void stop() {
        services.registry().forEach(DeviceConnection::shutDown);
        uplinks.forEach(LaneUplink::stop);
    }

    /** The end of a clean stop. */
    public void close() throws StoreException {
        writers.forEach(WriterAgent::onClose);
        services.store().close();
    }
}
