package io.holdfast.proxy.interop;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What applications do, with each library and version, through each route table and in front of each broker. */
@InteropTest
class EveryLibraryTest {
    private static final String EVERY_BYTE = everyByte();

    /** All libraries on the plain tables; on the mixed one, whose single routes are the same code, one is enough. */
    static Stream<Arguments> everywhere() {
        return Stream.of(Deployment.values())
                .flatMap(deployment -> Stream.of(Library.values())
                        .filter(library -> !deployment.isMixed() || library == Library.HIVEMQ_5)
                        .map(library -> Arguments.of(deployment, library)));
    }

    private static String everyByte() {
        StringBuilder bytes = new StringBuilder();
        for (char value = 0; value < 256; value++) {
            bytes.append(value);
        }
        return bytes.toString();
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("everywhere")
    void whatADevicePublishesArrivesAsItWasSent(Deployment deployment, Library library) {
        String topic = deployment.topic("up");
        List<Message> sent = new ArrayList<>();
        for (int qos = 0; qos <= 2; qos++) {
            sent.add(Message.of(topic + "/" + qos, qos, EVERY_BYTE));
            sent.add(Message.of(topic + "/" + qos, qos, ""));
        }
        try (Client atBroker = Library.HIVEMQ_5.connect(deployment.brokerPort());
                Client behindProxy = library.connect(deployment.port());
                Client device = library.connect(deployment.port())) {
            for (int qos = 0; qos <= 2; qos++) {
                // One after the other: between QoS 0 and the outbox there is no order.
                atBroker.subscribe(topic + "/" + qos, 2);
                behindProxy.subscribe(topic + "/" + qos, 2);
                device.publish(sent.get(2 * qos));
                device.publish(sent.get(2 * qos + 1));
                Message[] soFar = sent.subList(0, 2 * qos + 2).toArray(new Message[0]);
                atBroker.expect(soFar);
                behindProxy.expect(soFar);
            }
        }
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("everywhere")
    void whatTheBrokerSendsArrivesAtTheGrantedQos(Deployment deployment, Library library) {
        String topic = deployment.topic("down");
        try (Client device = library.connect(deployment.port());
                Client other = library.connect(deployment.brokerPort())) {
            List<Message> expected = new ArrayList<>();
            for (int granted = 0; granted <= 2; granted++) {
                device.subscribe(topic + "/" + granted, granted);
                for (int qos = 0; qos <= 2; qos++) {
                    Message message = Message.of(topic + "/" + granted, qos, EVERY_BYTE + qos);
                    other.publish(message);
                    expected.add(message.atQos(granted));
                    device.expect(expected.toArray(new Message[0]));
                }
            }
        }
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("everywhere")
    void retainedMessagesAreKeptReplacedAndRemoved(Deployment deployment, Library library) {
        String topic = deployment.topic("kept");
        try (Client watcher = library.connect(deployment.brokerPort());
                Client device = library.connect(deployment.port())) {
            watcher.subscribe(topic, 2);
            // HiveMQ CE looks for retained messages behind its SUBACK: a second, later look shows that the first is
            // over.
            Message probe = Message.of(topic + "/probe", 1, "probe").retained();
            watcher.publish(probe);
            watcher.subscribe(topic + "/probe", 1);
            watcher.expect(probe);
            Message first = Message.of(topic, 1, "first").retained();
            Message second = Message.of(topic, 2, "second").retained();
            Message nothing = Message.of(topic, 1, "").retained();
            device.publish(first);
            device.publish(second);
            watcher.expect(probe, first.live(), second.live());
            try (Client late = library.connect(deployment.port())) {
                late.subscribe(topic, 2);
                late.expect(second);
            }
            device.publish(nothing);
            watcher.expect(probe, first.live(), second.live(), nothing.live());
            watcher.publish(Message.of(topic + "/probe", 1, "").retained());
            try (Client later = library.connect(deployment.port())) {
                later.subscribe(topic, 2);
                Message live = Message.of(topic, 1, "live");
                device.publish(live);
                later.expect(live);
            }
        }
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("everywhere")
    void anUnsubscribedFilterBringsNothing(Deployment deployment, Library library) {
        String topic = deployment.topic("off");
        try (Client device = library.connect(deployment.port())) {
            device.subscribe(topic + "/+", 1);
            device.subscribe(topic + "/end/#", 1);
            Message before = Message.of(topic + "/a", 1, "before");
            device.publish(before);
            device.expect(before);
            device.unsubscribe(topic + "/+");
            Message end = Message.of(topic + "/end/b", 1, "end");
            device.publish(Message.of(topic + "/a", 1, "after"));
            device.publish(end);
            device.expect(before, end);
        }
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("everywhere")
    void aSessionGoesOnWhereItWas(Deployment deployment, Library library) {
        String topic = deployment.topic("session");
        String clientId = Deployment.unique("s");
        Message[] queued = {
            // QoS 2 last: Paho shows it only when PUBREL comes, after what has come meanwhile.
            Message.of(topic, 1, "one"), Message.of(topic, 1, "two"), Message.of(topic, 2, "three"),
        };
        try (Client device = library.connect(deployment.port(), clientId, true)) {
            assertFalse(device.sessionPresent());
            device.subscribe(topic, 2);
        }
        try (Client other = library.connect(deployment.port())) {
            for (Message message : queued) {
                other.publish(message);
            }
        }
        try (Client device = library.connect(deployment.port(), clientId, true)) {
            assertEquals(library.tellsSessionPresent(), device.sessionPresent());
            device.expect(queued);
            Message live = Message.of(topic, 2, "live");
            device.publish(live);
            device.expect(queued[0], queued[1], queued[2], live);
        }
        try (Client device = library.connect(deployment.port(), clientId, false)) {
            assertFalse(device.sessionPresent(), "a clean start");
        }
        try (Client device = library.connect(deployment.port(), clientId, true)) {
            assertFalse(device.sessionPresent(), "the clean start has ended the session");
            device.subscribe(topic + "/new", 1);
            Message only = Message.of(topic + "/new", 1, "only");
            device.publish(Message.of(topic, 1, "no subscription any more"));
            device.publish(only);
            device.expect(only);
        }
        library.connect(deployment.port(), clientId, false).close();
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("everywhere")
    void theNewerConnectionOfAClientIdWins(Deployment deployment, Library library) {
        String topic = deployment.topic("taken");
        String clientId = Deployment.unique("t");
        try (Client older = library.connect(deployment.port(), clientId, true)) {
            older.subscribe(topic, 1);
            try (Client newer = library.connect(deployment.port(), clientId, true)) {
                assertEquals(library.tellsSessionPresent(), newer.sessionPresent());
                await().atMost(Duration.ofSeconds(10)).until(() -> !older.isConnected());
                Message message = Message.of(topic, 1, "to the newer one");
                newer.publish(message);
                newer.expect(message);
                assertTrue(older.received().isEmpty());
            }
        }
        library.connect(deployment.port(), clientId, false).close();
    }
}
