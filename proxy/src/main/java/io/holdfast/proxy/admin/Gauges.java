package io.holdfast.proxy.admin;

import io.holdfast.proxy.uplink.UplinkState;
import io.holdfast.store.Cursor;
import io.holdfast.store.DropReason;
import io.holdfast.store.Lane;
import io.holdfast.store.OutboxStore;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Locale;
import java.util.function.ToLongFunction;

/**
 * What the Prometheus page shows besides the counters. All of it is computed from live state when asked, so no gauge can be
 * forgotten high. Tags are lanes and reasons, never client ids or topics.
 */
final class Gauges {
    private Gauges() {}

    static void bind(ProxyReport report, MeterRegistry registry) {
        report.counters().bindTo(registry);
        gauge(
                registry,
                "holdfast.devices.connected",
                "Devices connected now.",
                Tags.empty(),
                report,
                r -> r.services().registry().size());
        gauge(
                registry,
                "holdfast.ingress.bytes",
                "Bytes of PUBLISHes that are not settled.",
                Tags.empty(),
                report,
                r -> r.services().budget().usedBytes());
        for (int i = 0; i < report.lanes(); i++) {
            bindLane(report, registry, i);
        }
    }

    private static void bindLane(ProxyReport report, MeterRegistry registry, int number) {
        Tags tags = Tags.of("lane", Integer.toString(number));
        OutboxStore store = report.services().store();
        Lane lane = store.lane(number);
        gauge(registry, "holdfast.outbox.pending", "Records not finished.", tags, report, r -> r.backlog(number));
        gauge(
                registry,
                "holdfast.outbox.bytes",
                "Bytes of the segment files.",
                tags,
                lane,
                l -> l.stat().bytesOnDisk());
        gauge(
                registry,
                "holdfast.outbox.segments",
                "Segment files.",
                tags,
                lane,
                l -> l.stat().segments());
        gauge(
                registry,
                "holdfast.outbox.sessions",
                "Sessions whose received ids are remembered.",
                tags,
                lane,
                l -> l.stat().sessions());
        counter(
                registry,
                "holdfast.outbox.accepted",
                "Records that became durable.",
                tags,
                store,
                s -> sum(s, route -> lane.accepted(route)));
        Cursor cursor = lane.cursor();
        counter(
                registry,
                "holdfast.outbox.delivered",
                "Records that the broker acknowledged.",
                tags,
                store,
                s -> sum(s, cursor::delivered));
        counter(
                registry,
                "holdfast.outbox.expired",
                "Records that expired before they were sent.",
                tags,
                store,
                s -> sum(s, cursor::expired));
        for (DropReason reason : DropReason.values()) {
            counter(
                    registry,
                    "holdfast.outbox.dropped",
                    "Records dropped, by reason.",
                    tags.and("reason", reason.name().toLowerCase(Locale.ROOT)),
                    store,
                    s -> sum(s, route -> cursor.dropped(route, reason)));
        }
        counter(
                registry,
                "holdfast.outbox.segments.reclaimed",
                "Segment files deleted.",
                tags,
                lane,
                l -> l.stat().segmentsReclaimed());
        counter(
                registry,
                "holdfast.outbox.segments.dead",
                "Segment files given up because a sync failed.",
                tags,
                lane,
                l -> l.stat().deadSegments());
        gauge(
                registry,
                "holdfast.uplink.connected.now",
                "1 while the uplink is connected.",
                tags,
                report,
                r -> r.uplink(number).status().state() == UplinkState.RUNNING ? 1 : 0);
        gauge(
                registry,
                "holdfast.uplink.in.flight",
                "Span of send numbers in flight.",
                tags,
                report,
                r -> r.uplink(number).status().inFlight());
        Gauge.builder(
                        "holdfast.uplink.progress.age",
                        report,
                        r -> r.uplink(number).status().secondsSinceProgress())
                .description("Seconds since a record was finished or the uplink connected.")
                .baseUnit("seconds")
                .tags(tags)
                .register(registry);
    }

    private interface PerRoute {
        long of(int route);
    }

    private static long sum(OutboxStore store, PerRoute value) {
        long sum = 0;
        for (int route = 0; route < store.routeCount(); route++) {
            sum += value.of(route);
        }
        return sum;
    }

    private static <T> void gauge(
            MeterRegistry registry, String name, String sentence, Tags tags, T source, ToLongFunction<T> value) {
        Gauge.builder(name, source, s -> value.applyAsLong(s))
                .description(sentence)
                .tags(tags)
                .register(registry);
    }

    private static <T> void counter(
            MeterRegistry registry, String name, String sentence, Tags tags, T source, ToLongFunction<T> value) {
        FunctionCounter.builder(name, source, s -> value.applyAsLong(s))
                .description(sentence)
                .tags(tags)
                .register(registry);
    }
}
