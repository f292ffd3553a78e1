package io.holdfast.codec;

/** What a property may be and say in a packet (v5 §2.2.2.2 and the sections of the packets). Stateless. */
final class PropertyRules {
    private PropertyRules() {}

    /**
     * Checks the property that a cursor stands on.
     *
     * @param packetType a {@link PacketType}, or {@link PropertyId#WILL}.
     * @param seen the properties before it in the packet, as a bit mask; 0 to begin with.
     * @return {@code seen} with this one.
     * @throws MqttProtocolException with 0x81 if the packet may not have it, 0x82 or 0x94 for the rest.
     */
    static long check(PropertyCursor property, int packetType, long seen) {
        int id = property.identifier();
        if (!PropertyId.isAllowed(id, packetType)) {
            throw MqttProtocolException.malformed("", name(id) + " is not allowed in " + packetName(packetType));
        }
        long bit = 1L << id;
        if ((seen & bit) != 0 && !PropertyId.mayRepeat(id, packetType)) {
            throw MqttProtocolException.protocolError("", name(id) + " is more than once in " + packetName(packetType));
        }
        checkValue(id, property.intValue());
        return seen | bit;
    }

    static boolean has(long seen, int id) {
        return (seen & 1L << id) != 0;
    }

    private static void checkValue(int id, long value) {
        switch (id) {
            case PropertyId.PAYLOAD_FORMAT_INDICATOR,
                    PropertyId.REQUEST_PROBLEM_INFORMATION,
                    PropertyId.REQUEST_RESPONSE_INFORMATION,
                    PropertyId.MAXIMUM_QOS,
                    PropertyId.RETAIN_AVAILABLE,
                    PropertyId.WILDCARD_SUBSCRIPTION_AVAILABLE,
                    PropertyId.SUBSCRIPTION_IDENTIFIERS_AVAILABLE,
                    PropertyId.SHARED_SUBSCRIPTION_AVAILABLE -> {
                if (value > 1) {
                    throw MqttProtocolException.protocolError("", name(id) + " is " + value + ", not 0 or 1");
                }
            }
            case PropertyId.RECEIVE_MAXIMUM, PropertyId.MAXIMUM_PACKET_SIZE, PropertyId.SUBSCRIPTION_IDENTIFIER -> {
                if (value == 0) {
                    throw MqttProtocolException.protocolError("", name(id) + " is 0");
                }
            }
            case PropertyId.TOPIC_ALIAS -> {
                if (value == 0) {
                    throw MqttProtocolException.of(
                            ReasonCode.TOPIC_ALIAS_INVALID, "MQTT-3.3.2-8", "the Topic Alias is 0");
                }
            }
            default -> {}
        }
    }

    private static String name(int id) {
        return "property 0x" + Integer.toHexString(id);
    }

    private static String packetName(int packetType) {
        return packetType == PropertyId.WILL ? "Will Properties" : PacketType.name(packetType);
    }
}
