package io.holdfast.proxy.interop;

import com.hivemq.client.mqtt.MqttClient;
import com.hivemq.client.mqtt.MqttGlobalPublishFilter;
import com.hivemq.client.mqtt.datatypes.MqttQos;
import com.hivemq.client.mqtt.mqtt3.Mqtt3BlockingClient;
import com.hivemq.client.mqtt.mqtt3.message.subscribe.suback.Mqtt3SubAck;

/** The HiveMQ client for MQTT 3.1.1. It does not show DUP. */
final class HiveMqClient3 extends Client {
    private final Mqtt3BlockingClient client;
    private final boolean sessionPresent;

    HiveMqClient3(int port, String clientId, boolean keepSession) {
        client = MqttClient.builder()
                .useMqttVersion3()
                .identifier(clientId)
                .serverHost("127.0.0.1")
                .serverPort(port)
                .buildBlocking();
        client.toAsync()
                .publishes(
                        MqttGlobalPublishFilter.ALL,
                        publish -> arrived(Message.of(
                                publish.getTopic().toString(),
                                publish.getQos().getCode(),
                                publish.isRetain(),
                                false,
                                publish.getPayloadAsBytes(),
                                Properties.NONE)));
        sessionPresent = client.connectWith().cleanSession(!keepSession).send().isSessionPresent();
    }

    @Override
    boolean sessionPresent() {
        return sessionPresent;
    }

    @Override
    void subscribe(String filter, int qos) {
        Mqtt3SubAck suback = client.subscribeWith()
                .topicFilter(filter)
                .qos(MqttQos.fromCode(qos))
                .send();
        if (suback.getReturnCodes().get(0).getCode() != qos) {
            throw new AssertionError("not granted: " + suback);
        }
    }

    @Override
    void unsubscribe(String filter) {
        client.unsubscribeWith().topicFilter(filter).send();
    }

    @Override
    void publish(Message message) {
        client.publishWith()
                .topic(message.topic())
                .payload(message.bytes())
                .qos(MqttQos.fromCode(message.qos()))
                .retain(message.retain())
                .send();
    }

    @Override
    boolean isConnected() {
        return client.getState().isConnected();
    }

    @Override
    public void close() {
        if (isConnected()) {
            client.disconnect();
        }
    }
}
