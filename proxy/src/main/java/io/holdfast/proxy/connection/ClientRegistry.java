package io.holdfast.proxy.connection;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Which connection has which Client Identifier. A client id that connects again takes over from the older connection
 * ([MQTT-3.1.4-3] v5, [MQTT-3.1.4-2] 3.1.1), and only once the broker has accepted it. Any thread.
 */
public final class ClientRegistry {
    private final ConcurrentHashMap<String, DeviceConnection> connected = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<String, AtomicInteger> connecting = new ConcurrentHashMap<>();
    private final AtomicLong epochs = new AtomicLong();

    /** A number for a new connection, larger than every earlier one. */
    long nextEpoch() {
        return epochs.incrementAndGet();
    }

    /** A CONNECT of this client id goes to the broker. */
    void connecting(String clientId) {
        connecting.compute(clientId, (id, count) -> {
            AtomicInteger counter = count == null ? new AtomicInteger() : count;
            counter.incrementAndGet();
            return counter;
        });
    }

    /** The CONNECT of this client id was answered, or its connection ended. */
    void connectAnswered(String clientId) {
        connecting.computeIfPresent(clientId, (id, count) -> count.decrementAndGet() == 0 ? null : count);
    }

    /** Whether a CONNECT of this client id is under way: a broken link may be its doing. */
    public boolean isContested(String clientId) {
        return connecting.containsKey(clientId);
    }

    /** Makes {@code connection} the one for its client id; returns the one that it replaces, or null. */
    DeviceConnection connected(String clientId, DeviceConnection connection) {
        return connected.put(clientId, connection);
    }

    /** The connection of a client id, or null. */
    DeviceConnection connected(String clientId) {
        return connected.get(clientId);
    }

    /** The connection ended; a later one of the same client id is not touched. */
    void disconnected(String clientId, DeviceConnection connection) {
        connected.remove(clientId, connection);
    }

    /** Devices connected now. */
    public int size() {
        return connected.size();
    }

    /** Runs {@code action} on every connected device; it must hand over to the device's event loop itself. */
    public void forEach(java.util.function.Consumer<DeviceConnection> action) {
        connected.values().forEach(action);
    }
}
