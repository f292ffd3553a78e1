package io.holdfast.proxy.guard;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * File descriptors of this process. A device takes two, one for itself and one for its session link.
 *
 * @param open now
 * @param most the process may have ({@code ulimit -n})
 */
public record Descriptors(long open, long most) {
    /** Kept free for what comes and goes besides devices: segments, uplinks, the admin page, a link being replaced. */
    private static final int RESERVE = 64;

    private static final int PER_DEVICE = 2;

    /** As it is now; where the system does not tell, as if there were no limit. */
    public static Descriptors now() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
                ? new Descriptors(system.getOpenFileDescriptorCount(), system.getMaxFileDescriptorCount())
                : new Descriptors(0, Integer.MAX_VALUE);
    }

    /** How many devices there is room for, besides what is open; at least 1. */
    public int roomForDevices() {
        return (int) Math.max(1, Math.min(Integer.MAX_VALUE, (most - open - RESERVE) / PER_DEVICE));
    }

    /** The descriptors that so many devices need besides what is open. */
    public long neededFor(int devices) {
        return open + RESERVE + (long) PER_DEVICE * devices;
    }

    @Override
    public String toString() {
        return open + " of " + most + " file descriptors are open";
    }
}
