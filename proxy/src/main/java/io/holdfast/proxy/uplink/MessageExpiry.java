package io.holdfast.proxy.uplink;

import io.holdfast.store.RecordView;
import org.agrona.concurrent.EpochClock;

/** What is left of a record's Message Expiry Interval (MQTT 5, 3.3.2.3.3). Any thread. */
final class MessageExpiry {
    private final EpochClock wallClock;

    MessageExpiry(EpochClock wallClock) {
        this.wallClock = wallClock;
    }

    boolean isExpired(RecordView record) {
        return record.expiryTimeMs() != 0 && now(record) >= record.expiryTimeMs();
    }

    /** At least 1; 0 for a record that never expires. */
    long secondsLeft(RecordView record) {
        return record.expiryTimeMs() == 0 ? 0 : Math.max(1, (record.expiryTimeMs() - now(record) + 999) / 1000);
    }

    /** A wall clock that was set back is no younger than the record. */
    private long now(RecordView record) {
        return Math.max(wallClock.time(), record.receiveTimeMs());
    }
}
