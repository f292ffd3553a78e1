package io.holdfast.proxy.uplink;

import io.holdfast.codec.ConnackPacket;
import io.holdfast.codec.MqttVersion;
import io.holdfast.codec.PacketType;
import io.holdfast.codec.ReasonCode;
import io.holdfast.proxy.guard.CapViolation;
import io.holdfast.proxy.link.Backoff;
import io.holdfast.proxy.link.FailureClass;
import io.holdfast.proxy.metrics.Counters;
import io.holdfast.proxy.metrics.Meter;
import io.holdfast.store.Cursor;
import io.holdfast.store.DeadLetterReason;
import io.holdfast.store.DeadLetters;
import io.holdfast.store.DropReason;
import io.holdfast.store.Lane;
import io.holdfast.store.LaneReader;
import io.holdfast.store.RecordDescriptor;
import io.holdfast.store.RecordView;
import io.holdfast.store.StoreException;
import io.holdfast.store.UplinkJournal;
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
final class LaneDelivery implements GivingUp.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(LaneDelivery.class);
    private static final long NO_RETRY = Long.MAX_VALUE;
    private static final long SWEEP_MS = 1_000;
    private static final int SWEEP_RECORDS = 10_000;

    // for the lane
    private final Lane lane;
    private final LaneReader reader;
    private final Cursor cursor;
    private final UplinkJournal journal;
    private final UplinkStatus status;
    private final Counters counters;
    private final EpochClock wallClock;
    private final NanoClock clock;
    private final DeliveryPolicies policies;
    private final SendWindow window;
    private final GivingUp givingUp;
    private final HangUps hangUps;
    private final MessageExpiry expiry;
    private final UplinkOutput output;
    private final LaneProgress progress;
    private final Qos0Delivery qos0;
    private final Runnable pumpAgain = this::pumpAgain;
    private final LaneReader again;
    private final int maxSpan;
    private final Backoff retryBackoff;
    private boolean recordWaiting;
    private long duplicateBelow;
    private boolean isSessionUnused;
    private long lastDropLogNs;
    private int connection;
    private long sweepAtMs;
    private long evictedUpTo;

    // for one connection
    private int span;
    private boolean resumed;
    private final LongArrayQueue toRelease = new LongArrayQueue(Long.MIN_VALUE);
    private int refusedOpen;
    private long retryAtNs = NO_RETRY;

    LaneDelivery(
            int laneNumber,
            Lane lane,
            DeadLetters deadLetters,
            int maxSpan,
            DeliveryPolicies policies,
            UplinkStatus status,
            Counters counters,
            EpochClock wallClock,
            NanoClock clock) {
        this.lane = lane;
        this.reader = lane.openReader();
        this.again = lane.openReader();
        this.cursor = lane.cursor();
        this.journal = lane.journal();
        this.policies = policies;
        this.status = status;
        this.counters = counters;
        this.wallClock = wallClock;
        this.clock = clock;
        this.maxSpan = maxSpan;
        this.window = new SendWindow(maxSpan, cursor.sendNumber());
        this.givingUp = new GivingUp(
                laneNumber, lane, deadLetters, window, lane.openReader(), this, counters, wallClock, clock);
        this.hangUps = new HangUps(policies.settings().maxLoneHangUps());
        this.expiry = new MessageExpiry(wallClock);
        this.output = new UplinkOutput(expiry, policies.pacer(clock), counters, clock);
        this.progress = new LaneProgress(lane, window);
        this.qos0 = new Qos0Delivery(lane, policies, expiry, output, progress, givingUp, hangUps);
        // so far an earlier process may have sent, in a broker session that is still there
        this.duplicateBelow =
                journal.hasHistory() ? Math.min(cursor.sendNumber() + maxSpan, lane.firstSendNumberOfProcess()) : 0;
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
        output.connected(context, mqttVersion, connack);
        connection++;
        hangUps.connected();
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
        reader.seek(progress.restart());
        recordWaiting = false;
    }

    /**
     * The connection ended; what it left unfinished is sent again over the next one.
     *
     * @param hungUp     whether the broker ended it, and for nothing of its own
     * @param reasonCode of its DISCONNECT; 0 without one
     */
    void disconnected(boolean hungUp, int reasonCode) throws StoreException {
        duplicateBelow = Math.max(duplicateBelow, window.next());
        output.disconnected();
        status.inFlight(window.span());
        if (hungUp && window.isAnyUnanswered(connection)) {
            counters.increment(Meter.UPLINK_HUNG_UP);
            long poison = hangUps.hungUp(window.next());
            if (poison != HangUps.NONE) {
                giveUp(
                        poison,
                        SendWindow.REFUSED_FOR_GOOD,
                        DeadLetterReason.HANG_UP,
                        reasonCode,
                        reasonCode == 0
                                ? "the broker hangs up on it"
                                : "the broker disconnects because of it: " + ReasonCode.name(reasonCode),
                        window.qos(poison) == 2);
            }
        }
        sweep();
    }

    /** PINGRESP. */
    void onPingResponse() throws StoreException {
        hangUps.pingAnswered();
        pump();
    }

    // ---- sending

    /** Sends what the window, the socket and the log allow. */
    void pump() throws StoreException {
        if (!output.isConnected()) {
            return;
        }
        do {
            progress.advance();
            if (refusedOpen > 0) {
                retryRefused();
            }
            while (mayGoOn()) {
                if (!recordWaiting && !reader.next()) {
                    progress.readUpTo(reader.exhaustedUpTo());
                    break;
                }
                recordWaiting = true;
                if (!handle(reader.record())) {
                    break;
                }
                recordWaiting = false;
                progress.readUpTo(reader.sequence());
            }
        } while (givingUp.write() > 0); // there is room in the window again
        progress.advance();
        progress.settleDamaged(reader);
        flush();
    }

    private boolean mayGoOn() {
        return refusedOpen == 0
                && output.isWritable()
                && (!hangUps.isIsolating(window.base()) || mayGoAlone())
                && !output.isPaced(pumpAgain);
    }

    /** One at a time, while it is looked for the record that the broker hangs up on. */
    private boolean mayGoAlone() {
        if (window.isAnyInFlight(connection)) {
            return false;
        }
        if (hangUps.wantsPing()) {
            output.pingreq();
        }
        return hangUps.mayGoAlone();
    }

    private void pumpAgain() {
        output.woken();
        retry();
    }

    /** One record; false if it has to wait. */
    private boolean handle(RecordView record) throws StoreException {
        if (record.kind() != RecordDescriptor.KIND_PUBLISH) {
            return true;
        }
        if (record.qos() == 0) {
            return qos0.deliver(record, isEvicted(record), hangUps.isIsolating(window.base()));
        }
        long number = record.sendNumber();
        if (number < window.base()) {
            return true;
        }
        if (!enter(record, number)) {
            return false;
        }
        byte state = window.state(number);
        if (SendWindow.isFinished(state)
                || state == SendWindow.RELEASED
                || state == SendWindow.RECEIVED
                || state == SendWindow.GIVING_UP) {
            return true;
        }
        if (state == SendWindow.CLEARING) {
            clear(number);
            return true;
        }
        if (resumed && journal.isReceived(number)) {
            release(number);
            return true;
        }
        boolean mayHaveBeenSent = number < duplicateBelow;
        if (journal.isGivenUp(number) || lane.isDeadLettered(record.sequence())) {
            givenUpEarlier(record, number, resumed && mayHaveBeenSent);
            return true;
        }
        publish(record, number, resumed && mayHaveBeenSent, mayHaveBeenSent);
        return true;
    }

    /** Has the window hold the number of a record that was read; false if there is no room yet. */
    private boolean enter(RecordView record, long number) throws StoreException {
        if (number - window.base() >= span) {
            progress.advance();
            if (window.isEmpty() && number > window.next()) {
                window.skipTo(number); // what is missing before it is damaged, and so finished
            }
        }
        if (number - window.base() >= span || !progress.journalCovers(number)) {
            return false;
        }
        while (number > window.next()) {
            long missing = window.next();
            window.open(missing, record.sequence(), reader.position(), 1, record.routeNumber());
            window.state(missing, SendWindow.LOST);
        }
        if (number == window.next()) {
            window.open(number, record.sequence(), reader.position(), record.qos(), record.routeNumber());
        }
        return true;
    }

    /** Before a restart; whether that mark is on disk as well, a kill may have prevented. */
    private void givenUpEarlier(RecordView record, long number, boolean maybeAtBroker) {
        byte verdict = lane.isDeadLettered(record.sequence()) ? SendWindow.DEAD_LETTERED : SendWindow.REFUSED_FOR_GOOD;
        if (!journal.isGivenUp(number)) {
            journal.givenUp(number);
        }
        conclude(number, verdict, maybeAtBroker && record.qos() == 2);
    }

    private boolean isEvicted(RecordView record) {
        return record.sequence() <= Math.max(lane.evictionTarget(), evictedUpTo);
    }

    private void publish(RecordView record, long number, boolean dup, boolean mayHaveBeenSent) {
        if ((!mayHaveBeenSent || record.withheld() != 0) && giveUpUnsent(record, number)) {
            return;
        }
        boolean maybeAtBroker = dup && record.qos() == 2 && window.state(number) != SendWindow.REFUSED;
        if (!output.fits(record)) {
            giveUp(
                    number,
                    SendWindow.BEYOND_BROKER_LIMIT,
                    DeadLetterReason.BROKER_LIMIT,
                    0,
                    GivingUp.LIMIT_TEXT,
                    maybeAtBroker);
            return;
        }
        long nowMs = wallClock.time();
        if (policies.isUsedUp(window.attempts(number), nowMs - window.firstAttemptMs(number))) {
            giveUp(
                    number,
                    SendWindow.REFUSED_FOR_GOOD,
                    DeadLetterReason.ATTEMPTS,
                    window.reasonCode(number),
                    "refused or not answered at " + window.attempts(number) + " attempts",
                    maybeAtBroker);
            return;
        }
        if (mayHaveBeenSent) {
            counters.increment(Meter.UPLINK_RESENT);
        }
        boolean alone = hangUps.isIsolating(window.base());
        window.sent(number, clock.nanoTime(), nowMs, connection);
        isSessionUnused = false;
        output.publish(record, SendWindow.packetId(number), dup);
        if (alone) {
            hangUps.sentAlone(number);
        }
    }

    /** Whether it need not be sent: it has to make room, was stored for the dead letters only, or has expired. */
    private boolean giveUpUnsent(RecordView record, long number) {
        if (isEvicted(record)) {
            finish(number, SendWindow.EVICTED);
        } else if (record.withheld() != 0) {
            givingUp.add(number, DeadLetterReason.CAP, 0, CapViolation.whatOf(record.withheld()), false);
        } else if (!expiry.isExpired(record)) {
            return false;
        } else if (policies.dropsExpired(record.routeNumber())) {
            finish(number, SendWindow.EXPIRED);
        } else {
            givingUp.add(number, DeadLetterReason.EXPIRED, 0, GivingUp.EXPIRED_TEXT, false);
        }
        return true;
    }

    private void release(long number) {
        window.state(number, SendWindow.RELEASED);
        window.sentOn(number, clock.nanoTime(), connection);
        output.pubrel(SendWindow.packetId(number));
    }

    /** The broker may have the packet id of a record that was given up: the flow is ended before the id comes again. */
    private void clear(long number) {
        window.sentOn(number, clock.nanoTime(), connection);
        output.pubrel(SendWindow.packetId(number));
    }

    private void flush() {
        output.flush();
        status.inFlight(window.span());
    }

    // ---- acknowledgements

    /** PUBACK, PUBREC or PUBCOMP from the broker. */
    void onAck(int type, int packetId, int reason) {
        long number = window.numberOf(packetId);
        byte state = window.state(number);
        hangUps.answered(number);
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
                } else if (state == SendWindow.CLEARING) {
                    finish(number, window.verdict(number));
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
        } else if (state == SendWindow.CLEARING) {
            clear(number);
        } else if (state != SendWindow.RECEIVED) {
            unexpected(PacketType.PUBREC, packetId);
            if (!ReasonCode.isFailure(reason)) {
                output.pubrelNotFound(packetId);
            }
        }
    }

    private void onAnswer(long number, int reason) {
        switch (FailureClass.of(reason)) {
            case SUCCESS -> finish(number, SendWindow.DELIVERED);
            case PERMANENT ->
                giveUp(
                        number,
                        SendWindow.REFUSED_FOR_GOOD,
                        DeadLetterReason.REFUSED,
                        reason,
                        "the broker refuses it: " + ReasonCode.name(reason),
                        false);
            case TRANSIENT -> {
                window.refused(number, reason);
                if (window.markRefused(number)) {
                    refusedOpen++;
                    counters.increment(Meter.UPLINK_REORDERED);
                }
                if (retryAtNs == NO_RETRY) {
                    retryAtNs = clock.nanoTime() + TimeUnit.MILLISECONDS.toNanos(retryBackoff.nextDelayMs());
                    output.schedule(this::retry, retryAtNs - clock.nanoTime());
                }
            }
        }
    }

    private void unexpected(int type, int packetId) {
        counters.increment(Meter.UPLINK_UNEXPECTED_ACK);
        LOG.debug("{} for id {} fits nothing in flight", PacketType.name(type), packetId);
    }

    /**
     * To the dead letters, or dropped: what the route says.
     *
     * @param dropped       what it counts as if it is dropped
     * @param maybeAtBroker whether the broker may know its packet id, so that the flow has to be ended
     */
    private void giveUp(
            long number, byte dropped, DeadLetterReason reason, int reasonCode, String why, boolean maybeAtBroker) {
        if (!policies.dropsPermanentFailures(window.route(number))) {
            givingUp.add(number, reason, reasonCode, why, maybeAtBroker);
            return;
        }
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
        conclude(number, dropped, maybeAtBroker);
    }

    @Override
    public void onDeadLetter(long number, boolean maybeAtBroker) {
        conclude(number, SendWindow.DEAD_LETTERED, maybeAtBroker);
    }

    @Override
    public void onLost(long number) {
        finish(number, SendWindow.LOST);
    }

    private void conclude(long number, byte verdict, boolean maybeAtBroker) {
        if (!maybeAtBroker) {
            finish(number, verdict);
            return;
        }
        window.clearing(number, verdict);
        if (output.isConnected()) {
            clear(number);
        }
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
        pump(); // what may go at once is on its way during the sync
        if (!toRelease.isEmpty() && output.isConnected()) {
            journal.force(); // PUBREL only after this [MQTT-4.3.3-4], P5
            while (!toRelease.isEmpty()) {
                release(toRelease.removeLong());
            }
            flush();
        }
    }

    // ---- refused for a time

    private void retry() {
        try {
            pump();
        } catch (StoreException e) {
            LOG.error("Cannot read a record again: {}", e.getMessage());
            output.close();
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
                again.seekTo(window.position(number));
                if (again.next() && again.record().sendNumber() == number) {
                    publish(again.record(), number, false, true);
                } else {
                    finish(number, SendWindow.LOST);
                }
            }
        }
    }

    /**
     * In an outage: settles records at the head of the backlog that have expired, or that have to make room, so that their
     * segments go. Those that the broker's session may have do not expire.
     */
    void sweep() throws StoreException {
        if (givingUp.write() > 0) {
            pump();
        }
        boolean makesRoom = isRoomWanted();
        if (output.isConnected() || (!makesRoom && wallClock.time() < sweepAtMs)) {
            return;
        }
        if (makesRoom && duplicateBelow > window.base()) {
            leaveSession();
        }
        sweepAtMs = wallClock.time() + SWEEP_MS;
        span = maxSpan;
        seekToUnfinished();
        int room = SWEEP_RECORDS;
        boolean isSettled = true;
        while (room-- > 0 && isSettled && reader.next()) {
            isSettled = isSettledWithoutBroker(reader.record());
            if (isSettled) {
                progress.readUpTo(reader.sequence());
            }
            if (window.span() >= span) {
                givingUp.write();
                progress.advance();
            }
        }
        if (room < 0) {
            sweepAtMs = 0;
        }
        givingUp.write();
        progress.advance();
        if (makesRoom) {
            progress.write();
            progress.write(); // both slots, so that the segments can go
        }
    }

    /** Whether a full outbox waits for its oldest records to go. */
    boolean isRoomWanted() {
        return lane.evictionTarget() > cursor.sequence();
    }

    /**
     * Drop-oldest reaches what the broker's session may have. So that nothing of it comes back under the same packet ids, the
     * session is given up first, durably: the next one begins anew. All that was sent in it goes with the oldest.
     */
    private void leaveSession() throws StoreException {
        long newest = Math.min(window.next(), duplicateBelow) - 1;
        evictedUpTo = newest < window.base() ? lane.evictionTarget() : window.sequence(newest);
        LOG.warn("Dropping the oldest records reaches those that the broker may have had: its session is given up");
        journal.abandonSession();
        journal.force();
        window.restart();
        duplicateBelow = 0;
    }

    private boolean isSettledWithoutBroker(RecordView record) throws StoreException {
        if (record.kind() != RecordDescriptor.KIND_PUBLISH || qos0.isHandled(record)) {
            return true;
        }
        if (record.qos() == 0) {
            return qos0.settleWithoutBroker(record, isEvicted(record));
        }
        long number = record.sendNumber();
        if (number < window.base()) {
            return true;
        }
        if (!enter(record, number)) {
            return false;
        }
        byte state = window.state(number);
        if (SendWindow.isFinished(state) || state == SendWindow.GIVING_UP) {
            return true;
        }
        if (state != SendWindow.FREE || number < duplicateBelow) {
            return false;
        }
        return giveUpUnsent(record, number);
    }

    /** Dead letters of this lane were taken out. */
    void deadLettersRemoved(int route, DropReason reason, long count) {
        progress.deadLettersRemoved(route, reason, count);
    }

    /** Writes the cursor if it has moved. */
    void writeCursor() throws StoreException {
        progress.write();
    }

    /** Whether the oldest record in flight has waited for its acknowledgement longer than allowed. */
    boolean isOverdue(long ackTimeoutMs) {
        return window.isOldestOverdue(connection, clock.nanoTime() - TimeUnit.MILLISECONDS.toNanos(ackTimeoutMs));
    }

    void close() throws StoreException {
        again.close();
        givingUp.close();
        reader.close();
    }
}
