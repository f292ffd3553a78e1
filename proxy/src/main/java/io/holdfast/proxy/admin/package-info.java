/**
 * What an operator asks.
 *
 * <p><b>In:</b> HTTP GET. <b>Does:</b> health, metrics, ledger; changes nothing. <b>Out:</b> text and JSON.
 * <b>Thread:</b> an event loop that carries no devices. <b>When full:</b> one request at a time per connection.
 */
package io.holdfast.proxy.admin;
