package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.embedded.EmbeddedChannel;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Whole frames through decoder and views: no byte of heap per frame. */
class HotPathAllocatesNothingTest {
    private static final int FRAMES = 2000;

    private static final class Views implements FrameListener {
        private final PublishView publish = new PublishView(Direction.FROM_CLIENT);
        private final AckView ack = new AckView(Direction.FROM_SERVER);
        private long frames;
        private long sum;

        @Override
        public boolean onFrame(ChannelHandlerContext ctx, ByteBuf buf, int offset, int bodyOffset, int end) {
            int type = PacketType.of(buf.getByte(offset));
            if (type == PacketType.PUBLISH) {
                publish.wrap(buf, offset, bodyOffset, end, MqttVersion.MQTT_5, 128);
                sum += publish.packetId() + publish.payloadLength() + publish.userPropertyCount();
            } else {
                ack.wrap(buf, bodyOffset, end, MqttVersion.MQTT_5, type);
                sum += ack.packetId();
            }
            frames++;
            return true;
        }

        @Override
        public boolean onStreamBegin(ChannelHandlerContext ctx, ByteBuf buf, int o, int b, int available, int length) {
            return true;
        }

        @Override
        public void onStreamData(ChannelHandlerContext ctx, ByteBuf buf, int offset, int length, boolean last) {}

        @Override
        public void onReadComplete(ChannelHandlerContext ctx) {}

        @Override
        public void onProtocolViolation(ChannelHandlerContext ctx, MqttProtocolException violation) {
            throw violation;
        }

        @Override
        public void onInactive(ChannelHandlerContext ctx) {}

        @Override
        public void onWritabilityChanged(ChannelHandlerContext ctx) {}
    }

    @Test
    void wholeFrames() {
        byte[] publish = Bytes.packet(
                0x32,
                "factory/7/line/é/temperature",
                Bytes.u16(7),
                Bytes.properties(2, Bytes.u32(60), 0x26, "mqtt.message-id", "0123456789", 0x23, Bytes.u16(1)),
                new byte[64]);
        byte[] pair = Bytes.join(publish, Bytes.hex("40 03 00 07 10"));
        byte[][] pairs = new byte[FRAMES / 2][];
        Arrays.fill(pairs, pair);
        // Without leak detection: a tracked buffer records, and so allocates, on every access.
        ByteBuf buf = new UnpooledByteBufAllocator(true, true).buffer().writeBytes(Bytes.join((Object[]) pairs));
        Views views = new Views();
        FrameDecoder decoder = new FrameDecoder(views, Direction.FROM_CLIENT, 1 << 20, Integer.MAX_VALUE);
        decoder.version(MqttVersion.MQTT_5);
        EmbeddedChannel channel = new EmbeddedChannel(decoder);
        ChannelPipeline pipeline = channel.pipeline();
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

        long least = Long.MAX_VALUE;
        for (int round = 0; round < 200; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            buf.readerIndex(0);
            pipeline.fireChannelRead(buf.retain());
            long allocated = threads.getCurrentThreadAllocatedBytes() - before;
            least = Math.min(least, allocated);
        }
        assertEquals(200L * FRAMES, views.frames);
        assertTrue(views.sum > 0);
        assertTrue(least < FRAMES, least + " bytes for " + FRAMES + " frames");
        buf.release();
        channel.finishAndReleaseAll();
    }
}
