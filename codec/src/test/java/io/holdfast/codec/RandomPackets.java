package io.holdfast.codec;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Valid packets of every type, drawn from a seed. */
final class RandomPackets {
    static final int[] FROM_CLIENT = {
        PacketType.PUBLISH, PacketType.PUBACK, PacketType.PUBREC, PacketType.PUBREL, PacketType.PUBCOMP,
        PacketType.SUBSCRIBE, PacketType.UNSUBSCRIBE, PacketType.PINGREQ, PacketType.DISCONNECT, PacketType.AUTH
    };
    static final int[] FROM_SERVER = {
        PacketType.CONNACK, PacketType.PUBLISH, PacketType.PUBACK, PacketType.PUBREC, PacketType.PUBREL,
        PacketType.PUBCOMP, PacketType.SUBACK, PacketType.UNSUBACK, PacketType.PINGRESP, PacketType.DISCONNECT,
        PacketType.AUTH
    };

    private static final String[] LETTERS = {"a", "b", "c", "/", "x", "é", "漢", "😀", "$", " ", "\uFEFF"};
    private static final int[] PUBACK_CODES = {0x00, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99};
    private static final int[] PUBACK_CODES_OF_SERVER = {0x00, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99};
    private static final int[] PUBREL_CODES = {0x00, 0x92};
    private static final int[] SUBACK_CODES = {0, 1, 2, 0x80, 0x83, 0x87, 0x8F, 0x91, 0x97, 0x9E, 0xA1, 0xA2};
    private static final int[] SUBACK_CODES_V3 = {0, 1, 2, 0x80};
    private static final int[] UNSUBACK_CODES = {0x00, 0x11, 0x80, 0x83, 0x87, 0x8F, 0x91};
    private static final int[] DISCONNECT_CODES = {0x00, 0x04, 0x80, 0x82, 0x93, 0x98};
    private static final int[] DISCONNECT_CODES_OF_SERVER = {0x00, 0x80, 0x82, 0x8E, 0x9D, 0xA0};
    private static final int[] AUTH_CODES = {0x18, 0x19};
    private static final int[] AUTH_CODES_OF_SERVER = {0x00, 0x18};

    private final Random random;

    RandomPackets(Random random) {
        this.random = random;
    }

    /** A packet that {@code direction} may send after the handshake, or CONNACK. */
    byte[] next(Direction direction, MqttVersion version) {
        int[] types = direction == Direction.FROM_CLIENT ? FROM_CLIENT : FROM_SERVER;
        while (true) {
            int type = types[random.nextInt(types.length)];
            boolean v5Only =
                    type == PacketType.AUTH || (type == PacketType.DISCONNECT && direction == Direction.FROM_SERVER);
            if (version.isV5() || !v5Only) {
                return packet(type, direction, version);
            }
        }
    }

    byte[] packet(int type, Direction direction, MqttVersion version) {
        boolean v5 = version.isV5();
        boolean server = direction == Direction.FROM_SERVER;
        int firstByte = type << 4;
        return switch (type) {
            case PacketType.CONNECT -> connect(version);
            case PacketType.CONNACK -> {
                int code = random.nextInt(4) == 0 ? (v5 ? 0x87 : 5) : 0;
                int flags = code == 0 && version != MqttVersion.MQTT_3_1 ? random.nextInt(2) : 0;
                yield Bytes.packet(firstByte, flags, code, properties(type, direction, version));
            }
            case PacketType.PUBLISH -> publish(direction, version);
            case PacketType.PUBACK, PacketType.PUBREC ->
                ack(firstByte, type, server ? PUBACK_CODES_OF_SERVER : PUBACK_CODES, direction, version);
            case PacketType.PUBREL -> ack(firstByte | 2, type, PUBREL_CODES, direction, version);
            case PacketType.PUBCOMP -> ack(firstByte, type, PUBREL_CODES, direction, version);
            case PacketType.SUBSCRIBE -> subscribe(firstByte | 2, version);
            case PacketType.SUBACK ->
                Bytes.packet(
                        firstByte,
                        packetId(),
                        properties(type, direction, version),
                        codes(v5 ? SUBACK_CODES : SUBACK_CODES_V3));
            case PacketType.UNSUBSCRIBE ->
                Bytes.packet(firstByte | 2, packetId(), properties(type, direction, version), filters());
            case PacketType.UNSUBACK ->
                v5
                        ? Bytes.packet(
                                firstByte, packetId(), properties(type, direction, version), codes(UNSUBACK_CODES))
                        : Bytes.packet(firstByte, packetId());
            case PacketType.PINGREQ, PacketType.PINGRESP -> Bytes.packet(firstByte);
            case PacketType.DISCONNECT ->
                v5
                        ? disconnect(firstByte, server ? DISCONNECT_CODES_OF_SERVER : DISCONNECT_CODES, direction)
                        : Bytes.packet(firstByte);
            case PacketType.AUTH ->
                server && random.nextInt(3) == 0
                        ? Bytes.packet(firstByte)
                        : Bytes.packet(
                                firstByte,
                                oneOf(server ? AUTH_CODES_OF_SERVER : AUTH_CODES),
                                properties(type, direction, version));
            default -> throw new IllegalArgumentException("type " + type);
        };
    }

    private byte[] connect(MqttVersion version) {
        boolean will = random.nextBoolean();
        boolean userName = random.nextBoolean();
        boolean password = random.nextBoolean() && (userName || version.isV5());
        int flags = (random.nextBoolean() ? 2 : 0) | (userName ? 0x80 : 0) | (password ? 0x40 : 0);
        List<Object> parts = new ArrayList<>();
        if (will) {
            flags |= 0x04 | random.nextInt(3) << 3 | (random.nextBoolean() ? 0x20 : 0);
        }
        Collections.addAll(
                parts, version.protocolName(), version.protocolLevel(), flags, Bytes.u16(random.nextInt(65536)));
        parts.add(properties(PacketType.CONNECT, Direction.FROM_CLIENT, version));
        parts.add("c" + text(30));
        if (will) {
            parts.add(properties(PropertyId.WILL, Direction.FROM_CLIENT, version));
            parts.add("w" + text(30));
            parts.add(text(30));
        }
        if (userName) {
            parts.add(text(10));
        }
        if (password) {
            parts.add(Bytes.u16(3));
            parts.add(bytes(3));
        }
        return Bytes.packet(PacketType.CONNECT << 4, parts.toArray());
    }

    byte[] publish(Direction direction, MqttVersion version) {
        int qos = random.nextInt(3);
        int firstByte = PacketType.PUBLISH << 4 | qos << 1 | random.nextInt(2);
        if (qos > 0 && random.nextBoolean()) {
            firstByte |= 8;
        }
        byte[] properties = properties(PacketType.PUBLISH, direction, version);
        return Bytes.packet(
                firstByte,
                "t" + text(60),
                qos == 0 ? new byte[0] : packetId(),
                properties,
                bytes(random.nextInt(10) == 0 ? random.nextInt(300) : random.nextInt(30)));
    }

    private byte[] ack(int firstByte, int type, int[] codes, Direction direction, MqttVersion version) {
        int form = version.isV5() ? random.nextInt(3) : 0;
        return switch (form) {
            case 0 -> Bytes.packet(firstByte, packetId());
            case 1 -> Bytes.packet(firstByte, packetId(), oneOf(codes));
            default -> Bytes.packet(firstByte, packetId(), oneOf(codes), properties(type, direction, version));
        };
    }

    private byte[] disconnect(int firstByte, int[] codes, Direction direction) {
        return switch (random.nextInt(3)) {
            case 0 -> Bytes.packet(firstByte);
            case 1 -> Bytes.packet(firstByte, oneOf(codes));
            default ->
                Bytes.packet(firstByte, oneOf(codes), properties(PacketType.DISCONNECT, direction, MqttVersion.MQTT_5));
        };
    }

    private byte[] subscribe(int firstByte, MqttVersion version) {
        List<Object> parts = new ArrayList<>();
        parts.add(packetId());
        parts.add(properties(PacketType.SUBSCRIBE, Direction.FROM_CLIENT, version));
        for (int i = random.nextInt(4); i >= 0; i--) {
            parts.add(filter());
            int options = random.nextInt(3);
            parts.add(version.isV5() ? options | random.nextInt(4) << 2 | random.nextInt(3) << 4 : options);
        }
        return Bytes.packet(firstByte, parts.toArray());
    }

    private byte[] filters() {
        List<Object> parts = new ArrayList<>();
        for (int i = random.nextInt(4); i >= 0; i--) {
            parts.add(filter());
        }
        return Bytes.join(parts.toArray());
    }

    private String filter() {
        return switch (random.nextInt(5)) {
            case 0 -> "#";
            case 1 -> "+/" + text(10);
            case 2 -> "f" + text(10) + "/#";
            default -> "f" + text(20);
        };
    }

    /** Length and random allowed properties in random order; nothing before v5. */
    private byte[] properties(int packetType, Direction direction, MqttVersion version) {
        if (!version.isV5()) {
            return new byte[0];
        }
        List<byte[]> parts = new ArrayList<>();
        boolean method = packetType == PacketType.AUTH || random.nextInt(4) == 0;
        for (int id = 1; id <= PropertyId.SHARED_SUBSCRIPTION_AVAILABLE; id++) {
            boolean forbidden = direction == Direction.FROM_CLIENT
                    ? id == PropertyId.SUBSCRIPTION_IDENTIFIER && packetType == PacketType.PUBLISH
                    : id == PropertyId.SESSION_EXPIRY_INTERVAL && packetType == PacketType.DISCONNECT;
            if (!PropertyId.isAllowed(id, packetType) || forbidden) {
                continue;
            }
            if (id == PropertyId.AUTHENTICATION_METHOD || id == PropertyId.AUTHENTICATION_DATA) {
                if (method) {
                    parts.add(property(id));
                }
            } else if (random.nextInt(4) == 0) {
                parts.add(property(id));
                while (PropertyId.mayRepeat(id, packetType) && random.nextBoolean()) {
                    parts.add(property(id));
                }
            }
        }
        Collections.shuffle(parts, random);
        return Bytes.properties(parts.toArray());
    }

    private byte[] property(int id) {
        return switch (PropertyId.type(id)) {
            case PropertyId.TYPE_BYTE -> Bytes.join(id, random.nextInt(2));
            case PropertyId.TYPE_TWO_BYTES -> Bytes.join(id, Bytes.u16(1 + random.nextInt(65535)));
            case PropertyId.TYPE_FOUR_BYTES -> Bytes.join(id, Bytes.u32(1 + random.nextInt(Integer.MAX_VALUE)));
            case PropertyId.TYPE_VARIABLE -> Bytes.join(id, 0x80 | random.nextInt(128), 1 + random.nextInt(127));
            case PropertyId.TYPE_BINARY -> Bytes.join(id, Bytes.u16(3), bytes(3));
            case PropertyId.TYPE_STRING -> Bytes.join(id, text(20));
            default -> Bytes.join(id, text(20), text(20));
        };
    }

    private byte[] codes(int[] from) {
        byte[] codes = new byte[1 + random.nextInt(4)];
        for (int i = 0; i < codes.length; i++) {
            codes[i] = (byte) oneOf(from);
        }
        return codes;
    }

    private int oneOf(int[] values) {
        return values[random.nextInt(values.length)];
    }

    private byte[] packetId() {
        return Bytes.u16(1 + random.nextInt(65535));
    }

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private String text(int maxLetters) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(maxLetters + 1); i > 0; i--) {
            text.append(LETTERS[random.nextInt(4) == 0 ? random.nextInt(LETTERS.length) : random.nextInt(4)]);
        }
        return text.toString();
    }
}
