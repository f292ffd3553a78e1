package io.holdfast.codec;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;

/**
 * Takes what {@link FrameDecoder} finds in the bytes of one connection. Every call is on the channel's event loop.
 *
 * <p>All indices are absolute in the buffer that is passed. The buffer is valid only during the call: to keep a frame,
 * retain a slice (it holds the whole network buffer) or copy it. A {@link MqttProtocolException} that a method throws
 * is reported back by {@link #onProtocolViolation}.
 */
public interface FrameListener {
    /**
     * One whole packet: {@code offset} is that of its first byte, {@code bodyOffset} is behind the fixed header,
     * {@code end} is exclusive.
     *
     * @return false if it is not taken now: the decoder keeps it and is suspended; after {@link FrameDecoder#resume} it
     *     comes again.
     */
    boolean onFrame(ChannelHandlerContext ctx, ByteBuf buf, int offset, int bodyOffset, int end);

    /**
     * The beginning of a PUBLISH above the streaming threshold. The bytes at hand, from {@code offset} on, hold at least
     * the fixed header, the Topic Name and the Packet Identifier; never the whole packet. The rest comes by
     * {@link #onStreamData}. Only the fixed header has been checked.
     *
     * @param available bytes at hand.
     * @param frameLength bytes of the whole packet, fixed header included.
     * @return false as for {@link #onFrame}.
     */
    boolean onStreamBegin(
            ChannelHandlerContext ctx, ByteBuf buf, int offset, int bodyOffset, int available, int frameLength);

    /** The next bytes of the packet begun last; {@code last} with its final byte. */
    void onStreamData(ChannelHandlerContext ctx, ByteBuf buf, int offset, int length, boolean last);

    /**
     * The memory that the decoder keeps for a packet that is not whole has changed.
     *
     * @param bytes 0 for none; what waits only because the decoder is suspended does not count.
     */
    default void onKept(int bytes) {}

    /** No more frames for now: the time to flush. Also after {@link FrameDecoder#resume} has handed out frames. */
    void onReadComplete(ChannelHandlerContext ctx);

    /** The peer broke the protocol. Called at most once; the decoder throws away all later input. */
    void onProtocolViolation(ChannelHandlerContext ctx, MqttProtocolException violation);

    /** The connection is gone. Called once. */
    void onInactive(ChannelHandlerContext ctx);

    /** The channel's writability changed. */
    void onWritabilityChanged(ChannelHandlerContext ctx);
}
