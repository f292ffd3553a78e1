package io.holdfast.proxy.admin;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.holdfast.proxy.ProxyServices;
import io.holdfast.proxy.metrics.Counters;
import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.outbox.WriterAgent;
import io.holdfast.proxy.source.Listener;
import io.holdfast.proxy.uplink.LaneUplink;
import io.holdfast.store.Cursor;
import io.holdfast.store.DropReason;
import io.holdfast.store.Lane;
import io.holdfast.store.OutboxStore;
import java.io.IOException;
import java.io.StringWriter;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;

/** Health and ledger, read from the parts that know. Any thread. */
public final class ProxyReport {
    private final ProxyServices services;
    private final List<WriterAgent> writers;
    private final List<LaneUplink> uplinks;
    private final List<Listener> listeners;
    private final JsonFactory json = new JsonFactory();

    /** Reports on these parts. */
    public ProxyReport(
            ProxyServices services, List<WriterAgent> writers, List<LaneUplink> uplinks, List<Listener> listeners) {
        this.services = services;
        this.writers = writers;
        this.uplinks = uplinks;
        this.listeners = listeners;
    }

    /** Lanes of the outbox. */
    int lanes() {
        return uplinks.size();
    }

    LaneUplink uplink(int lane) {
        return uplinks.get(lane);
    }

    ProxyServices services() {
        return services;
    }

    Counters counters() {
        return services.counters();
    }

    /** Listeners up, and the outbox accepts or the broker is there: an outage of the broker is no reason to be taken out. */
    boolean isReady() {
        boolean listening = listeners.stream().allMatch(Listener::isOpen);
        return listening && ((services.routes().anyOutbox() && isOutboxAccepting()) || isUplinkHealthy());
    }

    private boolean isOutboxAccepting() {
        for (int i = 0; i < writers.size(); i++) {
            if (writers.get(i).isFailed() || services.store().lane(i).isFull()) {
                return false;
            }
        }
        return true;
    }

    /** Records flow, or there are none to flow. */
    boolean isUplinkHealthy() {
        for (int i = 0; i < uplinks.size(); i++) {
            if (!uplinks.get(i).status().isHealthy(backlog(i) > 0)) {
                return false;
            }
        }
        return true;
    }

    /** One line per uplink. */
    String describeUplinks() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < uplinks.size(); i++) {
            var status = uplinks.get(i).status();
            text.append(String.format(
                    Locale.ROOT,
                    "lane %d: %s, %d records pending, %d in flight, %.1f s since progress%s%n",
                    i,
                    status.state().name().toLowerCase(Locale.ROOT),
                    backlog(i),
                    status.inFlight(),
                    status.secondsSinceProgress(),
                    status.lastError().isEmpty() ? "" : ", last error: " + status.lastError()));
        }
        return text.toString();
    }

    /** PUBLISH records of a lane that are not finished. */
    long backlog(int lane) {
        long finished = 0;
        long accepted = 0;
        OutboxStore store = services.store();
        for (int route = 0; route < store.routeCount(); route++) {
            finished += store.lane(lane).cursor().finished(route);
        }
        for (int route = 0; route < store.routeCount(); route++) {
            accepted += store.lane(lane).accepted(route);
        }
        return Math.max(0, accepted - finished);
    }

    /** The ledger, per route and in all (P7). */
    String ledger() {
        StringWriter text = new StringWriter();
        try (JsonGenerator out = json.createGenerator(text).useDefaultPrettyPrinter()) {
            OutboxStore store = services.store();
            Entry total = new Entry();
            out.writeStartObject();
            out.writeObjectFieldStart("outbox");
            out.writeArrayFieldStart("routes");
            for (int route = 0; route < store.routeCount(); route++) {
                Entry entry = entry(store, route);
                total.add(entry);
                out.writeStartObject();
                out.writeStringField("route", store.routeText(route));
                entry.write(out);
                out.writeEndObject();
            }
            out.writeEndArray();
            out.writeObjectFieldStart("total");
            total.write(out);
            out.writeEndObject();
            out.writeEndObject();
            out.writeObjectFieldStart("since_start");
            out.writeNumberField("hold_accepted", counters().get(Meter.HOLD_ACCEPTED));
            out.writeNumberField("hold_rejected", counters().get(Meter.HOLD_REJECTED));
            out.writeNumberField("qos0_forwarded", counters().get(Meter.QOS0_FORWARDED));
            writeReasons(out, "dropped", "holdfast.dropped");
            writeReasons(out, "rejected", "holdfast.rejected");
            out.writeNumberField("duplicate", counters().get(Meter.PUBLISH_DUPLICATE));
            out.writeEndObject();
            out.writeEndObject();
        } catch (IOException e) {
            throw new IllegalStateException("a StringWriter does not fail", e);
        }
        return text + "\n";
    }

    private void writeReasons(JsonGenerator out, String field, String meterName) throws IOException {
        out.writeObjectFieldStart(field);
        for (Meter meter : Meter.values()) {
            if (meter.meterName().equals(meterName)) {
                out.writeNumberField(meter.reason(), counters().get(meter));
            }
        }
        out.writeEndObject();
    }

    private static Entry entry(OutboxStore store, int route) {
        Entry entry = new Entry();
        for (int i = 0; i < store.laneCount(); i++) {
            Lane lane = store.lane(i);
            Cursor cursor = lane.cursor();
            entry.delivered += cursor.delivered(route); // before accepted: pending is then never negative
            entry.expired += cursor.expired(route);
            entry.deadLettered += cursor.deadLettered(route);
            for (DropReason reason : DropReason.values()) {
                long unstored = lane.droppedUnstored(route, reason);
                entry.accepted += unstored;
                entry.dropped.merge(reason, cursor.dropped(route, reason) + unstored, Long::sum);
            }
            entry.accepted += lane.accepted(route);
        }
        return entry;
    }

    private static final class Entry {
        private long accepted;
        private long delivered;
        private long expired;
        private long deadLettered;
        private final EnumMap<DropReason, Long> dropped = new EnumMap<>(DropReason.class);

        void add(Entry other) {
            accepted += other.accepted;
            delivered += other.delivered;
            expired += other.expired;
            deadLettered += other.deadLettered;
            other.dropped.forEach((reason, count) -> dropped.merge(reason, count, Long::sum));
        }

        void write(JsonGenerator out) throws IOException {
            long pending = accepted - delivered - expired - deadLettered;
            for (long count : dropped.values()) {
                pending -= count;
            }
            out.writeNumberField("accepted", accepted);
            out.writeNumberField("delivered", delivered);
            out.writeNumberField("pending", pending);
            out.writeNumberField("expired", expired);
            out.writeNumberField("dead_lettered", deadLettered);
            out.writeObjectFieldStart("dropped");
            for (DropReason reason : DropReason.values()) {
                out.writeNumberField(reason.name().toLowerCase(Locale.ROOT), dropped.getOrDefault(reason, 0L));
            }
            out.writeEndObject();
        }
    }
}
