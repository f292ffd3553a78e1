package io.holdfast.proxy.admission;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes of PUBLISHes that all devices together may have unsettled. A device that is past its share, or any device
 * that has some while the whole is past the limit, is not read; what is already read is never thrown away for it, so the
 * limit can be passed by one packet per device. A device that has none is not held up by the others. Any thread.
 */
public final class IngressBudget {
    private final AtomicLong used = new AtomicLong();
    private final long limitBytes;
    private final long deviceShareBytes;

    /**
     * @param limitBytes        for all devices together
     * @param deviceShareBytes  for one device
     */
    public IngressBudget(long limitBytes, long deviceShareBytes) {
        this.limitBytes = limitBytes;
        this.deviceShareBytes = deviceShareBytes;
    }

    /** Takes {@code bytes}; never refuses. */
    public void acquire(long bytes) {
        used.addAndGet(bytes);
    }

    /** Gives {@code bytes} back. */
    public void release(long bytes) {
        used.addAndGet(-bytes);
    }

    /** Whether a device that has {@code deviceBytes} unsettled is to be left unread. */
    public boolean isOver(long deviceBytes) {
        return deviceBytes > deviceShareBytes || (deviceBytes > 0 && used.get() > limitBytes);
    }

    /** Whether a device that was left unread for its bytes may be read again. */
    public boolean hasRoom(long deviceBytes) {
        return deviceBytes == 0 || (deviceBytes <= deviceShareBytes / 2 && used.get() <= limitBytes - limitBytes / 8);
    }

    /** Bytes unsettled now. */
    public long usedBytes() {
        return used.get();
    }
}
