/**
 * The ordered ack stage.
 *
 * <p><b>In:</b> the order in which PUBLISHes and PUBRELs came, and news that one is settled. <b>Does:</b> marks, and
 * releases the completed prefix. <b>Out:</b> PUBACK, PUBREC and PUBCOMP to the device.
 * <b>Thread:</b> the connection's event loop. <b>When full:</b> it is as large as the Receive Maximum; the device is
 * not read beyond it.
 */
package io.holdfast.proxy.ack;
