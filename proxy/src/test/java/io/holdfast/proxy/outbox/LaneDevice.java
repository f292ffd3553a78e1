package io.holdfast.proxy.outbox;

import io.holdfast.codec.MqttVersion;
import io.holdfast.proxy.ack.AckListener;
import io.holdfast.proxy.ack.AckStage;
import io.holdfast.store.ClientSession;
import io.holdfast.store.RecordEncoder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.EventLoop;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import org.agrona.concurrent.UnsafeBuffer;

/** A device as the outbox sees it: hands over records in order and writes acknowledgements as they are released. */
final class LaneDevice implements OutboxClient, AckListener {
    private static final int QOS_1 = 1;

    private final EventLoop loop;
    private final LaneFeed feed;
    private final String clientId;
    private final AckStage acks = new AckStage(this);
    private final ByteBuf out = Unpooled.buffer();
    private final UnsafeBuffer buffer = new UnsafeBuffer(0, 0);
    private volatile ClientSession session;
    private String refused = "";

    LaneDevice(EventLoop loop, LaneFeed feed, String clientId, MqttVersion version) {
        this.loop = loop;
        this.feed = feed;
        this.clientId = clientId;
        acks.version(version);
    }

    void open(long epoch) {
        onLoop(() -> feed.openSession(this, clientId, epoch, true));
    }

    boolean isOpen() {
        return session != null;
    }

    /** A QoS 1 PUBLISH comes in on connection {@code epoch}. */
    void publish(long epoch, int packetId) {
        onLoop(() -> {
            long slot = acks.publishReceived(QOS_1, packetId);
            feed.publish(this, session, epoch, record(packetId), packetId, false, slot, OutboxEntry.IfFull.WAIT);
        });
    }

    private ByteBuf record(int packetId) {
        byte[] id = clientId.getBytes(StandardCharsets.UTF_8);
        UnsafeBuffer topic = new UnsafeBuffer("t".getBytes(StandardCharsets.UTF_8));
        UnsafeBuffer payload = new UnsafeBuffer(("m" + packetId).getBytes(StandardCharsets.UTF_8));
        int length = RecordEncoder.encodedLength(id.length, topic.capacity(), 0, payload.capacity());
        ByteBuf record = PooledByteBufAllocator.DEFAULT.directBuffer(length, length);
        buffer.wrap(record.memoryAddress(), length);
        RecordEncoder encoder = new RecordEncoder();
        encoder.publish(buffer, 0, QOS_1, false, 5)
                .times(1_000, 0)
                .route(0)
                .packetId(packetId)
                .clientId(id);
        encoder.topic(topic, 0, topic.capacity());
        encoder.properties(payload, 0, 0);
        encoder.payload(payload, 0, payload.capacity());
        return record.writerIndex(encoder.finish());
    }

    /** The acknowledgements written so far, in hex. */
    String written() {
        String[] hex = new String[1];
        onLoop(() -> hex[0] = ByteBufUtil.hexDump(out));
        return hex[0];
    }

    /** The packet id whose refusal this version cannot express; empty for none. */
    String refused() {
        String[] id = new String[1];
        onLoop(() -> id[0] = refused);
        return id[0];
    }

    private void onLoop(Runnable action) {
        try {
            loop.submit(action).get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    @Override
    public void onOutboxEntry(OutboxEntry entry) {
        if (entry.kind() == OutboxEntry.Kind.OPEN_SESSION) {
            session = entry.session();
        } else if (entry.outcome() != OutboxEntry.Outcome.STALE) {
            acks.settlePublish(entry.slot(), entry.outcome().reasonCode());
        }
    }

    @Override
    public void onOutboxBatch() {
        acks.release(out);
    }

    @Override
    public boolean isClosed() {
        return false;
    }

    @Override
    public void onAckReleased(int type, int packetId, int reason) {
        // written() shows it
    }

    @Override
    public void onRefusalCannotBeTold(int packetId, int reason) {
        refused = packetId + "";
    }
}
