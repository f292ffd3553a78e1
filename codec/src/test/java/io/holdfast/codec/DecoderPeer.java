package io.holdfast.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;

/** A FrameDecoder in a channel, and a listener that writes down what it hears. Closing it looks for leaks. */
final class DecoderPeer implements FrameListener, AutoCloseable {
    final List<String> frames = new ArrayList<>();
    final List<MqttProtocolException> violations = new ArrayList<>();
    final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(false);
    final FrameDecoder decoder;
    final EmbeddedChannel channel;
    int inactive;
    int readCompletes;
    /** Takes that many frames, then refuses. */
    int window = Integer.MAX_VALUE;

    Runnable onFrame = () -> {};
    /** Set the version from a CONNECT that comes. */
    boolean learnsVersion;
    /** Look into the frames, as the proxy does. */
    boolean checksFrames;

    private final Direction direction;
    private MqttVersion version;
    private StringBuilder stream;
    private int streamLength;

    DecoderPeer(Direction direction, MqttVersion version) {
        this(direction, version, 1 << 20, Integer.MAX_VALUE);
    }

    DecoderPeer(Direction direction, MqttVersion version, int maxPacketSize, int streamThreshold) {
        this.direction = direction;
        this.version = version;
        decoder = new FrameDecoder(this, direction, maxPacketSize, streamThreshold);
        if (version != null) {
            decoder.version(version);
        }
        channel = new EmbeddedChannel(decoder);
        channel.config().setAllocator(allocator);
    }

    void receive(String hex) {
        receive(Bytes.hex(hex));
    }

    void receive(byte[] bytes) {
        receive(bytes, 0, bytes.length);
    }

    void receive(byte[] bytes, int from, int to) {
        ByteBuf buf = channel.alloc().buffer(Math.max(1, to - from));
        buf.writeBytes(bytes, from, to - from);
        channel.writeInbound(buf);
    }

    void resume() {
        decoder.resume(channel.pipeline().context(decoder));
    }

    MqttProtocolException violation() {
        if (violations.size() != 1) {
            throw new AssertionError("one violation expected: " + violations + ", frames " + frames);
        }
        return violations.get(0);
    }

    @Override
    public boolean onFrame(ChannelHandlerContext ctx, ByteBuf buf, int offset, int bodyOffset, int end) {
        if (window == 0) {
            return false;
        }
        window--;
        if (checksFrames) {
            Packets.check(buf, offset, bodyOffset, end, direction, version);
        }
        if (learnsVersion && PacketType.of(buf.getByte(offset)) == PacketType.CONNECT) {
            version = ConnectPacket.parse(buf, offset, bodyOffset, end).version();
            decoder.version(version);
        }
        frames.add(Bytes.hex(ByteBufUtil.getBytes(buf, offset, end - offset)));
        onFrame.run();
        return true;
    }

    @Override
    public boolean onStreamBegin(
            ChannelHandlerContext ctx, ByteBuf buf, int offset, int bodyOffset, int available, int frameLength) {
        if (window == 0) {
            return false;
        }
        window--;
        stream = new StringBuilder(Bytes.hex(ByteBufUtil.getBytes(buf, offset, available)));
        streamLength = frameLength - available;
        onFrame.run();
        return true;
    }

    @Override
    public void onStreamData(ChannelHandlerContext ctx, ByteBuf buf, int offset, int length, boolean last) {
        stream.append(' ').append(Bytes.hex(ByteBufUtil.getBytes(buf, offset, length)));
        streamLength -= length;
        if (last != (streamLength == 0)) {
            throw new AssertionError("last=" + last + " with " + streamLength + " bytes to come");
        }
        if (last) {
            frames.add(stream.toString());
        }
        onFrame.run();
    }

    @Override
    public void onReadComplete(ChannelHandlerContext ctx) {
        readCompletes++;
    }

    @Override
    public void onProtocolViolation(ChannelHandlerContext ctx, MqttProtocolException violation) {
        violations.add(violation);
    }

    @Override
    public void onInactive(ChannelHandlerContext ctx) {
        inactive++;
    }

    @Override
    public void onWritabilityChanged(ChannelHandlerContext ctx) {}

    /** The version that packets follow; null until a CONNECT has told it. */
    MqttVersion version() {
        return version;
    }

    /** The bytes that the decoder keeps. */
    long keptBytes() {
        return allocator.metric().usedHeapMemory();
    }

    /** Fails if a buffer has not been released. */
    @Override
    public void close() {
        channel.finishAndReleaseAll();
        if (keptBytes() != 0) {
            throw new AssertionError(keptBytes() + " bytes leaked");
        }
    }
}
