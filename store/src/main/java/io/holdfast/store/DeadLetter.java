package io.holdfast.store;

import org.agrona.concurrent.UnsafeBuffer;

/**
 * One dead letter, read from disk: why a record was given up, and the record itself.
 *
 * @param id             counts the dead letters of a store from 1
 * @param lane           that the record was in
 * @param reason         why it was given up
 * @param reasonCode     MQTT 5 Reason Code of the broker; 0 if there was none
 * @param attempts       times it was sent
 * @param firstAttemptMs epoch milliseconds of the first; 0 if it was never sent
 * @param givenUpMs      epoch milliseconds
 * @param text           what the broker or the proxy said, for people
 * @param bytes          the record, of the layout {@link RecordDescriptor}
 * @param segment        where it lies
 * @param offset         where it lies
 */
public record DeadLetter(
        long id,
        int lane,
        DeadLetterReason reason,
        int reasonCode,
        int attempts,
        long firstAttemptMs,
        long givenUpMs,
        String text,
        byte[] bytes,
        int segment,
        long offset) {

    /**
     * The record.
     *
     * @return a new view of {@link #bytes()}.
     */
    public RecordView view() {
        return new RecordView().wrap(new UnsafeBuffer(bytes), 0, bytes.length);
    }

    /** Two are the same if they have the same number. */
    @Override
    public boolean equals(final Object other) {
        return other instanceof DeadLetter letter && letter.id == id;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(id);
    }

    @Override
    public String toString() {
        return "dead letter " + id;
    }
}
