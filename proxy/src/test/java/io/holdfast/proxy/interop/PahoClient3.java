package io.holdfast.proxy.interop;

import org.eclipse.paho.client.mqttv3.IMqttDeliveryToken;
import org.eclipse.paho.client.mqttv3.MqttCallback;
import org.eclipse.paho.client.mqttv3.MqttClient;
import org.eclipse.paho.client.mqttv3.MqttConnectOptions;
import org.eclipse.paho.client.mqttv3.MqttException;
import org.eclipse.paho.client.mqttv3.MqttMessage;
import org.eclipse.paho.client.mqttv3.persist.MemoryPersistence;

/** Eclipse Paho for MQTT 3.1 and 3.1.1. */
final class PahoClient3 extends Client implements MqttCallback {
    private final MqttClient client;
    private final boolean sessionPresent;

    /** @param version {@link MqttConnectOptions#MQTT_VERSION_3_1} or {@link MqttConnectOptions#MQTT_VERSION_3_1_1} */
    PahoClient3(int port, int version, String clientId, boolean keepSession) {
        try {
            MqttConnectOptions options = new MqttConnectOptions();
            options.setMqttVersion(version);
            options.setCleanSession(!keepSession);
            options.setMaxInflight(1000);
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
            int granted = client.subscribeWithResponse(filter, qos).getGrantedQos()[0];
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
            client.publish(message.topic(), message.bytes(), message.qos(), message.retain());
        } catch (MqttException e) {
            throw new IllegalStateException(e);
        }
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
                Properties.NONE));
    }

    @Override
    public void connectionLost(Throwable cause) {}

    @Override
    public void deliveryComplete(IMqttDeliveryToken token) {}
}
