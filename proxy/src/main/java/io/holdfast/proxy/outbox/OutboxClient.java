package io.holdfast.proxy.outbox;

/** Who submitted an entry: a connection. Called on its event loop. */
public interface OutboxClient {
    /** The entry's outcome is decided; it is recycled when this returns. */
    void onOutboxEntry(OutboxEntry entry);

    /** Some entries were handed back: write what may go out now. */
    void onOutboxBatch();

    /** Whether the connection has ended, so that nothing of it needs an answer. */
    boolean isClosed();
}
