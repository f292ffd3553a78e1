package io.holdfast.proxy.testing;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Builds packets, valid and (given odd arguments) invalid ones. Properties are given as raw bytes without their length. */
public final class Packets {
    public static final int V31 = 3;
    public static final int V311 = 4;
    public static final int V5 = 5;
    public static final byte[] NONE = {};

    private Packets() {}

    /** A CONNECT with a keep alive of 60 s. */
    public static byte[] connect(final int version, final String clientId, final boolean cleanStart) {
        return new Connect(version, clientId).cleanStart(cleanStart).bytes();
    }

    /** A PUBLISH without properties. */
    public static byte[] publish(
            final int version, final int qos, final int packetId, final String topic, final String payload) {
        return publishFlags(version, qos << 1, packetId, topic, NONE, payload.getBytes(StandardCharsets.UTF_8));
    }

    /**
     * A PUBLISH.
     *
     * @param flags the low four bits of the first byte: DUP 8, QoS 6, RETAIN 1
     * @param packetId left out at QoS 0
     * @param properties left out unless the version is 5
     */
    public static byte[] publishFlags(
            final int version,
            final int flags,
            final int packetId,
            final String topic,
            final byte[] properties,
            final byte[] payload) {
        final Body body = new Body().utf8(topic);
        if ((flags & 6) != 0) {
            body.u16(packetId);
        }
        if (version == V5) {
            body.prefixed(properties);
        }
        return body.raw(payload).packet((Packet.PUBLISH << 4) | flags);
    }

    /** A PUBACK, PUBREC, PUBREL or PUBCOMP that says success in the short form, which all versions share. */
    public static byte[] ack(final int type, final int packetId) {
        return new Body().u16(packetId).packet((type << 4) | (type == Packet.PUBREL ? 2 : 0));
    }

    /** A v5 PUBACK, PUBREC, PUBREL or PUBCOMP with a reason code. */
    public static byte[] ack(final int type, final int packetId, final int reasonCode) {
        return new Body().u16(packetId).u8(reasonCode).packet((type << 4) | (type == Packet.PUBREL ? 2 : 0));
    }

    /** A SUBSCRIBE of one topic filter. */
    public static byte[] subscribe(final int version, final int packetId, final String filter, final int options) {
        final Body body = new Body().u16(packetId);
        if (version == V5) {
            body.prefixed(NONE);
        }
        return body.utf8(filter).u8(options).packet(0x82);
    }

    /** An UNSUBSCRIBE of one topic filter. */
    public static byte[] unsubscribe(final int version, final int packetId, final String filter) {
        final Body body = new Body().u16(packetId);
        if (version == V5) {
            body.prefixed(NONE);
        }
        return body.utf8(filter).packet(0xA2);
    }

    /** A CONNACK that accepts. */
    public static byte[] connack(final int version, final boolean sessionPresent, final byte[] properties) {
        return connack(version, sessionPresent, 0, properties);
    }

    /** A CONNACK with a Reason Code (v5) or Return Code. */
    public static byte[] connack(
            final int version, final boolean sessionPresent, final int code, final byte[] properties) {
        final Body body = new Body().u8(sessionPresent ? 1 : 0).u8(code);
        if (version == V5) {
            body.prefixed(properties);
        }
        return body.packet(0x20);
    }

    /** A SUBACK or UNSUBACK with these codes (none for an UNSUBACK before v5). */
    public static byte[] suback(final int version, final int type, final int packetId, final int... codes) {
        final Body body = new Body().u16(packetId);
        if (version == V5) {
            body.prefixed(NONE);
        }
        for (final int code : codes) {
            body.u8(code);
        }
        return body.packet(type << 4);
    }

    public static byte[] pingreq() {
        return hex("c000");
    }

    public static byte[] pingresp() {
        return hex("d000");
    }

    /** A normal DISCONNECT in the short form, which all versions share. */
    public static byte[] disconnect() {
        return hex("e000");
    }

    /** A v5 DISCONNECT with a reason code. */
    public static byte[] disconnect(final int reasonCode) {
        return new Body().u8(reasonCode).packet(0xE0);
    }

    /** A User Property (v5 2.2.2.2, identifier 0x26). */
    public static byte[] userProperty(final String name, final String value) {
        return new Body().u8(0x26).utf8(name).utf8(value).toByteArray();
    }

    /** A property with a two-byte value: Topic Alias 0x23, Receive Maximum 0x21, Topic Alias Maximum 0x22 … */
    public static byte[] property16(final int identifier, final int value) {
        return new Body().u8(identifier).u16(value).toByteArray();
    }

    /** A property with a four-byte value: Message Expiry 0x02, Session Expiry 0x11, Maximum Packet Size 0x27 … */
    public static byte[] property32(final int identifier, final long value) {
        return new Body()
                .u8(identifier)
                .u16((int) (value >>> 16))
                .u16((int) value & 0xFFFF)
                .toByteArray();
    }

    /** Several byte strings as one. */
    public static byte[] concat(final byte[]... parts) {
        final Body body = new Body();
        for (final byte[] part : parts) {
            body.raw(part);
        }
        return body.toByteArray();
    }

    /** Bytes from hex; blanks do not count. */
    public static byte[] hex(final String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    /** A CONNECT, field by field. */
    public static final class Connect {
        private final int version;
        private final String clientId;
        private int flags = 2;
        private int keepAliveSeconds = 60;
        private byte[] properties = NONE;
        private byte[] will = NONE;
        private byte[] credentials = NONE;

        /** Of protocol version 3, 4 or 5, with clean start. */
        public Connect(final int version, final String clientId) {
            this.version = version;
            this.clientId = clientId;
        }

        public Connect cleanStart(final boolean cleanStart) {
            flags = cleanStart ? flags | 2 : flags & ~2;
            return this;
        }

        public Connect keepAlive(final int seconds) {
            keepAliveSeconds = seconds;
            return this;
        }

        public Connect properties(final byte[]... all) {
            properties = concat(all);
            return this;
        }

        public Connect will(final int qos, final boolean retain, final String topic, final String payload) {
            flags = flags | 4 | (qos << 3) | (retain ? 0x20 : 0);
            final Body body = new Body();
            if (version == V5) {
                body.prefixed(NONE);
            }
            will = body.utf8(topic).utf8(payload).toByteArray();
            return this;
        }

        public Connect credentials(final String userName, final String password) {
            flags |= 0xC0;
            credentials = new Body().utf8(userName).utf8(password).toByteArray();
            return this;
        }

        public byte[] bytes() {
            final Body body = new Body()
                    .utf8(version == V31 ? "MQIsdp" : "MQTT")
                    .u8(version)
                    .u8(flags)
                    .u16(keepAliveSeconds);
            if (version == V5) {
                body.prefixed(properties);
            }
            return body.utf8(clientId).raw(will).raw(credentials).packet(0x10);
        }
    }

    /** What follows a fixed header. */
    private static final class Body {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        Body u8(final int value) {
            bytes.write(value);
            return this;
        }

        Body u16(final int value) {
            return u8(value >> 8).u8(value);
        }

        Body raw(final byte[] value) {
            bytes.writeBytes(value);
            return this;
        }

        Body utf8(final String value) {
            final byte[] encoded = value.getBytes(StandardCharsets.UTF_8);
            return u16(encoded.length).raw(encoded);
        }

        Body variable(final int value) {
            int rest = value;
            while (rest > 0x7F) {
                u8((rest & 0x7F) | 0x80);
                rest >>= 7;
            }
            return u8(rest);
        }

        Body prefixed(final byte[] value) {
            return variable(value.length).raw(value);
        }

        byte[] toByteArray() {
            return bytes.toByteArray();
        }

        byte[] packet(final int first) {
            return new Body().u8(first).prefixed(toByteArray()).toByteArray();
        }
    }
}
