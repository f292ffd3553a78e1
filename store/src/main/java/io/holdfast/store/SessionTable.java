package io.holdfast.store;

import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The sessions a lane has to remember: those of connected clients, and those with received QoS 2 Packet Identifiers until they
 * expire. For the lane's writer thread.
 */
final class SessionTable {
    /** 0xFFFFFFFF seconds and above mean "never" (MQTT 5, section 3.1.2.11.2). */
    private static final long NEVER_MS = 0xFFFF_FFFFL * 1000;

    private final Map<String, ClientSession> sessions = new HashMap<>();

    ClientSession connect(final String clientId, final long epoch, final long defaultExpiryMs) {
        ClientSession session = sessions.get(clientId);
        if (session == null) {
            session = new ClientSession(clientId, defaultExpiryMs);
            sessions.put(clientId, session);
        }
        session.connect(epoch);
        return session;
    }

    void disconnect(final ClientSession session, final long expiryMs, final long nowNs) {
        retire(session, expiryMs, nowNs);
        if (session.receivedCount() == 0) {
            sessions.remove(session.clientId());
        }
    }

    /** After a restart: the session is there, its client is not. */
    ClientSession restore(final String clientId, final long expiryMs, final long nowNs) {
        return sessions.computeIfAbsent(clientId, id -> {
            final ClientSession session = new ClientSession(id, expiryMs);
            retire(session, expiryMs, nowNs);
            return session;
        });
    }

    ClientSession find(final String clientId) {
        return sessions.get(clientId);
    }

    /** How the end of a session with received ids gets into the log; without that a restart would bring the ids back. */
    interface EndRecorder {
        /** False if there is no room for it now. */
        boolean record(ClientSession session) throws StoreException;
    }

    /** Forgets sessions that are over, as far as that could be recorded. Returns how many. */
    int expire(final long nowNs, final EndRecorder recorder) throws StoreException {
        int expired = 0;
        final Iterator<ClientSession> iterator = sessions.values().iterator();
        while (iterator.hasNext()) {
            final ClientSession session = iterator.next();
            final boolean isEmpty = session.receivedCount() == 0;
            if (!session.isConnected() && (isEmpty || (session.isExpired(nowNs) && recorder.record(session)))) {
                session.clear();
                iterator.remove();
                expired++;
            }
        }
        return expired;
    }

    /** Where it is not certain what was received: rather a counted duplicate than a swallowed message. */
    int clear() {
        int cleared = 0;
        for (final ClientSession session : sessions.values()) {
            cleared += session.receivedCount();
            session.clear();
        }
        return cleared;
    }

    Collection<ClientSession> all() {
        return sessions.values();
    }

    int size() {
        return sessions.size();
    }

    private static void retire(final ClientSession session, final long expiryMs, final long nowNs) {
        final long kept = expiryMs >= NEVER_MS ? Long.MAX_VALUE : expiryMs;
        session.disconnect(kept, kept == Long.MAX_VALUE ? 0 : nowNs + TimeUnit.MILLISECONDS.toNanos(kept));
    }
}
