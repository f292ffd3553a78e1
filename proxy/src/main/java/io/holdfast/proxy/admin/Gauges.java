package io.holdfast.proxy.admin;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.uplink.UplinkState;
import io.holdfast.store.Cursor;
import io.holdfast.store.DeadLetters;
import io.holdfast.store.DropReason;
import io.holdfast.store.Lane;
import io.holdfast.store.OutboxStore;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.Locale;
import java.util.function.DoubleSupplier;
import java.util.function.IntToLongFunction;

/**
 * What the Prometheus page shows besides the counters. All of it is computed from live state when asked, so no gauge can be
 * forgotten high. Tags are lanes and reasons, never client ids or topics.
 */
final class Gauges {
    private final MeterRegistry registry;
    private final ProxyReport report;

    private Gauges(MeterRegistry registry, ProxyReport report) {
        this.registry = registry;
        this.report = report;
    }

    static void bind(ProxyReport report, MeterRegistry registry) {
        report.counters().bindTo(registry);
        new Gauges(registry, report).bindAll();
    }

    private void bindAll() {
        gauge(
                Meter.DEVICES_CONNECTED,
                Tags.empty(),
                () -> report.services().registry().size());
        gauge(
                Meter.INGRESS_BYTES,
                Tags.empty(),
                () -> report.services().budget().usedBytes());
        DeadLetters deadLetters = report.services().store().deadLetters();
        gauge(Meter.DEAD_LETTERS, Tags.empty(), deadLetters::count);
        gauge(Meter.DEAD_LETTER_BYTES, Tags.empty(), deadLetters::bytesOnDisk);
        for (int lane = 0; lane < report.lanes(); lane++) {
            bindLane(lane);
        }
    }

    private void bindLane(int number) {
        Tags tags = Tags.of("lane", Integer.toString(number));
        Lane lane = report.services().store().lane(number);
        Cursor cursor = lane.cursor();
        gauge(Meter.OUTBOX_PENDING, tags, () -> report.backlog(number));
        gauge(Meter.OUTBOX_BYTES, tags, () -> lane.stat().bytesOnDisk());
        gauge(Meter.OUTBOX_SEGMENTS, tags, () -> lane.stat().segments());
        gauge(Meter.OUTBOX_SESSIONS, tags, () -> lane.stat().sessions());
        counter(
                Meter.OUTBOX_ACCEPTED,
                tags,
                () -> overRoutes(route -> lane.accepted(route)
                        + lane.droppedUnstored(route, DropReason.NEW)
                        + lane.droppedUnstored(route, DropReason.DUPLICATE)));
        counter(Meter.OUTBOX_DELIVERED, tags, () -> overRoutes(cursor::delivered));
        counter(Meter.OUTBOX_EXPIRED, tags, () -> overRoutes(cursor::expired));
        gauge(Meter.OUTBOX_DEAD_LETTERED, tags, () -> overRoutes(cursor::deadLettered));
        for (DropReason reason : DropReason.values()) {
            Tags why = tags.and("reason", reason.name().toLowerCase(Locale.ROOT));
            counter(
                    Meter.OUTBOX_DROPPED,
                    why,
                    () -> overRoutes(route -> cursor.dropped(route, reason) + lane.droppedUnstored(route, reason)));
        }
        counter(Meter.SEGMENTS_RECLAIMED, tags, () -> lane.stat().segmentsReclaimed());
        gauge(Meter.DEDUP_ENTRIES, tags, lane::identities);
        counter(Meter.DEDUP_FORGOTTEN, tags, lane::identitiesForgottenEarly);
        counter(Meter.SEGMENTS_DEAD, tags, () -> lane.stat().deadSegments());
        counter(Meter.OUTBOX_MISSING, tags, () -> lane.stat().missingRecords());
        counter(Meter.OUTBOX_DAMAGED_PLACES, tags, () -> lane.stat().damagedPlaces());
        counter(Meter.OUTBOX_DAMAGED_FILES_DELETED, tags, () -> lane.stat().damagedFilesDeleted());
        counter(Meter.RECEIVED_ID_REUSED, tags, () -> lane.stat().receivedIdsReused());
        gauge(Meter.UPLINK_UP, tags, () -> report.uplink(number).status().state() == UplinkState.RUNNING ? 1 : 0);
        gauge(Meter.UPLINK_IN_FLIGHT, tags, () -> report.uplink(number).status().inFlight());
        gauge(
                Meter.UPLINK_PROGRESS_AGE,
                tags,
                () -> report.uplink(number).status().secondsSinceProgress());
    }

    private double overRoutes(IntToLongFunction value) {
        OutboxStore store = report.services().store();
        long sum = 0;
        for (int route = 0; route < store.routeCount(); route++) {
            sum += value.applyAsLong(route);
        }
        return sum;
    }

    private void gauge(Meter meter, Tags tags, DoubleSupplier value) {
        // Micrometer keeps the object weakly and the function strongly: the report lives as long as the proxy.
        Gauge.builder(meter.meterName(), report, asked -> value.getAsDouble())
                .description(meter.sentence())
                .tags(tags)
                .register(registry);
    }

    private void counter(Meter meter, Tags tags, DoubleSupplier value) {
        FunctionCounter.builder(meter.meterName(), report, asked -> value.getAsDouble())
                .description(meter.sentence())
                .tags(tags)
                .register(registry);
    }
}
