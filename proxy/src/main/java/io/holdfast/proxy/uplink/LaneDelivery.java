package io.holdfast.proxy.uplink;

import io.holdfast.codec.AckWriter;
import io.holdfast.codec.ConnackPacket;
import io.holdfast.codec.MqttVersion;
import io.holdfast.codec.PacketType;
import io.holdfast.codec.ReasonCode;
import io.holdfast.proxy.link.Backoff;
import io.holdfast.proxy.link.FailureClass;
import io.holdfast.proxy.metrics.Counters;
import io.holdfast.proxy.metrics.Meter;
import io.holdfast.store.Cursor;
import io.holdfast.store.DropReason;
import io.holdfast.store.Lane;
import io.holdfast.store.LaneReader;
import io.holdfast.store.RecordDescriptor;
import io.holdfast.store.RecordView;
import io.holdfast.store.StoreException;
import io.holdfast.store.UplinkJournal;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.util.concurrent.TimeUnit;
import org.agrona.collections.LongArrayQueue;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What an uplink sends, and what an acknowledgement means: reads the log up to its durable watermark, publishes within
 * the window, journals PUBREC before PUBREL (P5), and moves the cursor over what is finished (P4).
 *
 * <p>Packet ids are derived from the send numbers in the records, so after a crash they are known. On the uplink's event
 * loop.
 */
final class LaneDelivery {
    private static final Logger LOG = LoggerFactory.getLogger(LaneDelivery.class);
    private static final int BATCH_BYTES = 64 * 1024;
    private static final int FIRST_BATCH_BYTES = 2 * 1024;
    private static final int QOS0_BEHIND_LIMIT = 32 * 1024;
    private static final long NO_RETRY = Long.MAX_VALUE;

    // for the lane
    private final Lane lane;
    private final LaneReader reader;
    private final Cursor cursor;
    private final UplinkJournal journal;
    private final UplinkStatus status;
    private final Counters counters;
    private final EpochClock wallClock;
    private final NanoClock clock;
    private final SendWindow window;
    private final int maxSpan;
    private final RecordFrames frames = new RecordFrames();
    private final LongArrayQueue qos0Sequences = new LongArrayQueue(Long.MIN_VALUE);
    private final LongArrayQueue qos0Routes = new LongArrayQueue(Long.MIN_VALUE);
    private final Backoff retryBackoff;
    private long lastSequence;
    private long qos0HandledUpTo;
    private boolean recordWaiting;
    private long duplicateBelow;
    private boolean isSessionUnused;
    private long lastDropLogNs;

    // for one connection
    private ChannelHandlerContext ctx;
    private MqttVersion version;
    private ConnackPacket limits;
    private int span;
    private boolean resumed;
    private final LongArrayQueue toRelease = new LongArrayQueue(Long.MIN_VALUE);
    private int refusedOpen;
    private long retryAtNs = NO_RETRY;
    private ByteBuf batch;

    LaneDelivery(Lane lane, int maxSpan, UplinkStatus status, Counters counters, EpochClock wallClock, NanoClock clock)
            throws StoreException {
        this.lane = lane;
        this.reader = lane.openReader();
        this.cursor = lane.cursor();
        this.journal = lane.journal();
        this.status = status;
        this.counters = counters;
        this.wallClock = wallClock;
        this.clock = clock;
        this.maxSpan = maxSpan;
        this.window = new SendWindow(maxSpan, cursor.sendNumber());
        this.duplicateBelow = cursor.sendNumber() + maxSpan; // an earlier process may have sent that far
        this.retryBackoff = new Backoff(100, 30_000, clock.nanoTime());
    }

    /** Whether the journal belongs to a broker session that can be resumed. */
    boolean hasHistory() {
        return journal.hasHistory();
    }

    // ---- connection

    /** A clean start was accepted: from now on there is a broker session, and nothing has been sent in it. */
    void sessionMade() throws StoreException {
        journal.sessionLost();
        journal.force();
        window.restart();
        duplicateBelow = 0;
        isSessionUnused = true;
    }

    /**
     * A connection was accepted. Sends PUBREL for what the journal has, then the unfinished from the oldest, then the new.
     *
     * @param isResumed Session Present 1, and the session is the one that the journal is about
     */
    void connected(ChannelHandlerContext context, MqttVersion mqttVersion, ConnackPacket connack, boolean isResumed)
            throws StoreException {
        ctx = context;
        version = mqttVersion;
        limits = connack;
        resumed = isResumed;
        span = Math.min(maxSpan, mqttVersion.isV5() ? connack.receiveMaximum() : maxSpan);
        refusedOpen = 0;
        retryAtNs = NO_RETRY;
        toRelease.clear();
        if (isResumed) {
            journal.sessionEstablished();
        } else {
            long unfinished = lane.durableSequence() - cursor.sequence();
            if (journal.hasHistory() && unfinished > 0 && !isSessionUnused) {
                counters.increment(Meter.UPLINK_RESUME_LOST);
                LOG.warn("The broker has lost the uplink's session; {} unfinished records are sent as new", unfinished);
            }
            sessionMade();
        }
        window.forgetRefusals();
        journal.force(); // before the first packet of this session
        status.progress(window.span());
        if (isResumed) {
            releaseJournalled();
        }
        seekToUnfinished();
        pump();
    }

    private void releaseJournalled() {
        long end = window.base() + window.capacity();
        for (long number = window.base(); number < end; number++) {
            if (journal.isReceived(number) && !SendWindow.isFinished(window.state(number))) {
                release(number);
            }
        }
        flush();
    }

    private void seekToUnfinished() throws StoreException {
        lastSequence = cursor.sequence();
        reader.seek(lastSequence + 1);
        recordWaiting = false;
    }

    /** The connection ended; what it left unfinished is sent again over the next one. */
    void disconnected() {
        duplicateBelow = Math.max(duplicateBelow, window.next());
        if (batch != null) {
            batch.release();
            batch = null;
        }
        ctx = null;
        status.inFlight(window.span());
    }

    // ---- sending

    /** Sends what the window, the socket and the log allow. */
    void pump() throws StoreException {
        if (ctx == null) {
            return;
        }
        advance();
        if (refusedOpen > 0) {
            retryRefused();
        }
        while (refusedOpen == 0 && ctx.channel().isWritable()) {
            if (!recordWaiting && !reader.next()) {
                break;
            }
            recordWaiting = true;
            if (!handle(reader.record())) {
                break;
            }
            recordWaiting = false;
            lastSequence = reader.sequence();
        }
        advance();
        flush();
    }

    /** One record; false if it has to wait. */
    private boolean handle(RecordView record) throws StoreException {
        if (record.kind() != RecordDescriptor.KIND_PUBLISH) {
            return true;
        }
        if (record.qos() == 0) {
            return handleQos0(record);
        }
        long number = record.sendNumber();
        if (number < window.base()) {
            return true;
        }
        if (number - window.base() >= span) {
            advance();
        }
        if (number - window.base() >= span || !journalCovers(number)) {
            return false;
        }
        if (number >= window.next()) {
            window.open(number, record.sequence(), record.qos(), record.routeNumber());
        }
        byte state = window.state(number);
        if (SendWindow.isFinished(state) || state == SendWindow.RELEASED || state == SendWindow.RECEIVED) {
            return true;
        }
        if (resumed && journal.isReceived(number)) {
            release(number);
            return true;
        }
        if (journal.isGivenUp(number)) {
            finish(number, SendWindow.REFUSED_FOR_GOOD);
            return true;
        }
        boolean mayHaveBeenSent = number < duplicateBelow;
        publish(record, number, resumed && mayHaveBeenSent, mayHaveBeenSent);
        return true;
    }

    private boolean journalCovers(long number) throws StoreException {
        if (journal.covers(number)) {
            return true;
        }
        writeCursor();
        writeCursor(); // both slots
        return journal.covers(number);
    }

    private boolean handleQos0(RecordView record) {
        if (record.sequence() <= qos0HandledUpTo) {
            return true; // at most once: not again over a new connection
        }
        if (qos0Sequences.size() >= QOS0_BEHIND_LIMIT) {
            return false;
        }
        if (isExpired(record)) {
            cursor.expired(record.routeNumber(), 1);
        } else if (fitsBroker(record)) {
            write(record, 0, false);
            qos0Sequences.addLong(record.sequence());
            qos0Routes.addLong(record.routeNumber());
        } else {
            cursor.dropped(record.routeNumber(), DropReason.BROKER_LIMIT, 1);
        }
        qos0HandledUpTo = record.sequence();
        return true;
    }

    private void publish(RecordView record, long number, boolean dup, boolean mayHaveBeenSent) {
        if (!mayHaveBeenSent && isExpired(record)) {
            finish(number, SendWindow.EXPIRED);
            return;
        }
        if (!fitsBroker(record)) {
            giveUp(number, SendWindow.BEYOND_BROKER_LIMIT, "it is beyond what the broker said it takes");
            return;
        }
        if (mayHaveBeenSent) {
            counters.increment(Meter.UPLINK_RESENT);
        }
        window.sent(number, clock.nanoTime());
        isSessionUnused = false;
        write(record, SendWindow.packetId(number), dup);
    }

    private void write(RecordView record, int packetId, boolean dup) {
        boolean v5 = version.isV5();
        if (!v5 && record.propertiesLength() > 0) {
            counters.increment(Meter.UPLINK_PROPERTIES_LOST);
        }
        ByteBuf out = batch(RecordFrames.length(record, v5));
        frames.write(out, record, packetId, dup, v5, expirySeconds(record));
        counters.increment(Meter.UPLINK_SENT);
    }

    private boolean fitsBroker(RecordView record) {
        return record.qos() <= limits.maximumQos()
                && (!record.retain() || limits.retainAvailable())
                && RecordFrames.length(record, version.isV5()) <= limits.maximumPacketSize();
    }

    private boolean isExpired(RecordView record) {
        return record.expiryTimeMs() != 0 && now(record) >= record.expiryTimeMs();
    }

    private long expirySeconds(RecordView record) {
        return record.expiryTimeMs() == 0 ? 0 : Math.max(1, (record.expiryTimeMs() - now(record) + 999) / 1000);
    }

    /** A wall clock that was set back is no younger than the record. */
    private long now(RecordView record) {
        return Math.max(wallClock.time(), record.receiveTimeMs());
    }

    private void release(long number) {
        window.state(number, SendWindow.RELEASED);
        window.sentAtNs(number, clock.nanoTime());
        AckWriter.write(batch(AckWriter.MAX_BYTES), PacketType.PUBREL, SendWindow.packetId(number));
    }

    private ByteBuf batch(int bytes) {
        if (batch != null && batch.maxWritableBytes() < bytes) {
            writeBatch();
        }
        if (batch == null) {
            batch = ctx.alloc().directBuffer(Math.max(bytes, FIRST_BATCH_BYTES), Math.max(bytes, BATCH_BYTES));
        }
        return batch;
    }

    private void writeBatch() {
        if (batch != null) {
            ctx.write(batch, ctx.voidPromise());
            batch = null;
        }
    }

    private void flush() {
        writeBatch();
        ctx.flush();
        status.inFlight(window.span());
    }

    // ---- acknowledgements

    /** PUBACK, PUBREC or PUBCOMP from the broker. */
    void onAck(int type, int packetId, int reason) {
        long number = window.numberOf(packetId);
        byte state = window.state(number);
        switch (type) {
            case PacketType.PUBACK -> {
                if (state == SendWindow.SENT && window.qos(number) == 1) {
                    onAnswer(number, reason);
                } else {
                    unexpected(type, packetId);
                }
            }
            case PacketType.PUBREC -> onPubrec(number, state, packetId, reason);
            default -> {
                if (state == SendWindow.RELEASED) {
                    finish(number, SendWindow.DELIVERED); // any PUBCOMP ends the flow, 0x92 too
                } else {
                    unexpected(type, packetId);
                }
            }
        }
    }

    private void onPubrec(long number, byte state, int packetId, int reason) {
        if (state == SendWindow.SENT && window.qos(number) == 2) {
            if (ReasonCode.isFailure(reason)) {
                onAnswer(number, reason);
            } else {
                window.state(number, SendWindow.RECEIVED);
                journal.received(number);
                toRelease.addLong(number);
            }
        } else if (state == SendWindow.RELEASED && !ReasonCode.isFailure(reason)) {
            release(number);
        } else if (state != SendWindow.RECEIVED) {
            unexpected(PacketType.PUBREC, packetId);
            if (!ReasonCode.isFailure(reason)) {
                AckWriter.write(
                        batch(AckWriter.MAX_BYTES),
                        PacketType.PUBREL,
                        packetId,
                        ReasonCode.PACKET_IDENTIFIER_NOT_FOUND,
                        version);
            }
        }
    }

    private void onAnswer(long number, int reason) {
        switch (FailureClass.of(reason)) {
            case SUCCESS -> finish(number, SendWindow.DELIVERED);
            case PERMANENT ->
                giveUp(number, SendWindow.REFUSED_FOR_GOOD, "the broker refuses it: " + ReasonCode.name(reason));
            case TRANSIENT -> {
                window.state(number, SendWindow.REFUSED);
                if (window.markRefused(number)) {
                    refusedOpen++;
                    counters.increment(Meter.UPLINK_REORDERED);
                }
                if (retryAtNs == NO_RETRY) {
                    retryAtNs = clock.nanoTime() + TimeUnit.MILLISECONDS.toNanos(retryBackoff.nextDelayMs());
                    ctx.executor().schedule(this::retry, retryAtNs - clock.nanoTime(), TimeUnit.NANOSECONDS);
                }
            }
        }
    }

    private void unexpected(int type, int packetId) {
        counters.increment(Meter.UPLINK_UNEXPECTED_ACK);
        LOG.debug("{} for id {} fits nothing in flight", PacketType.name(type), packetId);
    }

    private void giveUp(long number, byte state, String why) {
        if (journal.covers(number)) {
            journal.givenUp(number);
        }
        long now = clock.nanoTime();
        if (now - lastDropLogNs > TimeUnit.SECONDS.toNanos(1)) {
            lastDropLogNs = now;
            LOG.error(
                    "Dropping the record with send number {}, sequence {}: {} (holdfast_outbox_dropped_total counts them)",
                    number,
                    window.sequence(number),
                    why);
        }
        finish(number, state);
    }

    private void finish(long number, byte state) {
        window.state(number, state);
        if (number < window.next() && window.wasRefused(number)) {
            refusedOpen--;
            if (refusedOpen == 0) {
                retryBackoff.reset();
            }
        }
        status.progress(window.span());
    }

    /** The acknowledgements of one read are in: makes PUBRECs durable, releases them, moves the cursor, sends on. */
    void onReadComplete() throws StoreException {
        if (!toRelease.isEmpty()) {
            journal.force(); // PUBREL only after this [MQTT-4.3.3-4], P5
            while (!toRelease.isEmpty()) {
                release(toRelease.removeLong());
            }
        }
        pump();
    }

    // ---- refused for a time

    private void retry() {
        try {
            pump();
        } catch (StoreException e) {
            LOG.error("Cannot read a record again: {}", e.getMessage());
            if (ctx != null) {
                ctx.close();
            }
        }
    }

    /** Publishes the refused ones again, oldest first; nothing new goes out until they are through. */
    private void retryRefused() throws StoreException {
        if (clock.nanoTime() < retryAtNs) {
            return;
        }
        retryAtNs = NO_RETRY;
        for (long number = window.base(); number < window.next(); number++) {
            if (window.state(number) == SendWindow.REFUSED) {
                reader.seek(window.sequence(number));
                if (reader.next()) {
                    publish(reader.record(), number, false, true);
                }
            }
        }
        reader.seek(lastSequence + 1);
        recordWaiting = false;
    }

    // ---- cursor

    private void advance() {
        while (window.isBaseFinished()) {
            long number = window.base();
            count(window.route(number), window.state(number));
            window.popBase();
        }
        long sequence = window.isEmpty() ? lastSequence : window.sequence(window.base()) - 1;
        if (sequence > cursor.sequence()) {
            cursor.advance(sequence, window.base());
            while (!qos0Sequences.isEmpty() && qos0Sequences.peekLong() <= sequence) {
                qos0Sequences.removeLong();
                cursor.delivered((int) qos0Routes.removeLong(), 1);
            }
        }
    }

    private void count(int route, byte state) {
        switch (state) {
            case SendWindow.DELIVERED -> cursor.delivered(route, 1);
            case SendWindow.EXPIRED -> cursor.expired(route, 1);
            case SendWindow.BEYOND_BROKER_LIMIT -> cursor.dropped(route, DropReason.BROKER_LIMIT, 1);
            default -> cursor.dropped(route, DropReason.PERMANENT_FAILURE, 1);
        }
    }

    /** Writes the cursor if it has moved; what it leaves behind may be forgotten only then. */
    void writeCursor() throws StoreException {
        if (journal.isForceNeeded()) {
            journal.force();
        }
        if (cursor.writeIfDirty()) {
            journal.forgetBelow(cursor.olderDurableSendNumber());
        }
    }

    /** Whether the oldest record in flight has waited for its acknowledgement longer than allowed. */
    boolean isOverdue(long ackTimeoutMs) {
        if (window.isEmpty()) {
            return false;
        }
        byte state = window.state(window.base());
        return (state == SendWindow.SENT || state == SendWindow.RELEASED)
                && clock.nanoTime() - window.sentAtNs(window.base()) > TimeUnit.MILLISECONDS.toNanos(ackTimeoutMs);
    }

    void close() throws StoreException {
        reader.close();
    }
}
