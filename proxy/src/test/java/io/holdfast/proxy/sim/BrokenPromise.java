package io.holdfast.proxy.sim;

/** A promise of the design was broken in a simulation. */
final class BrokenPromise extends AssertionError {
    private static final long serialVersionUID = 1L;

    BrokenPromise(String message) {
        super(message);
    }

    BrokenPromise(String message, Throwable cause) {
        super(message, cause);
    }
}
