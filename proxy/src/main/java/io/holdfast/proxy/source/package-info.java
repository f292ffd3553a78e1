/**
 * Where PUBLISHes come from: devices on a listener.
 *
 * <p><b>In:</b> sockets. <b>Does:</b> accepts, and builds the pipeline in one place. <b>Out:</b> frames to a connection.
 * <b>Thread:</b> the event loop that accepted. <b>When full:</b> refuses.
 */
package io.holdfast.proxy.source;
