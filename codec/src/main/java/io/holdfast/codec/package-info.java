/**
 * MQTT on bytes.
 *
 * <p><b>In:</b> network buffers. <b>Does:</b> frames, checks, reads and writes packets of MQTT 3.1, 3.1.1 and 5.
 * <b>Out:</b> frames and views over them. <b>Thread:</b> the event loop of the connection.
 * <b>When full:</b> a frame that is not taken stays in the decoder, and the channel is not read.
 */
package io.holdfast.codec;
