package io.holdfast.proxy.source;

import io.holdfast.codec.Direction;
import io.holdfast.codec.FrameDecoder;
import io.holdfast.proxy.ProxyServices;
import io.holdfast.proxy.admission.LoopContext;
import io.holdfast.proxy.connection.DeviceConnection;
import io.holdfast.proxy.guard.ChannelErrors;
import io.holdfast.proxy.tls.DeviceTls;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoop;
import java.util.function.Function;

/**
 * The pipeline of a device, the same for every listener:
 *
 * <ol>
 *   <li>TLS, on a listener with mqtts</li>
 *   <li>frame decoder: fixed header, size, flags; hands whole frames to the connection</li>
 *   <li>errors: the last resort</li>
 * </ol>
 *
 * The connect deadline runs from here on ([MQTT-3.1.4-1]: a reasonable time), over the TLS handshake too.
 */
final class DevicePipeline extends ChannelInitializer<Channel> {
    private final ProxyServices services;
    private final DeviceTls tlsOrNull;
    private final Function<EventLoop, LoopContext> loops;

    DevicePipeline(ProxyServices services, DeviceTls tlsOrNull, Function<EventLoop, LoopContext> loops) {
        this.services = services;
        this.tlsOrNull = tlsOrNull;
        this.loops = loops;
    }

    @Override
    protected void initChannel(Channel channel) {
        DeviceConnection connection = new DeviceConnection(services, loops.apply(channel.eventLoop()));
        FrameDecoder decoder = new FrameDecoder(
                connection, Direction.FROM_CLIENT, services.context().devices().maxPacketSize(), Integer.MAX_VALUE);
        if (tlsOrNull != null) {
            tlsOrNull.addTo(channel.pipeline());
        }
        channel.pipeline().addLast(decoder, ChannelErrors.INSTANCE);
        connection.accepted(channel.pipeline().context(decoder), decoder);
    }
}
