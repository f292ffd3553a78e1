package io.holdfast.proxy;

import io.holdfast.proxy.admission.IngressBudget;
import io.holdfast.proxy.admission.RouteTable;
import io.holdfast.proxy.connection.ClientRegistry;
import io.holdfast.proxy.guard.PublishCaps;
import io.holdfast.proxy.guard.UnconnectedSockets;
import io.holdfast.proxy.link.LinkDialer;
import io.holdfast.proxy.metrics.Counters;
import io.holdfast.store.OutboxStore;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;

/**
 * What every connection of a proxy needs and none owns.
 *
 * @param context   the settings
 * @param routes    where a PUBLISH goes
 * @param store     the outbox
 * @param budget    bytes unsettled in the outbox stages
 * @param holdBudget bytes that wait for the broker on session links; apart, so that they never starve the outbox
 * @param caps     on what a PUBLISH may carry
 * @param unconnected sockets that have not sent CONNECT
 * @param registry  which connection has which client id
 * @param dialer    makes session links
 * @param counters  what is counted
 * @param wallClock epoch milliseconds
 * @param clock     monotonic nanoseconds
 */
public record ProxyServices(
        ProxyContext context,
        RouteTable routes,
        OutboxStore store,
        IngressBudget budget,
        IngressBudget holdBudget,
        PublishCaps caps,
        UnconnectedSockets unconnected,
        ClientRegistry registry,
        LinkDialer dialer,
        Counters counters,
        EpochClock wallClock,
        NanoClock clock) {}
