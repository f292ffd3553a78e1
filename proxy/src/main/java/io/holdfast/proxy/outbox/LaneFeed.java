package io.holdfast.proxy.outbox;

import io.holdfast.proxy.metrics.Counters;
import io.holdfast.proxy.metrics.Meter;
import io.holdfast.store.ClientSession;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What one event loop hands to one lane, in order. It numbers the entries; the writer answers with "decided and durable
 * up to N", and the feed gives the completed prefix back to the connections.
 *
 * <p>Everything is the event loop's, but for the watermark and {@link #refusing}, which are the writer's.
 */
public final class LaneFeed {
    private static final long ROOM_PROBE_MS = 100;
    private static final long OFFER_AGAIN_MS = 1;
    private static final VarHandle COMPLETED;

    static {
        try {
            COMPLETED = MethodHandles.lookup().findVarHandle(LaneFeed.class, "completed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final EventLoop eventLoop;
    private final WriterQueue queue;
    private final Counters counters;
    private final ArrayDeque<OutboxEntry> handedOver = new ArrayDeque<>();
    private final ArrayDeque<OutboxEntry> notOffered = new ArrayDeque<>();
    private final ArrayDeque<OutboxEntry> waitingForRoom = new ArrayDeque<>(); // came back for want of room
    private final ArrayDeque<OutboxEntry> behindWaiting =
            new ArrayDeque<>(); // came in later: behind all that come back
    private final ArrayDeque<OutboxEntry> pool = new ArrayDeque<>();
    private final List<OutboxClient> touched = new ArrayList<>();
    private final AtomicBoolean wakePending = new AtomicBoolean();
    private final Runnable onWake = this::onWake;
    private final Runnable onRoomProbe = this::onRoomProbe;
    private final Runnable onOfferAgain = this::offerWaiting;
    private long lastNumber;
    private boolean probing;
    private boolean offerScheduled;

    @SuppressWarnings("unused") // through COMPLETED
    private volatile long completed;

    // the writer's own
    boolean refusing;
    long decided;
    boolean inBatch;

    LaneFeed(EventLoop eventLoop, WriterQueue queue, Counters counters) {
        this.eventLoop = eventLoop;
        this.queue = queue;
        this.counters = counters;
    }

    /**
     * Submits a PUBLISH record; takes over {@code record}, whose readable bytes are the encoded record.
     *
     * @param slot   handed back with the outcome
     * @param ifFull what to do when there is no room for it
     */
    public void publish(
            OutboxClient client,
            ClientSession session,
            long epoch,
            ByteBuf record,
            int packetId,
            boolean isQos2,
            long slot,
            OutboxEntry.IfFull ifFull) {
        OutboxEntry entry = obtain(OutboxEntry.Kind.PUBLISH, client, session, epoch, packetId, slot);
        entry.buffer = record;
        entry.view.wrap(record.memoryAddress() + record.readerIndex(), record.readableBytes());
        entry.chargedBytes = record.readableBytes();
        entry.isQos2 = isQos2;
        entry.ifFull = ifFull;
        if (waitsWhenFull(entry) && waitingForRoom() > 0) {
            behind(entry); // an earlier one waits: order
        } else {
            submit(entry);
        }
    }

    /**
     * Submits a PUBLISH record that no device waits for; takes over {@code record}. It comes back at once if there is no
     * room for it, or was none for an earlier one of its batch. This feed must have no other use.
     *
     * @param index in the batch, from 0
     */
    public void inject(OutboxClient client, ByteBuf record, int index) {
        OutboxEntry entry = obtain(OutboxEntry.Kind.INJECT, client, null, 0, 0, index);
        entry.buffer = record;
        entry.view.wrap(record.memoryAddress() + record.readerIndex(), record.readableBytes());
        entry.chargedBytes = record.readableBytes();
        submit(entry);
    }

    /** Submits the PUBREL of a received packet id. */
    public void release(OutboxClient client, ClientSession session, long epoch, int packetId, long slot, long timeMs) {
        OutboxEntry entry = obtain(OutboxEntry.Kind.RELEASE, client, session, epoch, packetId, slot);
        entry.timeMs = timeMs;
        if (waitingForRoom() > 0 && (isCopyIn(waitingForRoom, entry) || isCopyIn(behindWaiting, entry))) {
            behind(entry); // else the copy would be stored as a new message
        } else {
            submit(entry);
        }
    }

    private static boolean isCopyIn(ArrayDeque<OutboxEntry> waiting, OutboxEntry release) {
        for (OutboxEntry entry : waiting) {
            if (entry.packetId == release.packetId && entry.client == release.client && entry.isQos2) {
                return true;
            }
        }
        return false;
    }

    private void behind(OutboxEntry entry) {
        entry.waitsBehind = true;
        behindWaiting.addLast(entry);
    }

    /** Tells the lane that a connection of {@code clientId} begins; the outcome carries the session. */
    public void openSession(OutboxClient client, String clientId, long epoch, boolean sessionPresent) {
        OutboxEntry entry = obtain(OutboxEntry.Kind.OPEN_SESSION, client, null, epoch, 0, 0);
        entry.clientId = clientId;
        entry.sessionPresent = sessionPresent;
        submit(entry);
    }

    /** Tells the lane that the connection ended and when its session does: after {@code expiryMs}. */
    public void closeSession(OutboxClient client, ClientSession session, long epoch, long expiryMs) {
        OutboxEntry entry = obtain(OutboxEntry.Kind.CLOSE_SESSION, client, session, epoch, 0, 0);
        entry.expiryMs = expiryMs;
        submit(entry);
    }

    private OutboxEntry obtain(
            OutboxEntry.Kind kind, OutboxClient client, ClientSession session, long epoch, int packetId, long slot) {
        OutboxEntry entry = pool.pollLast();
        if (entry == null) {
            entry = new OutboxEntry();
        }
        entry.feed = this;
        entry.kind = kind;
        entry.client = client;
        entry.session = session;
        entry.epoch = epoch;
        entry.packetId = packetId;
        entry.slot = slot;
        return entry;
    }

    private void submit(OutboxEntry entry) {
        if (!notOffered.isEmpty() || !offer(entry)) {
            notOffered.addLast(entry);
            offerLater();
        }
    }

    private void offerWaiting() {
        offerScheduled = false;
        OutboxEntry entry;
        while ((entry = notOffered.peekFirst()) != null && offer(entry)) {
            notOffered.pollFirst();
        }
        offerLater();
    }

    /** The writer wakes this loop for what it was handed; when other loops have filled the queue, that may be nothing. */
    private void offerLater() {
        if (!notOffered.isEmpty() && handedOver.isEmpty() && !offerScheduled) {
            offerScheduled = true;
            eventLoop.schedule(onOfferAgain, OFFER_AGAIN_MS, TimeUnit.MILLISECONDS);
        }
    }

    private boolean offer(OutboxEntry entry) {
        entry.number = lastNumber + 1;
        handedOver.addLast(entry); // before the offer: the writer may answer at once
        if (queue.offer(entry)) {
            lastNumber++;
            return true;
        }
        handedOver.removeLast();
        return false;
    }

    /** Writer: every entry up to {@code number} is decided, and durable where it has to be. */
    void complete(long number) {
        COMPLETED.setRelease(this, number);
        if (wakePending.compareAndSet(false, true)) {
            eventLoop.execute(onWake);
        }
    }

    private void onWake() {
        wakePending.set(false);
        long upTo = (long) COMPLETED.getAcquire(this);
        OutboxEntry entry;
        while ((entry = handedOver.peekFirst()) != null && entry.number <= upTo) {
            handedOver.pollFirst();
            handBack(entry);
        }
        for (int i = 0; i < touched.size(); i++) {
            touched.get(i).onOutboxBatch();
        }
        touched.clear();
        offerWaiting();
    }

    private void handBack(OutboxEntry entry) {
        if (entry.outcome == OutboxEntry.Outcome.FULL) {
            counters.increment(Meter.OUTBOX_FULL);
            if (waitsWhenFull(entry)) {
                waitForRoom(entry);
                return;
            }
        }
        if (entry.probesForRoom) {
            probing = false;
            resubmitWaiting();
        }
        OutboxClient client = entry.client;
        client.onOutboxEntry(entry);
        if (touched.isEmpty() || touched.get(touched.size() - 1) != client) {
            touched.add(client);
        }
        recycle(entry);
    }

    private void waitForRoom(OutboxEntry entry) {
        entry.outcome = OutboxEntry.Outcome.NONE;
        if (entry.probesForRoom) {
            entry.probesForRoom = false;
            waitingForRoom.addFirst(entry); // it was the head
            probing = false;
        } else {
            waitingForRoom.addLast(entry);
        }
        if (!probing) {
            probing = true;
            eventLoop.schedule(onRoomProbe, ROOM_PROBE_MS, TimeUnit.MILLISECONDS);
        }
    }

    /** Sends the oldest waiting entry once more; the others follow when it got through. */
    private void onRoomProbe() {
        OutboxEntry entry = pollWaiting();
        if (entry == null) {
            probing = false;
        } else if (entry.waitsBehind && isOlderUnderWay()) {
            behindWaiting.addFirst(entry);
            eventLoop.schedule(onRoomProbe, ROOM_PROBE_MS, TimeUnit.MILLISECONDS);
        } else {
            entry.probesForRoom = true;
            submit(entry);
        }
    }

    /** Whether something may still come back that is older than all of {@link #behindWaiting}. */
    private boolean isOlderUnderWay() {
        return handedOver.stream().anyMatch(LaneFeed::waitsWhenFull)
                || notOffered.stream().anyMatch(LaneFeed::waitsWhenFull);
    }

    private static boolean waitsWhenFull(OutboxEntry entry) {
        return entry.kind == OutboxEntry.Kind.PUBLISH
                && (entry.ifFull == OutboxEntry.IfFull.WAIT || entry.ifFull == OutboxEntry.IfFull.EVICT);
    }

    private void resubmitWaiting() {
        OutboxEntry entry;
        while ((entry = pollWaiting()) != null) {
            submit(entry);
        }
    }

    /** The oldest waiting entry whose device is still there, or null. */
    private OutboxEntry pollWaiting() {
        OutboxEntry entry;
        while ((entry = waitingForRoom.isEmpty() ? behindWaiting.pollFirst() : waitingForRoom.pollFirst()) != null) {
            if (!entry.client.isClosed()) {
                return entry;
            }
            entry.client.onOutboxEntry(entry);
            recycle(entry);
        }
        return null;
    }

    private void recycle(OutboxEntry entry) {
        entry.reset();
        if (pool.size() < 4096) {
            pool.addLast(entry);
        }
    }

    /** Entries that the outbox had no room for; any of this loop's connections. */
    public int waitingForRoom() {
        return waitingForRoom.size() + behindWaiting.size();
    }
}
