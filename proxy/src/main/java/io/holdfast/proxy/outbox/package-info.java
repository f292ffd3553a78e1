/**
 * From the event loops to the log.
 *
 * <p><b>In:</b> entries from admission. <b>Does:</b> one writer agent per lane appends them and syncs once per batch.
 * <b>Out:</b> a watermark per event loop, and the lane's durable sequence for its uplink.
 * <b>Thread:</b> an entry belongs to the event loop, then to the writer, and after the watermark to the event loop again.
 * <b>When full:</b> an offer that fails leaves the entry with its event loop, which keeps it in order; the device's
 * window and the byte budget bound what it keeps.
 */
package io.holdfast.proxy.outbox;
