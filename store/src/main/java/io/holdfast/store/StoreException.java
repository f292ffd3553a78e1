package io.holdfast.store;

/** The store cannot go on with what was asked. The message names the file and says what to do about it. */
public class StoreException extends Exception {
    private static final long serialVersionUID = 1L;

    public StoreException(final String message) {
        super(message);
    }

    public StoreException(final String message, final Throwable cause) {
        super(message, cause);
    }
}
