/**
 * Small limits and last resorts, each a class of its own.
 *
 * <p><b>In:</b> channels. <b>Does:</b> refuses before anything is allocated. <b>Out:</b> the channel goes on, or is
 * closed and counted. <b>Thread:</b> the channel's event loop; at accept, the listeners'. <b>When full:</b> it refuses,
 * closes, or leaves the device unread.
 */
package io.holdfast.proxy.guard;
