/**
 * From the log to the broker.
 *
 * <p><b>In:</b> a lane's records, up to its durable watermark, and the broker's acknowledgements. <b>Does:</b> publishes
 * them in order with derived packet ids, resumes by the rules, moves the cursor. <b>Out:</b> PUBLISH and PUBREL to the
 * broker; cursor and journal to disk. <b>Thread:</b> an event loop that carries no devices.
 * <b>When full:</b> window or socket full: the log is not read.
 */
package io.holdfast.proxy.uplink;
