/**
 * The durable outbox of Holdfast: what has been acknowledged to a device lies here until the broker has acknowledged it.
 *
 * <ul>
 *   <li><b>In</b>: encoded records ({@link io.holdfast.store.RecordDescriptor}), session openings, the uplink's progress.
 *   <li><b>Does</b>: appends to one log per lane, syncs once per batch, remembers received QoS 2 ids, the cursor and the
 *       uplink's QoS 2 journal, and deletes segments that nobody needs any more.
 *   <li><b>Out</b>: the durable watermark of each lane, and its records in order.
 *   <li><b>Thread</b>: one writer thread and one uplink thread per lane, one housekeeping thread for all; each public type
 *       says which one may use it. No thread is started here.
 *   <li><b>When full</b>: PUBLISH records are answered {@link io.holdfast.store.Outcome#FULL}; what draining needs to write
 *       has its space already.
 * </ul>
 */
package io.holdfast.store;
