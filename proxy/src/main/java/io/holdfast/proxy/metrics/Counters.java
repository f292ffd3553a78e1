package io.holdfast.proxy.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.concurrent.atomic.LongAdder;

/** The counters of {@link Meter}. Any thread may count; they never go back in one process life. */
public final class Counters {
    private final EnumMap<Meter, LongAdder> values = new EnumMap<>(Meter.class);

    /** Makes all counters, at zero. */
    public Counters() {
        for (Meter meter : Meter.values()) {
            if (meter.kind() == Meter.Kind.COUNTER) {
                values.put(meter, new LongAdder());
            }
        }
    }

    /** Adds one. */
    public void increment(Meter meter) {
        values.get(meter).increment();
    }

    /** Adds {@code amount}. */
    public void add(Meter meter, long amount) {
        values.get(meter).add(amount);
    }

    /** The value now. */
    public long get(Meter meter) {
        return values.get(meter).sum();
    }

    /** Shows every counter in {@code registry}. */
    public void bindTo(MeterRegistry registry) {
        for (Meter meter : values.keySet()) {
            FunctionCounter.Builder<LongAdder> builder = FunctionCounter.builder(
                            meter.meterName(), values.get(meter), LongAdder::sum)
                    .description(meter.sentence());
            if (!meter.reason().isEmpty()) {
                builder.tag("reason", meter.reason());
            }
            builder.register(registry);
        }
    }
}
