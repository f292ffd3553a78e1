package io.holdfast.proxy.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.testing.MosquittoClients;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The properties of MQTT 5, kept by every route: v5 §3.3.2.3. */
@InteropTest
class PropertiesTest {

    static Stream<Arguments> everywhere() {
        return Stream.of(Deployment.values())
                .flatMap(deployment ->
                        Stream.of(Library.PAHO_5, Library.HIVEMQ_5).map(library -> Arguments.of(deployment, library)));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("everywhere")
    void everyPropertyArrivesAndUserPropertiesKeepOrderAndRepeats(Deployment deployment, Library library) {
        String topic = deployment.topic("properties");
        List<Properties.Pair> user = List.of(
                new Properties.Pair("b", "1"),
                new Properties.Pair("a", "2"),
                new Properties.Pair("b", "3"),
                new Properties.Pair("b", "1"),
                new Properties.Pair("", ""),
                new Properties.Pair("grüße", "\uD83D\uDE80"));
        Properties all =
                new Properties(true, "text/plain; charset=utf-8", "reply/" + topic, "\0\u0001\u00FF\u0080", user);
        Properties empty = new Properties(false, "", null, "", List.of());
        try (Client atBroker = library.connect(deployment.brokerPort());
                Client behindProxy = library.connect(deployment.port());
                Client device = library.connect(deployment.port())) {
            atBroker.subscribe(topic, 2);
            behindProxy.subscribe(topic, 2);
            List<Message> sent = new ArrayList<>();
            for (int qos = 0; qos <= 2; qos++) {
                // HiveMQ CE takes an empty property for an absent one, directly too.
                for (Properties properties : deployment.isMosquitto() ? List.of(all, empty) : List.of(all)) {
                    Message message = Message.of(topic, qos, "payload").with(properties);
                    sent.add(message);
                    device.publish(message);
                    // One by one: between QoS 0 and the outbox there is no order.
                    atBroker.expect(sent.toArray(new Message[0]));
                    behindProxy.expect(sent.toArray(new Message[0]));
                }
            }
        }
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("everywhere")
    void asManyUserPropertiesAsTheCapAllows(Deployment deployment, Library library) {
        String topic = deployment.topic("many");
        String[] pairs = new String[256];
        for (int i = 0; i < 128; i++) {
            pairs[2 * i] = "name" + i % 5;
            pairs[2 * i + 1] = "value" + i;
        }
        try (Client device = library.connect(deployment.port())) {
            device.subscribe(topic, 1);
            Message message = Message.of(topic, 1, "128").with(Properties.user(pairs));
            device.publish(message);
            device.expect(message);
        }
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("everywhere")
    void aRequestGetsItsResponse(Deployment deployment, Library library) {
        String requests = deployment.topic("request");
        String responses = deployment.topic("response");
        try (Client requester = library.connect(deployment.port());
                Client responder = library.connect(deployment.brokerPort())) {
            requester.subscribe(responses, 2);
            responder.subscribe(requests, 2);
            Properties asked = new Properties(false, null, responses, "id-\u0000-1", List.of());
            requester.publish(Message.of(requests, 2, "question").with(asked));
            responder.expect(Message.of(requests, 2, "question").with(asked));
            Properties got = responder.received().get(0).properties();
            Message response = Message.of(got.responseTopic(), 2, "answer")
                    .with(new Properties(false, null, null, got.correlationData(), List.of()));
            responder.publish(response);
            requester.expect(response);
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource
    void theMessageExpiryThatIsLeftArrives(Deployment deployment) {
        String topic = deployment.topic("expiry");
        try (MosquittoClients.Subscriber subscriber = MosquittoClients.subscribeFormatted(
                deployment.brokerPort(), "%E", "-V", "mqttv5", "-q", "1", "-t", topic)) {
            for (String seconds : List.of("1000", "2000000000")) {
                MosquittoClients.publish(
                        deployment.port(),
                        "-V",
                        "mqttv5",
                        "-q",
                        "1",
                        "-t",
                        topic,
                        "-m",
                        "m",
                        "-D",
                        "publish",
                        "message-expiry-interval",
                        seconds);
            }
            List<String> left = subscriber.await(2, Duration.ofSeconds(20));
            assertBetween(Long.parseLong(left.get(0)), 960, 1000);
            assertBetween(Long.parseLong(left.get(1)), 1_999_999_960, 2_000_000_000);
            assertEquals(2, left.size());
        }
    }

    private static void assertBetween(long value, long low, long high) {
        assertTrue(low <= value && value <= high, () -> value + " is not between " + low + " and " + high);
    }
}
