/**
 * What is counted and shown.
 *
 * <p><b>In:</b> increments from every stage. <b>Does:</b> keeps them for Micrometer; all meters stand in one enum.
 * <b>Out:</b> the Prometheus page. <b>Thread:</b> any. <b>When full:</b> counters do not fill.
 */
package io.holdfast.proxy.metrics;
