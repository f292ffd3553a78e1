/**
 * Measures: JMH for the stages of the hot path, {@link io.holdfast.bench.EndToEnd} for the whole way of a message.
 *
 * <p>In: command-line options. Does: puts load on a stage, or on real processes. Out: a table. Thread: JMH's, or the main
 * thread with one event loop. When full: the load is closed, so nothing queues beyond connections × window.
 */
package io.holdfast.bench;
