/**
 * Where a PUBLISH goes.
 *
 * <p><b>In:</b> PUBLISH views from a connection. <b>Does:</b> caps, owner of the packet id, route, window, bytes.
 * <b>Out:</b> an outbox entry, a hold publish on the session link, or an answer at once.
 * <b>Thread:</b> the connection's event loop. <b>When full:</b> stops acknowledging, then stops reading that device;
 * QoS 0 is shed first.
 */
package io.holdfast.proxy.admission;
