package io.holdfast.proxy.sim;

/** The simulated process ends here. An Error, so that nothing on the way takes it for trouble that it could handle. */
final class SimCrash extends Error {
    private static final long serialVersionUID = 1L;

    SimCrash() {
        super("the simulated process has ended", null, false, false);
    }
}
