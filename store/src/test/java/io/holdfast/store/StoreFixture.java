package io.holdfast.store;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/** A store with one writer and one uplink, both stepped by the test's own thread. */
final class StoreFixture implements AutoCloseable {
    static final int SEGMENT_BYTES = StoreContext.SEGMENT_BYTES_MIN;
    static final String ROUTE = "outbox #";
    static final byte[] SALT = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

    /** What a test wants to compare. */
    record Message(long sequence, int kind, String clientId, int packetId, String topic, String payload) {}

    private final ExpandableArrayBuffer record = new ExpandableArrayBuffer();
    private final RecordEncoder encoder = new RecordEncoder();
    final OutboxStore store;
    final Lane lane;
    final LaneWriter writer;
    final List<Throwable> errors = new ArrayList<>();
    private ClientSession session;
    private long epoch;

    private StoreFixture(final StoreContext context) throws StoreException {
        store = OutboxStore.open(context.errorHandler(errors::add));
        lane = store.lane(0);
        writer = lane.writer();
    }

    private StoreFixture(final Path directory, final NanoClock clock, final UnaryOperator<LaneLog> log)
            throws StoreException, IOException {
        final StoreContext context = context(directory).nanoClock(clock).errorHandler(errors::add);
        store = null;
        lane = Lane.open(directory, context, SALT, log.apply(new SegmentLog(directory, context.segmentBytes(), true)));
        writer = lane.writer();
    }

    /** One lane alone, with something between the writer and its log. */
    static StoreFixture openLane(final Path directory, final NanoClock clock, final UnaryOperator<LaneLog> log)
            throws StoreException, IOException {
        return new StoreFixture(directory, clock, log);
    }

    static StoreContext context(final Path directory) {
        return new StoreContext()
                .directory(directory)
                .segmentBytes(SEGMENT_BYTES)
                .routes(List.of(ROUTE));
    }

    static StoreFixture open(final Path directory) throws StoreException {
        return new StoreFixture(context(directory));
    }

    static StoreFixture open(final Path directory, final Consumer<StoreContext> settings) throws StoreException {
        final StoreContext context = context(directory);
        settings.accept(context);
        return new StoreFixture(context);
    }

    ClientSession connect(final String clientId, final boolean sessionPresent) throws StoreException {
        session = writer.openSession(clientId, ++epoch, sessionPresent);
        return session;
    }

    ClientSession session() throws StoreException {
        return session == null ? connect("device", true) : session;
    }

    long epoch() {
        return epoch;
    }

    Outcome publish(final int qos, final int packetId, final String topic, final String payload) throws StoreException {
        final byte[] body = payload.getBytes(StandardCharsets.UTF_8);
        return publish(qos, packetId, topic.getBytes(StandardCharsets.UTF_8), body);
    }

    Outcome publish(final int qos, final int packetId, final byte[] topic, final byte[] payload) throws StoreException {
        final ClientSession current = session();
        final int length = encoder.publish(record, 0, qos, false, 4)
                .times(1_000, 0)
                .route(0)
                .packetId(packetId)
                .clientId(current.clientIdBytes())
                .topic(new UnsafeBuffer(topic), 0, topic.length)
                .properties(record, 0, 0)
                .payload(new UnsafeBuffer(payload), 0, payload.length)
                .finish();
        return writer.publish(record, 0, length, current, epoch);
    }

    /** With an identity; the payload is the identity, too. */
    Outcome publish(final int qos, final int packetId, final long identity, final long receiveTimeMs)
            throws StoreException {
        final ClientSession current = session();
        final byte[] topic = {'t'};
        final byte[] payload = (identity + " " + "x".repeat(500)).getBytes(StandardCharsets.UTF_8);
        final int length = encoder.publish(record, 0, qos, false, 5)
                .times(receiveTimeMs, 0)
                .route(0)
                .packetId(packetId)
                .clientId(current.clientIdBytes())
                .topic(new UnsafeBuffer(topic), 0, topic.length)
                .properties(record, 0, 0)
                .payload(new UnsafeBuffer(payload), 0, payload.length)
                .identity(identity * 0x9E3779B97F4A7C15L, identity)
                .finish();
        return writer.publish(record, 0, length, current, epoch);
    }

    Outcome release(final int packetId) throws StoreException {
        return writer.release(session(), packetId, 1_000, epoch);
    }

    /** Publishes QoS 1 messages with a number as payload until it has been so many, one sync for all. */
    void publishMany(final int from, final int to, final int padding) throws StoreException {
        final String pad = "x".repeat(padding);
        for (int i = from; i < to; i++) {
            final Outcome outcome = publish(1, 1 + i % 65_535, "t", i + " " + pad);
            if (outcome != Outcome.STORED) {
                throw new AssertionError("message " + i + ": " + outcome);
            }
        }
        writer.force();
    }

    /** Everything durable above the cursor. */
    List<Message> read() throws StoreException {
        return read(lane.cursor().sequence() + 1);
    }

    List<Message> read(final long fromSequence) throws StoreException {
        final List<Message> messages = new ArrayList<>();
        try (LaneReader reader = lane.openReader()) {
            reader.seek(fromSequence);
            while (reader.next()) {
                messages.add(message(reader.record()));
            }
        }
        return messages;
    }

    static Message message(final RecordView view) {
        final byte[] payload = new byte[view.payloadLength()];
        view.buffer().getBytes(view.payloadOffset(), payload);
        return new Message(
                view.sequence(),
                view.kind(),
                view.clientId(),
                view.packetId(),
                view.topic(),
                new String(payload, StandardCharsets.UTF_8));
    }

    /** The broker has acknowledged everything that is durable. */
    void finishAll() throws StoreException {
        long number = lane.cursor().sendNumber();
        long last = lane.cursor().sequence();
        try (LaneReader reader = lane.openReader()) {
            reader.seek(last + 1);
            while (reader.next()) {
                last = reader.sequence();
                if (reader.record().kind() == RecordDescriptor.KIND_PUBLISH) {
                    lane.cursor().delivered(reader.record().routeNumber(), 1);
                }
                if (reader.record().sendNumber() >= 0) {
                    number = reader.record().sendNumber() + 1;
                }
            }
            last = Math.max(last, reader.exhaustedUpTo());
        }
        lane.cursor().advance(last, number);
        while (lane.cursor().writeIfDirty()) {
            lane.journal().forgetBelow(lane.cursor().olderDurableSendNumber());
        }
    }

    void maintain() throws StoreException {
        while (writer.maintain() > 0) {
            // Once more: two checkpoints follow a roll.
        }
    }

    @Override
    public void close() throws StoreException, IOException {
        if (store != null) {
            store.close();
        } else {
            lane.close();
        }
    }
}
