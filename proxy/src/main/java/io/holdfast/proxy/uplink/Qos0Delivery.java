package io.holdfast.proxy.uplink;

import io.holdfast.store.Cursor;
import io.holdfast.store.DeadLetterReason;
import io.holdfast.store.DropReason;
import io.holdfast.store.Lane;
import io.holdfast.store.RecordView;

/** Stored records of QoS 0: sent at most once, whatever happens to the connection. On the uplink's event loop. */
final class Qos0Delivery {
    private final Lane lane;
    private final Cursor cursor;
    private final DeliveryPolicies policies;
    private final MessageExpiry expiry;
    private final UplinkOutput output;
    private final LaneProgress progress;
    private final GivingUp givingUp;
    private final HangUps hangUps;
    private long handledUpTo;

    Qos0Delivery(
            Lane lane,
            DeliveryPolicies policies,
            MessageExpiry expiry,
            UplinkOutput output,
            LaneProgress progress,
            GivingUp givingUp,
            HangUps hangUps) {
        this.lane = lane;
        this.cursor = lane.cursor();
        this.policies = policies;
        this.expiry = expiry;
        this.output = output;
        this.progress = progress;
        this.givingUp = givingUp;
        this.hangUps = hangUps;
    }

    /** Whether it was sent or settled already: not again over a new connection. */
    boolean isHandled(RecordView record) {
        return record.sequence() <= handledUpTo;
    }

    /** Sends or settles it; false if it has to wait. */
    boolean deliver(RecordView record, boolean isEvicted, boolean isIsolating) {
        if (isHandled(record)) {
            return true;
        }
        if (!progress.hasRoomForQos0()) {
            return false;
        }
        if (!isEvicted && !expiry.isExpired(record) && output.fits(record)) {
            output.publish(record, 0, false);
            progress.qos0Sent(record.sequence(), record.routeNumber());
            if (isIsolating) {
                hangUps.sentUnnumbered();
            }
        } else if (!settle(record, isEvicted)) {
            return false;
        }
        handledUpTo = record.sequence();
        return true;
    }

    /** Settles it in an outage, if it is to be given up; false if it has to wait. */
    boolean settleWithoutBroker(RecordView record, boolean isEvicted) {
        if ((!isEvicted && !expiry.isExpired(record)) || !settle(record, isEvicted)) {
            return false;
        }
        handledUpTo = record.sequence();
        return true;
    }

    /** False if the dead letters cannot be written. */
    private boolean settle(RecordView record, boolean isEvicted) {
        int route = record.routeNumber();
        boolean isExpired = expiry.isExpired(record);
        if (isEvicted) {
            cursor.dropped(route, DropReason.OLDEST, 1);
        } else if (isExpired ? policies.dropsExpired(route) : policies.dropsPermanentFailures(route)) {
            if (isExpired) {
                cursor.expired(route, 1);
            } else {
                cursor.dropped(route, DropReason.BROKER_LIMIT, 1);
            }
        } else if (lane.isDeadLettered(record.sequence())
                || givingUp.writeUnnumbered(
                        record,
                        isExpired ? DeadLetterReason.EXPIRED : DeadLetterReason.BROKER_LIMIT,
                        isExpired ? GivingUp.EXPIRED_TEXT : GivingUp.LIMIT_TEXT)) {
            cursor.deadLettered(route, 1);
        } else {
            return false;
        }
        return true;
    }
}
