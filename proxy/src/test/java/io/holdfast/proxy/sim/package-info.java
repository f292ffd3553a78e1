/**
 * The deterministic simulation: devices, the proxy's own classes, a broker and a disk in one thread, decided by a seed.
 *
 * <p><b>In:</b> a seed. <b>Does:</b> interleaves, breaks and kills at random; checks the promises after every step.
 * <b>Out:</b> nothing, or the first broken promise with the steps that led to it. <b>Thread:</b> the caller's.
 * <b>When full:</b> the simulated disk and sockets refuse as real ones do.
 */
package io.holdfast.proxy.sim;
