/**
 * One device: its connection, its state, its end.
 *
 * <p><b>In:</b> frames from the device. <b>Does:</b> the CONNECT handshake, dispatch by packet type, keep-alive, and
 * the one place that closes. <b>Out:</b> to admission, to the session link, to the device.
 * <b>Thread:</b> the event loop on which the device was accepted; its session link lives on the same one.
 * <b>When full:</b> the device is not read; its keep-alive deadline stands still meanwhile.
 */
package io.holdfast.proxy.connection;
