/**
 * The session link: a device's own connection to the broker, 1:1.
 *
 * <p><b>In:</b> the device's frames and the broker's. <b>Does:</b> passes them as the same bytes, keeps what has no
 * answer yet, redials by the rules when the link breaks. <b>Out:</b> to the broker, to the device, to the ack stage.
 * <b>Thread:</b> the device's event loop. <b>When full:</b> towards the broker held PUBLISHes wait within the device's
 * window and QoS 0 is shed; towards the device the link is not read.
 */
package io.holdfast.proxy.link;
