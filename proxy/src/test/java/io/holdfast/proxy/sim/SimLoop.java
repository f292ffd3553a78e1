package io.holdfast.proxy.sim;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoRegistration;
import io.netty.channel.ManualIoEventLoop;
import io.netty.util.concurrent.Ticker;

/** An event loop of the simulated process, run by hand on the virtual clock. It has no I/O of its own: see {@link SimChannel}. */
final class SimLoop extends ManualIoEventLoop {
    private final SimNetwork network;

    SimLoop(SimNetwork network, Ticker ticker) {
        super(null, Thread.currentThread(), executor -> new NoIo(), ticker);
        this.network = network;
    }

    SimNetwork network() {
        return network;
    }

    /** When the next timer is due, on the virtual clock; {@link Long#MAX_VALUE} if none is set. */
    long nextTimerNs() {
        long deadline = nextScheduledTaskDeadlineNanos();
        return deadline < 0 ? Long.MAX_VALUE : deadline;
    }

    private static final class NoIo implements IoHandler {
        @Override
        public int run(IoHandlerContext context) {
            return 0;
        }

        @Override
        public IoRegistration register(IoHandle handle) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void wakeup() {
            // nobody sleeps
        }

        @Override
        public boolean isCompatible(Class<? extends IoHandle> type) {
            return false;
        }
    }
}
