/**
 * The development broker: HiveMQ CE in a JVM of its own, for the demo and for tests. No part of the product.
 *
 * <p><b>In:</b> flags. <b>Does:</b> starts a broker on a loopback port. <b>Out:</b> one line when it is ready.
 * <b>Thread:</b> main, and the broker's own. <b>When full:</b> the broker's limits are raised as far as they go.
 */
package io.holdfast.devbroker;
