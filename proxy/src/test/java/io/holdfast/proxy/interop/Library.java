package io.holdfast.proxy.interop;

import org.eclipse.paho.client.mqttv3.MqttConnectOptions;

/** A client library at one version of the protocol. */
enum Library {
    PAHO_3_1,
    PAHO_3_1_1,
    PAHO_5,
    HIVEMQ_3_1_1,
    HIVEMQ_5;

    /** Connects without a session that outlives the connection. */
    Client connect(int port) {
        return connect(port, Deployment.unique("c"), false);
    }

    /** Connects; with {@code keepSession} the broker goes on with the session, and keeps it. */
    Client connect(int port, String clientId, boolean keepSession) {
        return switch (this) {
            case PAHO_3_1 -> new PahoClient3(port, MqttConnectOptions.MQTT_VERSION_3_1, clientId, keepSession);
            case PAHO_3_1_1 -> new PahoClient3(port, MqttConnectOptions.MQTT_VERSION_3_1_1, clientId, keepSession);
            case PAHO_5 -> new PahoClient5(port, clientId, keepSession);
            case HIVEMQ_3_1_1 -> new HiveMqClient3(port, clientId, keepSession);
            case HIVEMQ_5 -> new HiveMqClient5(port, clientId, keepSession);
        };
    }

    /** Whether CONNACK says Session Present; MQTT 3.1 has no such flag. */
    boolean tellsSessionPresent() {
        return this != PAHO_3_1;
    }
}
