package io.holdfast.store;

import java.nio.charset.StandardCharsets;
import org.agrona.collections.Long2LongHashMap;

/**
 * A client's session as the outbox sees it: the QoS 2 Packet Identifiers that were received and not yet released, each with a
 * checksum of its message. The connection keeps it as a handle and hands it back with each entry; only the lane's writer
 * thread looks inside.
 */
public final class ClientSession {
    static final long NOT_RECEIVED = -1;
    static final long NO_EPOCH = Long.MIN_VALUE;

    private static final int INITIAL_CAPACITY = 8;
    private static final float LOAD_FACTOR = 0.6f;

    private final String clientId;
    private final byte[] clientIdBytes;
    private final Long2LongHashMap received = new Long2LongHashMap(INITIAL_CAPACITY, LOAD_FACTOR, NOT_RECEIVED, false);

    private long epoch = NO_EPOCH;
    private long expiryMs;
    private long deadlineNs;

    ClientSession(final String clientId, final long expiryMs) {
        this.clientId = clientId;
        this.clientIdBytes = clientId.getBytes(StandardCharsets.UTF_8);
        this.expiryMs = expiryMs;
    }

    /**
     * The Client Identifier.
     *
     * @return text.
     */
    public String clientId() {
        return clientId;
    }

    byte[] clientIdBytes() {
        return clientIdBytes;
    }

    void connect(final long connectionEpoch) {
        epoch = connectionEpoch;
    }

    void disconnect(final long sessionExpiryMs, final long sessionDeadlineNs) {
        epoch = NO_EPOCH;
        expiryMs = sessionExpiryMs;
        deadlineNs = sessionDeadlineNs;
    }

    boolean isConnected() {
        return epoch != NO_EPOCH;
    }

    boolean isOf(final long connectionEpoch) {
        return epoch == connectionEpoch && epoch != NO_EPOCH;
    }

    long expiryMs() {
        return expiryMs;
    }

    boolean isExpired(final long nowNs) {
        return !isConnected() && expiryMs != Long.MAX_VALUE && nowNs - deadlineNs >= 0;
    }

    /** The checksum that came with a received Packet Identifier, or {@link #NOT_RECEIVED}. */
    long checksumOf(final int packetId) {
        return received.get(packetId);
    }

    void receive(final int packetId, final int checksum) {
        received.put(packetId, Integer.toUnsignedLong(checksum));
    }

    /** Whether the Packet Identifier was there. */
    boolean release(final int packetId) {
        return received.remove(packetId) != NOT_RECEIVED;
    }

    void clear() {
        received.clear();
    }

    int receivedCount() {
        return received.size();
    }

    int[] receivedIds() {
        final int[] ids = new int[received.size()];
        final Long2LongHashMap.KeyIterator keys = received.keySet().iterator();
        for (int i = 0; i < ids.length; i++) {
            ids[i] = (int) keys.nextValue();
        }
        return ids;
    }
}
