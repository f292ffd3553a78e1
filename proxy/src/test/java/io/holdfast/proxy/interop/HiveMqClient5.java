package io.holdfast.proxy.interop;

import com.hivemq.client.mqtt.MqttClient;
import com.hivemq.client.mqtt.MqttGlobalPublishFilter;
import com.hivemq.client.mqtt.datatypes.MqttQos;
import com.hivemq.client.mqtt.mqtt5.Mqtt5BlockingClient;
import com.hivemq.client.mqtt.mqtt5.datatypes.Mqtt5UserProperties;
import com.hivemq.client.mqtt.mqtt5.datatypes.Mqtt5UserPropertiesBuilder;
import com.hivemq.client.mqtt.mqtt5.message.publish.Mqtt5PayloadFormatIndicator;
import com.hivemq.client.mqtt.mqtt5.message.publish.Mqtt5Publish;
import com.hivemq.client.mqtt.mqtt5.message.publish.Mqtt5PublishBuilder;
import com.hivemq.client.mqtt.mqtt5.message.publish.Mqtt5PublishResult;
import com.hivemq.client.mqtt.mqtt5.message.subscribe.suback.Mqtt5SubAck;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** The HiveMQ client for MQTT 5. It does not show DUP. */
final class HiveMqClient5 extends Client {
    private final Mqtt5BlockingClient client;
    private final boolean sessionPresent;

    HiveMqClient5(int port, String clientId, boolean keepSession) {
        client = MqttClient.builder()
                .useMqttVersion5()
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
                                propertiesOf(publish))));
        sessionPresent = client.connectWith()
                .cleanStart(!keepSession)
                .sessionExpiryInterval(keepSession ? 600 : 0)
                .send()
                .isSessionPresent();
    }

    @Override
    boolean sessionPresent() {
        return sessionPresent;
    }

    @Override
    void subscribe(String filter, int qos) {
        Mqtt5SubAck suback = client.subscribeWith()
                .topicFilter(filter)
                .qos(MqttQos.fromCode(qos))
                .send();
        if (suback.getReasonCodes().get(0).getCode() != qos) {
            throw new AssertionError("not granted: " + suback);
        }
    }

    @Override
    void unsubscribe(String filter) {
        client.unsubscribeWith().topicFilter(filter).send();
    }

    @Override
    @SuppressWarnings("CheckReturnValue") // this library's builders change themselves
    void publish(Message message) {
        Properties given = message.properties();
        Mqtt5PublishBuilder.Complete builder = Mqtt5Publish.builder()
                .topic(message.topic())
                .payload(message.bytes())
                .qos(MqttQos.fromCode(message.qos()))
                .retain(message.retain());
        if (given.utf8()) {
            builder.payloadFormatIndicator(Mqtt5PayloadFormatIndicator.UTF_8);
        }
        if (given.contentType() != null) {
            builder.contentType(given.contentType());
        }
        if (given.responseTopic() != null) {
            builder.responseTopic(given.responseTopic());
        }
        if (given.correlationData() != null) {
            builder.correlationData(given.correlationData().getBytes(StandardCharsets.ISO_8859_1));
        }
        Mqtt5UserPropertiesBuilder user = Mqtt5UserProperties.builder();
        given.user().forEach(pair -> user.add(pair.name(), pair.value()));
        Mqtt5PublishResult result =
                client.publish(builder.userProperties(user.build()).build());
        result.getError().ifPresent(error -> {
            throw new IllegalStateException(error);
        });
    }

    private static Properties propertiesOf(Mqtt5Publish publish) {
        return new Properties(
                publish.getPayloadFormatIndicator()
                        .map(Mqtt5PayloadFormatIndicator.UTF_8::equals)
                        .orElse(false),
                publish.getContentType().map(Object::toString).orElse(null),
                publish.getResponseTopic().map(Object::toString).orElse(null),
                publish.getCorrelationData().map(HiveMqClient5::text).orElse(null),
                publish.getUserProperties().asList().stream()
                        .map(pair -> new Properties.Pair(
                                pair.getName().toString(), pair.getValue().toString()))
                        .toList());
    }

    private static String text(ByteBuffer bytes) {
        return StandardCharsets.ISO_8859_1.decode(bytes.duplicate()).toString();
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
