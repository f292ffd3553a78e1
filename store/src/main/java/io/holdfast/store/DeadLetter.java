package io.holdfast.store;

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
 * @param view           the record; on bytes of its own, so valid as long as this is
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
        RecordView view,
        int segment,
        long offset) {

    /**
     * The record, of the layout {@link RecordDescriptor}.
     *
     * @return a copy.
     */
    public byte[] bytes() {
        final byte[] bytes = new byte[view.length()];
        view.buffer().getBytes(0, bytes);
        return bytes;
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
