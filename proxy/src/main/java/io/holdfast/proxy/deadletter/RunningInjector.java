package io.holdfast.proxy.deadletter;

import io.holdfast.proxy.outbox.LaneFeed;
import io.holdfast.proxy.outbox.OutboxClient;
import io.holdfast.proxy.outbox.OutboxEntry;
import io.holdfast.store.StoreException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Hands records to the writers of a running proxy and waits until they are durable. Not on an event loop. */
public final class RunningInjector implements DeadLetterDesk.Injector {
    private static final long PATIENCE_S = 60;

    private final EventLoop eventLoop;
    private final List<LaneFeed> feeds;

    /** @param feeds one per lane, of this event loop */
    public RunningInjector(EventLoop eventLoop, List<LaneFeed> feeds) {
        this.eventLoop = eventLoop;
        this.feeds = List.copyOf(feeds);
    }

    @Override
    public int inject(int lane, List<byte[]> records) throws StoreException {
        Batch batch = new Batch(records.size());
        eventLoop.execute(() -> {
            int index = 0;
            for (byte[] bytes : records) {
                ByteBuf record =
                        Unpooled.directBuffer(bytes.length, bytes.length).writeBytes(bytes);
                feeds.get(lane).inject(batch, record, index++);
            }
        });
        try {
            return batch.done.get(PATIENCE_S, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new StoreException("interrupted: it is not known what was replayed", e);
        } catch (ExecutionException | TimeoutException e) {
            throw new StoreException("the outbox does not answer: some may come twice when this is repeated", e);
        }
    }

    /** Its methods run on the event loop. */
    private static final class Batch implements OutboxClient {
        private final CompletableFuture<Integer> done = new CompletableFuture<>();
        private int open;
        private int stored;
        private boolean refused;

        Batch(int size) {
            open = size;
        }

        @Override
        public void onOutboxEntry(OutboxEntry entry) {
            refused |= entry.outcome() != OutboxEntry.Outcome.STORED;
            if (!refused) {
                stored++;
            }
            if (--open == 0) {
                done.complete(stored);
            }
        }

        @Override
        public void onOutboxBatch() {}

        @Override
        public boolean isClosed() {
            return false;
        }
    }
}
