package io.holdfast.codec;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A CONNECT (v5 §3.1), and its bytes, to connect with them again. Immutable. It holds the password: it is never written
 * to disk or to a log.
 */
public final class ConnectPacket {
    /** {@link #receiveMaximum()} of a client that names none (v5 §3.1.2.11.3). */
    public static final int DEFAULT_RECEIVE_MAXIMUM = 65_535;

    private static final int FIRST_BYTE = PacketType.CONNECT << 4;
    private static final int CLEAN_START = 0x02;
    private static final int WILL_FLAG = 0x04;
    private static final int WILL_QOS_SHIFT = 3;
    private static final int WILL_RETAIN = 0x20;
    private static final int PASSWORD = 0x40;
    private static final int USER_NAME = 0x80;
    private static final int RESERVED = 0x01;
    private static final int BRIDGE = 0x80;

    /** A TLS record begins as a CONNECT of 3.1 with odd flags and a Remaining Length of 3 does (RFC 8446 §5.1). */
    private static final int TLS_HANDSHAKE = 0x16;

    private static final int TLS_MAJOR_VERSION = 3;

    private final byte[] frame;
    private final int bodyOffset;
    private final int flagsOffset;
    private final int clientIdOffset;
    private final MqttVersion version;
    private final int flags;
    private final int keepAliveSeconds;
    private final String clientId;
    private final String userName;
    private final boolean hasPassword;
    private final int passwordOffset;

    // v5 properties; the defaults are those of a packet without them.
    private long sessionExpiryInterval;
    private int receiveMaximum = DEFAULT_RECEIVE_MAXIMUM;
    private int topicAliasMaximum;
    private long maximumPacketSize;
    private boolean requestProblemInformation = true;
    private String authenticationMethod;

    private ConnectPacket(ByteBuf buf, int offset, int bodyOffset, int end) {
        int firstByte = buf.getUnsignedByte(offset);
        if (firstByte == TLS_HANDSHAKE && end - bodyOffset == TLS_MAJOR_VERSION) {
            throw MqttProtocolException.malformed("", "no MQTT: it seems to speak TLS, here without TLS");
        }
        BodyReader body = new BodyReader(buf, bodyOffset, end, PacketType.CONNECT, null);
        version = readProtocol(body);
        body.version(version);
        if (firstByte != FIRST_BYTE && version != MqttVersion.MQTT_3_1) {
            throw FixedHeader.wrongFlags(firstByte, version);
        }
        flagsOffset = body.index() - offset;
        flags = body.readByte("Connect Flags");
        checkFlags(body);
        keepAliveSeconds = body.readShort("Keep Alive");
        readProperties(body.readProperties(), body, buf);
        clientIdOffset = body.index() - offset;
        clientId = body.readString("Client Identifier");
        if (hasWill()) {
            readWill(body);
        }
        userName = isThere(USER_NAME, body) ? body.readString("User Name") : null;
        hasPassword = isThere(PASSWORD, body);
        int passwordPrefix = body.index();
        if (hasPassword) {
            body.skipBinary("Password");
        }
        passwordOffset = passwordPrefix - offset + Short.BYTES;
        body.requireEnd();
        frame = ByteBufUtil.getBytes(buf, offset, end - offset);
        this.bodyOffset = bodyOffset - offset;
    }

    /**
     * Reads and checks a whole packet.
     *
     * @param offset of the first byte of the packet; {@code bodyOffset} behind the fixed header; {@code end} exclusive.
     * @throws MqttProtocolException for whatever breaks the protocol. 0x84 means that the name is MQTT's but the level
     *     is not known, the answer is CONNACK 01 in the 3.1.1 form [MQTT-3.1.2-2]. An
     *     unknown name is 0x81: close without an answer.
     */
    public static ConnectPacket parse(ByteBuf buf, int offset, int bodyOffset, int end) {
        return new ConnectPacket(buf, offset, bodyOffset, end);
    }

    /** What is answered with CONNACK 01 [MQTT-3.1.2-2]. */
    public static MqttProtocolException unsupportedVersion(String message) {
        return MqttProtocolException.of(ReasonCode.UNSUPPORTED_PROTOCOL_VERSION, "MQTT-3.1.2-2", message);
    }

    private static MqttVersion readProtocol(BodyReader body) {
        String name = body.readString("Protocol Name");
        boolean oldName = name.equals(MqttVersion.MQTT_3_1.protocolName());
        if (!oldName && !name.equals(MqttVersion.MQTT_5.protocolName())) {
            throw body.malformed("MQTT-3.1.2-1", "an unknown Protocol Name");
        }
        int level = body.readByte("Protocol Level");
        MqttVersion version = MqttVersion.ofLevel(level & ~BRIDGE);
        boolean isBridge = (level & BRIDGE) != 0;
        if (version == null || !version.protocolName().equals(name) || (isBridge && version.isV5())) {
            throw unsupportedVersion("CONNECT with Protocol Level 0x" + Integer.toHexString(level) + " of " + name);
        }
        return version;
    }

    private void checkFlags(BodyReader body) {
        // 3.1 leaves the bit unused.
        if ((flags & RESERVED) != 0 && version != MqttVersion.MQTT_3_1) {
            throw body.malformed("MQTT-3.1.2-3", "the reserved bit of the Connect Flags set");
        }
        if (willQos() == 3) {
            throw body.malformed(version.isV5() ? "MQTT-3.1.2-12" : "MQTT-3.1.2-14", "Will QoS 3");
        }
        if (!hasWill() && (willQos() != 0 || willRetain())) {
            throw body.malformed(version.isV5() ? "MQTT-3.1.2-11" : "MQTT-3.1.2-13", "Will QoS or Retain, but no Will");
        }
        if (!version.isV5() && (flags & PASSWORD) != 0 && (flags & USER_NAME) == 0) {
            throw body.malformed("MQTT-3.1.2-22", "a Password, but no User Name");
        }
    }

    private void readProperties(PropertyCursor property, BodyReader body, ByteBuf buf) {
        sessionExpiryInterval = version.isV5() ? 0 : -1;
        long seen = 0;
        while (property.next()) {
            seen = PropertyRules.check(property, PacketType.CONNECT, seen);
            long value = property.intValue();
            switch (property.identifier()) {
                case PropertyId.SESSION_EXPIRY_INTERVAL -> sessionExpiryInterval = value;
                case PropertyId.RECEIVE_MAXIMUM -> receiveMaximum = (int) value;
                case PropertyId.TOPIC_ALIAS_MAXIMUM -> topicAliasMaximum = (int) value;
                case PropertyId.MAXIMUM_PACKET_SIZE -> maximumPacketSize = value;
                case PropertyId.REQUEST_PROBLEM_INFORMATION -> requestProblemInformation = value == 1;
                case PropertyId.AUTHENTICATION_METHOD ->
                    authenticationMethod =
                            buf.toString(property.stringOffset(), property.stringLength(), StandardCharsets.UTF_8);
                default -> {}
            }
        }
        if (PropertyRules.has(seen, PropertyId.AUTHENTICATION_DATA) && authenticationMethod == null) {
            throw body.protocolError("", "Authentication Data, but no Authentication Method");
        }
    }

    private static void readWill(BodyReader body) {
        PropertyCursor property = body.readProperties();
        long seen = 0;
        while (property.next()) {
            seen = PropertyRules.check(property, PropertyId.WILL, seen);
        }
        body.skipTopicName("Will Topic");
        body.skipBinary("Will Payload");
    }

    /** 3.1 §3.1: if the packet ends before a field that the flags announce, then the packet is right. */
    private boolean isThere(int flag, BodyReader body) {
        return (flags & flag) != 0 && (body.hasMore() || version != MqttVersion.MQTT_3_1);
    }

    public MqttVersion version() {
        return version;
    }

    /** Whether it is a broker's bridge: Protocol Level 0x83 or 0x84, no part of the specification, which Mosquitto sends. */
    public boolean isBridge() {
        return (frame[flagsOffset - 1] & BRIDGE) != 0;
    }

    /** The Client Identifier; it may be empty. */
    public String clientId() {
        return clientId;
    }

    /** The bytes of the Client Identifier, a copy. */
    public byte[] clientIdBytes() {
        return clientId.getBytes(StandardCharsets.UTF_8);
    }

    /** Clean Start, before v5 Clean Session. */
    public boolean cleanStart() {
        return (flags & CLEAN_START) != 0;
    }

    /** Seconds, 0 for none. */
    public int keepAliveSeconds() {
        return keepAliveSeconds;
    }

    public boolean hasWill() {
        return (flags & WILL_FLAG) != 0;
    }

    public int willQos() {
        return flags >> WILL_QOS_SHIFT & 0x3;
    }

    public boolean willRetain() {
        return (flags & WILL_RETAIN) != 0;
    }

    public boolean hasUserName() {
        return userName != null;
    }

    /** The User Name, null for none. */
    public String userName() {
        return userName;
    }

    public boolean hasPassword() {
        return hasPassword;
    }

    /** Seconds, 0 to 2^32-1 (which means never); before v5 -1. */
    public long sessionExpiryInterval() {
        return sessionExpiryInterval;
    }

    /** 1 to 65,535. */
    public int receiveMaximum() {
        return receiveMaximum;
    }

    /** 0 to 65,535; 0 for none. */
    public int topicAliasMaximum() {
        return topicAliasMaximum;
    }

    /** Bytes; 0 for no limit. */
    public long maximumPacketSize() {
        return maximumPacketSize;
    }

    /** Whether Reason Strings and User Properties are welcome in every packet (v5 §3.1.2.11.7). */
    public boolean requestProblemInformation() {
        return requestProblemInformation;
    }

    /** Null for none. */
    public String authenticationMethod() {
        return authenticationMethod;
    }

    /** Writes the packet as it came, with Clean Start (Clean Session) as told. */
    public void writeRedial(ByteBuf out, boolean cleanStart) {
        int flagsIndex = out.writerIndex() + flagsOffset;
        out.writeBytes(frame);
        out.setByte(flagsIndex, redialFlags(cleanStart));
    }

    /** As {@link #writeRedial(ByteBuf, boolean)}, with another Client Identifier, such as the one the server assigned. */
    public void writeRedial(ByteBuf out, boolean cleanStart, String newClientId) {
        byte[] id = newClientId.getBytes(StandardCharsets.UTF_8);
        int oldIdEnd = clientIdOffset + Short.BYTES + clientIdBytes().length;
        out.writeByte(frame[0]);
        VariableByteInteger.write(
                out, frame.length - bodyOffset - (oldIdEnd - clientIdOffset) + Short.BYTES + id.length);
        int flagsIndex = out.writerIndex() + flagsOffset - bodyOffset;
        out.writeBytes(frame, bodyOffset, clientIdOffset - bodyOffset);
        out.writeShort(id.length);
        out.writeBytes(id);
        out.writeBytes(frame, oldIdEnd, frame.length - oldIdEnd);
        out.setByte(flagsIndex, redialFlags(cleanStart));
    }

    private int redialFlags(boolean cleanStart) {
        return cleanStart ? flags | CLEAN_START : flags & ~CLEAN_START;
    }

    /** The bytes of the Password, a copy; null for none. */
    public byte[] passwordBytes() {
        return hasPassword ? Arrays.copyOfRange(frame, passwordOffset, frame.length) : null;
    }

    /** Without the User Name and the Password. */
    @Override
    public String toString() {
        return "CONNECT[" + version + ", clientId=" + clientId + ", cleanStart=" + cleanStart() + ", keepAlive="
                + keepAliveSeconds + "s, will=" + hasWill() + ", userName=" + hasUserName() + ", password="
                + hasPassword + "]";
    }
}
