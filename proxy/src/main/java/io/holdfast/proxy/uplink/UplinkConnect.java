package io.holdfast.proxy.uplink;

import io.holdfast.codec.ControlCodec;
import io.holdfast.codec.MqttVersion;
import io.holdfast.proxy.ProxyContext;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.mqtt.MqttMessageBuilders;
import io.netty.handler.codec.mqtt.MqttProperties;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** Writes the uplink's CONNECT. The password file is read each time, so a new password takes effect with the next dial. */
final class UplinkConnect {
    static final int KEEP_ALIVE_S = 30;
    private static final int NEVER_EXPIRES = 0xffff_ffff;

    private final ProxyContext.Uplink settings;
    private final String clientId;

    UplinkConnect(ProxyContext.Uplink settings, String clientId) {
        this.settings = settings;
        this.clientId = clientId;
    }

    String clientId() {
        return clientId;
    }

    /** @throws IOException if the password file cannot be read */
    void write(ByteBuf out, ControlCodec codec, MqttVersion version, boolean cleanStart) throws IOException {
        MqttMessageBuilders.ConnectBuilder builder = MqttMessageBuilders.connect()
                .clientId(clientId)
                .protocolVersion(
                        version.isV5()
                                ? io.netty.handler.codec.mqtt.MqttVersion.MQTT_5
                                : io.netty.handler.codec.mqtt.MqttVersion.MQTT_3_1_1)
                .keepAlive(KEEP_ALIVE_S)
                .cleanSession(cleanStart);
        if (version.isV5()) {
            MqttProperties properties = new MqttProperties();
            properties.add(new MqttProperties.IntegerProperty(MqttProperties.SESSION_EXPIRY_INTERVAL, NEVER_EXPIRES));
            builder.properties(properties);
        }
        settings.userName().ifPresent(name -> builder.hasUser(true).username(name));
        if (settings.passwordFile().isPresent()) {
            builder.hasPassword(true)
                    .password(readPassword(settings.passwordFile().get()));
        }
        codec.encode(builder.build(), version, out);
    }

    /** The bytes of the file without the line end that editors leave. */
    private static byte[] readPassword(Path file) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        int length = bytes.length;
        while (length > 0 && (bytes[length - 1] == '\n' || bytes[length - 1] == '\r')) {
            length--;
        }
        return Arrays.copyOf(bytes, length);
    }
}
