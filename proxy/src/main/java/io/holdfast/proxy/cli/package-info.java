/**
 * The command line.
 *
 * <p><b>In:</b> arguments, files of arguments, the environment. <b>Does:</b> reads and checks them; every message names the
 * flag and says what to do. <b>Out:</b> a context, a report, an exit code: 0 ok, 1 failed, 2 bad usage.
 * <b>Thread:</b> main. <b>When full:</b> nothing is queued here.
 */
package io.holdfast.proxy.cli;
