package io.holdfast.proxy.sim;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelPromise;

/** What the event loops of one simulated process reach through their channels. */
interface SimNetwork {
    /** For the process's buffers. */
    ByteBufAllocator allocator();

    /** The process has ended in the middle of what it is doing: nothing it writes goes out. */
    boolean isProcessDead();

    /** The proxy connects to the broker. */
    void dialled(SimChannel channel, ChannelPromise promise);

    /** Buffers that the garbage collector frees: a killed process releases nothing. */
    static ByteBufAllocator newAllocator() {
        return new UnpooledByteBufAllocator(true, true, false);
    }
}
