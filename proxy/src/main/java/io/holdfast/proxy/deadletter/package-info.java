/**
 * The dead letters, for people: looks at them, sends them again, throws them away.
 *
 * <p>In: commands, from the command line or over the control socket.
 * <br>Does: reads the dead letters; a replay appends the record to its lane and only then removes the letter.
 * <br>Out: text; records to the writers.
 * <br>Thread: the one that asks; it may wait for the disk.
 * <br>When full: a replay stops at the first record for which there is no room, and says so.
 */
package io.holdfast.proxy.deadletter;
