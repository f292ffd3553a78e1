package io.holdfast.proxy.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.holdfast.proxy.testing.MosquittoClients;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code mosquitto_pub} and {@code mosquitto_sub}, as a newcomer types them. */
@InteropTest
class MosquittoCommandLineTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    static Stream<Arguments> everywhere() {
        return Stream.of(Deployment.values())
                .flatMap(deployment ->
                        Stream.of("mqttv31", "mqttv311", "mqttv5").map(version -> Arguments.of(deployment, version)));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("everywhere")
    void everyQosInBothDirectionsAndRetained(Deployment deployment, String version) {
        String topic = deployment.topic("cli");
        try (MosquittoClients.Subscriber subscriber = MosquittoClients.subscribeFormatted(
                deployment.port(), "%t|%q|%r|%p", "-V", version, "-q", "2", "-t", topic)) {
            List<String> expected = new ArrayList<>();
            for (String qos : List.of("0", "1", "2")) {
                publish(deployment, version, "-q", qos, "-t", topic, "-m", "live " + qos);
                expected.add(topic + "|" + qos + "|0|live " + qos);
                assertEquals(expected, subscriber.await(expected.size(), SOON));
            }
            publish(deployment, version, "-q", "1", "-r", "-t", topic, "-m", "kept");
            expected.add(topic + "|1|0|kept");
            assertEquals(expected, subscriber.await(expected.size(), SOON));
        }
        try (MosquittoClients.Subscriber late = MosquittoClients.subscribeFormatted(
                deployment.port(), "%t|%q|%r|%p", "-V", version, "-q", "2", "-t", topic)) {
            assertEquals(List.of(topic + "|1|1|kept"), late.await(1, SOON));
        }
        publish(deployment, version, "-q", "1", "-r", "-n", "-t", topic);
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource
    void propertiesOfTheCommandLineArrive(Deployment deployment) {
        String topic = deployment.topic("cli5");
        try (MosquittoClients.Subscriber subscriber = MosquittoClients.subscribeFormatted(
                deployment.brokerPort(), "%t|%C|%D|%F|%R|%P|%p", "-V", "mqttv5", "-q", "2", "-t", topic)) {
            publish(
                    deployment,
                    "mqttv5",
                    List.of(
                                    "-q 2 -t",
                                    topic,
                                    "-m m -D publish content-type text/x -D publish correlation-data id7",
                                    "-D publish payload-format-indicator 1 -D publish response-topic answer/7",
                                    "-D publish user-property b 1 -D publish user-property a 2",
                                    "-D publish user-property b 3")
                            .stream()
                            .flatMap(words -> Stream.of(words.split(" ")))
                            .toArray(String[]::new));
            assertEquals(List.of(topic + "|text/x|id7|1|answer/7|b:1 a:2 b:3|m"), subscriber.await(1, SOON));
        }
    }

    private static void publish(Deployment deployment, String version, String... arguments) {
        List<String> all = new ArrayList<>(List.of("-V", version));
        all.addAll(List.of(arguments));
        MosquittoClients.publish(deployment.port(), all.toArray(new String[0]));
    }
}
