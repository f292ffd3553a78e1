package io.holdfast.proxy.testing;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import org.awaitility.Awaitility;

/** A {@link PersistentSubscriber} for each of some devices. */
public final class Subscribers implements AutoCloseable {
    private final Map<String, PersistentSubscriber> byDevice = new HashMap<>();

    /** Connects to a broker on this loopback port and returns once every subscription is granted. */
    public Subscribers(int port, List<String> devices) {
        this(port, Sockets.PLAIN, devices);
    }

    /** As above, over these sockets. */
    public Subscribers(int port, Sockets sockets, List<String> devices) {
        devices.forEach(device -> byDevice.put(device, new PersistentSubscriber(port, sockets, device)));
    }

    /** Payloads of a topic of that device, in the order in which they came. */
    public List<Integer> received(String device, int qos) {
        return byDevice.get(device).received("d/" + device + "/" + qos);
    }

    /** Messages received, duplicates included. */
    public long count() {
        return byDevice.values().stream().mapToLong(PersistentSubscriber::count).sum();
    }

    /** Waits until nothing has come for {@code quiet}, while {@code complete} says that nothing more is due. */
    public void awaitQuiet(BooleanSupplier complete, Duration quiet, Duration atMost) {
        Awaitility.await().atMost(atMost).pollInterval(quiet).until(new Callable<>() {
            private long before = -1;

            @Override
            public Boolean call() {
                long now = count();
                boolean still = now == before && complete.getAsBoolean();
                before = now;
                return still;
            }
        });
    }

    @Override
    public void close() {
        byDevice.values().forEach(PersistentSubscriber::close);
    }
}
