/**
 * What the tests stand on: real brokers, the proxy in a process of its own, and raw sockets on both sides of it that may
 * misbehave. Every wait is on a condition and bounded; every process started here is ended with the test JVM.
 */
package io.holdfast.proxy.testing;
