/**
 * Devices in front of the proxy, a real broker behind it: what arrives is compared with what was sent, byte for byte and
 * property for property. Every test runs against Mosquitto and HiveMQ CE, through {@code outbox #}, {@code hold #} and a
 * table that mixes both.
 *
 * <p>Both brokers run with raised limits, since their stock ones discard or stall what a durable proxy brings: Mosquitto
 * with {@code max_queued_messages 0} (stock 1,000: the rest of a backlog is acknowledged and thrown away) and
 * {@code max_inflight_messages 1000} (stock 20), HiveMQ CE with a queue of 10,000,000 messages per client (stock 1,000,
 * then it discards), a Receive Maximum of 1,000 (stock 10) and no bandwidth throttling. The harness sets them.
 *
 * <p>Brokers and proxies start with their first use and stay until the test run ends: HiveMQ takes seconds to start.
 * Tests keep apart by topics and Client Identifiers of their own ({@link io.holdfast.proxy.interop.Deployment#unique}).
 */
package io.holdfast.proxy.interop;
