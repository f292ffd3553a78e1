/**
 * Holdfast: devices in front, any MQTT broker behind.
 *
 * <p><b>In:</b> settings. <b>Does:</b> wires the stages and starts every thread. <b>Out:</b> a running proxy.
 * <b>Thread:</b> the caller's, at start and stop. <b>When full:</b> nothing is queued here.
 */
package io.holdfast.proxy;
