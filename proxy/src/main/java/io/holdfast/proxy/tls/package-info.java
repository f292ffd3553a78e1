/**
 * TLS to devices and to the broker.
 *
 * <p><b>In:</b> certificate and key files. <b>Does:</b> checks them, makes handlers from them, and says in words why a
 * handshake failed. <b>Out:</b> the first handlers of a pipeline. <b>Thread:</b> handlers on their channel's event loop;
 * files are read at start and by housekeeping. <b>When full:</b> an unfinished handshake is closed by a deadline.
 */
package io.holdfast.proxy.tls;
