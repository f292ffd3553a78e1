package io.holdfast.codec;

/** The protocol versions that Holdfast speaks (3.1.1 §3.1.2.2, v5 §3.1.2.2). */
public enum MqttVersion {
    /** MQTT 3.1: protocol name {@code MQIsdp}, level 3. */
    MQTT_3_1(3, "MQIsdp"),
    /** MQTT 3.1.1: protocol name {@code MQTT}, level 4. */
    MQTT_3_1_1(4, "MQTT"),
    /** MQTT 5: protocol name {@code MQTT}, level 5. */
    MQTT_5(5, "MQTT");

    private final int protocolLevel;
    private final String protocolName;

    MqttVersion(int protocolLevel, String protocolName) {
        this.protocolLevel = protocolLevel;
        this.protocolName = protocolName;
    }

    /** The level (v5: Protocol Version) byte of CONNECT. */
    public int protocolLevel() {
        return protocolLevel;
    }

    /** The protocol name of CONNECT. */
    public String protocolName() {
        return protocolName;
    }

    /** True for MQTT 5: packets carry properties and reason codes. */
    public boolean isV5() {
        return this == MQTT_5;
    }

    /** The version of a protocol level, or null if the level is unknown. */
    public static MqttVersion ofLevel(int protocolLevel) {
        return switch (protocolLevel) {
            case 3 -> MQTT_3_1;
            case 4 -> MQTT_3_1_1;
            case 5 -> MQTT_5;
            default -> null;
        };
    }
}
