package io.holdfast.bench;

import io.holdfast.codec.Direction;
import io.holdfast.codec.FrameDecoder;
import io.holdfast.codec.FrameListener;
import io.holdfast.codec.MqttProtocolException;
import io.holdfast.codec.PublishView;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.mqtt.MqttConnectMessage;
import io.netty.handler.codec.mqtt.MqttDecoder;
import io.netty.handler.codec.mqtt.MqttEncoder;
import io.netty.handler.codec.mqtt.MqttMessageBuilders;
import io.netty.handler.codec.mqtt.MqttPublishMessage;
import io.netty.handler.codec.mqtt.MqttVersion;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Time and allocation per PUBLISH: a network buffer with 32 whole frames through our decoder and view, and through
 * Netty's {@link MqttDecoder}, which makes a message of each. Both sit alone in the same kind of channel, take the same
 * buffer, and end in a consumer that reads topic, packet id, payload and the number of User Properties.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 6, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = "-Xmx256m")
public class FrameDecodeBenchmark {
    private static final int FRAMES = 32;
    private static final int MAX_PACKET_SIZE = 1 << 20;
    private static final int MAX_USER_PROPERTIES = 128;

    /** What is decoded. */
    @Param
    public PublishShape shape;

    private ByteBuf frames;
    private EmbeddedChannel channel;

    /** Makes the network buffer. */
    @Setup
    public void fillBuffer() {
        frames = PooledByteBufAllocator.DEFAULT.directBuffer(64 << 10);
        for (int packetId = 1; packetId <= FRAMES; packetId++) {
            shape.write(frames, packetId);
        }
    }

    /** Gives everything back. */
    @TearDown
    public void release() {
        channel.finishAndReleaseAll();
        if (!frames.release() || frames.refCnt() != 0) {
            throw new IllegalStateException("a frame was kept");
        }
    }

    /** Our decoder, and the view that checks and points. */
    @Benchmark
    @OperationsPerInvocation(FRAMES)
    public void holdfast(Blackhole blackhole) {
        if (channel == null) {
            ViewConsumer consumer = new ViewConsumer(blackhole, shape.version());
            FrameDecoder decoder =
                    new FrameDecoder(consumer, Direction.FROM_CLIENT, MAX_PACKET_SIZE, Integer.MAX_VALUE);
            decoder.version(shape.version());
            channel = new EmbeddedChannel(decoder);
        }
        decode();
    }

    /** Netty's decoder. */
    @Benchmark
    @OperationsPerInvocation(FRAMES)
    public void netty(Blackhole blackhole) {
        if (channel == null) {
            channel = new EmbeddedChannel(new MqttDecoder(MAX_PACKET_SIZE), new MessageConsumer(blackhole));
            channel.pipeline().fireChannelRead(connect());
        }
        decode();
    }

    private void decode() {
        frames.readerIndex(0);
        channel.pipeline().fireChannelRead(frames.retain());
        channel.pipeline().fireChannelReadComplete();
        if (frames.refCnt() != 1) {
            throw new IllegalStateException("not every frame was decoded and released");
        }
    }

    /** Netty's decoder learns the version from it. */
    private ByteBuf connect() {
        EmbeddedChannel encoder = new EmbeddedChannel((ChannelHandler) MqttEncoder.INSTANCE);
        MqttConnectMessage message = MqttMessageBuilders.connect()
                .protocolVersion(shape.version().isV5() ? MqttVersion.MQTT_5 : MqttVersion.MQTT_3_1_1)
                .clientId("device")
                .build();
        encoder.writeOutbound(message);
        ByteBuf bytes = encoder.readOutbound();
        encoder.finishAndReleaseAll();
        return bytes;
    }

    private static final class ViewConsumer implements FrameListener {
        private final Blackhole blackhole;
        private final io.holdfast.codec.MqttVersion version;
        private final PublishView view = new PublishView(Direction.FROM_CLIENT);

        ViewConsumer(Blackhole blackhole, io.holdfast.codec.MqttVersion version) {
            this.blackhole = blackhole;
            this.version = version;
        }

        @Override
        public boolean onFrame(ChannelHandlerContext ctx, ByteBuf buf, int offset, int bodyOffset, int end) {
            view.wrap(buf, offset, bodyOffset, end, version, MAX_USER_PROPERTIES);
            blackhole.consume(view.topicLength());
            blackhole.consume(view.packetId());
            blackhole.consume(view.payloadLength());
            blackhole.consume(view.userPropertyCount());
            return true;
        }

        @Override
        public boolean onStreamBegin(
                ChannelHandlerContext ctx, ByteBuf buf, int offset, int bodyOffset, int available, int frameLength) {
            throw new IllegalStateException("nothing is streamed from a client");
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

    private static final class MessageConsumer extends ChannelInboundHandlerAdapter {
        private final Blackhole blackhole;

        MessageConsumer(Blackhole blackhole) {
            this.blackhole = blackhole;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            if (message instanceof MqttPublishMessage publish) {
                if (publish.decoderResult().isFailure()) {
                    throw new IllegalStateException(publish.decoderResult().cause());
                }
                blackhole.consume(publish.variableHeader().topicName());
                blackhole.consume(publish.variableHeader().packetId());
                blackhole.consume(publish.payload().readableBytes());
                blackhole.consume(publish.variableHeader().properties().isEmpty());
            }
            ReferenceCountUtil.release(message);
        }
    }
}
