package io.holdfast.store;

/** What "durable" means for the outbox ({@code --durability}). */
public enum Durability {
    /** On stable storage: survives a power cut. The default. */
    FSYNC,
    /** In the operating system's page cache: survives the end of the process, not a power cut. */
    PAGE_CACHE
}
