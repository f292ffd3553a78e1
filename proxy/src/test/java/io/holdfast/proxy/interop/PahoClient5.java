package io.holdfast.proxy.interop;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.eclipse.paho.mqttv5.client.IMqttToken;
import org.eclipse.paho.mqttv5.client.MqttCallback;
import org.eclipse.paho.mqttv5.client.MqttClient;
import org.eclipse.paho.mqttv5.client.MqttConnectionOptions;
import org.eclipse.paho.mqttv5.client.MqttDisconnectResponse;
import org.eclipse.paho.mqttv5.client.persist.MemoryPersistence;
import org.eclipse.paho.mqttv5.common.MqttException;
import org.eclipse.paho.mqttv5.common.MqttMessage;
import org.eclipse.paho.mqttv5.common.packet.MqttProperties;
import org.eclipse.paho.mqttv5.common.packet.UserProperty;

/** Eclipse Paho for MQTT 5. */
final class PahoClient5 extends Client implements MqttCallback {
    private final MqttClient client;
    private final boolean sessionPresent;

    PahoClient5(int port, String clientId, boolean keepSession) {
        try {
            MqttConnectionOptions options = new MqttConnectionOptions();
            options.setCleanStart(!keepSession);
            options.setSessionExpiryInterval(keepSession ? 600L : 0L);
            client = new MqttClient("tcp://127.0.0.1:" + port, clientId, new MemoryPersistence());
            client.setTimeToWait(20_000);
            client.setCallback(this);
            sessionPresent = client.connectWithResult(options).getSessionPresent();
        } catch (MqttException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    boolean sessionPresent() {
        return sessionPresent;
    }

    @Override
    void subscribe(String filter, int qos) {
        try {
            int granted = client.subscribe(filter, qos).getReasonCodes()[0];
            if (granted != qos) {
                throw new AssertionError("granted QoS " + granted + " for " + filter);
            }
        } catch (MqttException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    void unsubscribe(String filter) {
        try {
            client.unsubscribe(filter);
        } catch (MqttException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    void publish(Message message) {
        try {
            client.publish(
                    message.topic(),
                    new MqttMessage(
                            message.bytes(), message.qos(), message.retain(), propertiesOf(message.properties())));
        } catch (MqttException e) {
            throw new IllegalStateException(e);
        }
    }

    private static MqttProperties propertiesOf(Properties given) {
        MqttProperties properties = new MqttProperties();
        if (given.utf8()) {
            properties.setPayloadFormat(true);
        }
        properties.setContentType(given.contentType());
        properties.setResponseTopic(given.responseTopic());
        if (given.correlationData() != null) {
            properties.setCorrelationData(given.correlationData().getBytes(StandardCharsets.ISO_8859_1));
        }
        properties.setUserProperties(given.user().stream()
                .map(pair -> new UserProperty(pair.name(), pair.value()))
                .toList());
        return properties;
    }

    private static Properties propertiesOf(MqttProperties given) {
        List<UserProperty> user = given.getUserProperties() == null ? List.of() : given.getUserProperties();
        byte[] correlation = given.getCorrelationData();
        return new Properties(
                given.getPayloadFormat(),
                given.getContentType(),
                given.getResponseTopic(),
                correlation == null ? null : new String(correlation, StandardCharsets.ISO_8859_1),
                user.stream()
                        .map(pair -> new Properties.Pair(pair.getKey(), pair.getValue()))
                        .toList());
    }

    @Override
    boolean isConnected() {
        return client.isConnected();
    }

    @Override
    public void close() {
        try {
            if (client.isConnected()) {
                client.disconnect();
            }
            client.close();
        } catch (MqttException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void messageArrived(String topic, MqttMessage message) {
        arrived(Message.of(
                topic,
                message.getQos(),
                message.isRetained(),
                message.isDuplicate(),
                message.getPayload(),
                propertiesOf(message.getProperties())));
    }

    @Override
    public void disconnected(MqttDisconnectResponse response) {}

    @Override
    public void mqttErrorOccurred(MqttException exception) {}

    @Override
    public void deliveryComplete(IMqttToken token) {}

    @Override
    public void connectComplete(boolean reconnect, String serverUri) {}

    @Override
    public void authPacketArrived(int reasonCode, MqttProperties properties) {}
}
