package io.holdfast.proxy.interop;

import io.holdfast.proxy.testing.Broker;
import io.holdfast.proxy.testing.HiveMqBroker;
import io.holdfast.proxy.testing.MosquittoBroker;
import io.holdfast.proxy.testing.ProxyUnderTest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** A real broker with a proxy in front of it. Started with the first use, ended with the test run. */
enum Deployment {
    MOSQUITTO_OUTBOX(BrokerKind.MOSQUITTO, "outbox #"),
    MOSQUITTO_HOLD(BrokerKind.MOSQUITTO, "hold #"),
    MOSQUITTO_MIXED(BrokerKind.MOSQUITTO, "hold held/#;outbox #"),
    HIVEMQ_OUTBOX(BrokerKind.HIVEMQ, "outbox #"),
    HIVEMQ_HOLD(BrokerKind.HIVEMQ, "hold #"),
    HIVEMQ_MIXED(BrokerKind.HIVEMQ, "hold held/#;outbox #");

    private static final AtomicInteger NUMBER = new AtomicInteger();
    private static final Map<BrokerKind, Broker> BROKERS = new EnumMap<>(BrokerKind.class);
    private static final Map<Deployment, ProxyUnderTest> PROXIES = new EnumMap<>(Deployment.class);

    private final BrokerKind kind;
    private final String routes;

    Deployment(BrokerKind kind, String routes) {
        this.kind = kind;
        this.routes = routes;
    }

    private enum BrokerKind {
        MOSQUITTO,
        HIVEMQ;

        Broker start() {
            Path directory = directory(name());
            Broker broker = this == MOSQUITTO ? MosquittoBroker.create(directory) : HiveMqBroker.create(directory);
            broker.start();
            return broker;
        }
    }

    /** Where the broker itself listens. */
    int brokerPort() {
        synchronized (BROKERS) {
            return BROKERS.computeIfAbsent(kind, BrokerKind::start).port();
        }
    }

    /** Where devices connect to the proxy. */
    int port() {
        return proxy().port();
    }

    ProxyUnderTest proxy() {
        int brokerPort = brokerPort();
        synchronized (PROXIES) {
            return PROXIES.computeIfAbsent(this, deployment -> start(brokerPort));
        }
    }

    private ProxyUnderTest start(int brokerPort) {
        List<String> flags = new ArrayList<>();
        for (String route : routes.split(";", -1)) {
            flags.addAll(List.of("--route", route));
        }
        return ProxyUnderTest.start("mqtt://127.0.0.1:" + brokerPort, directory(name()), flags.toArray(new String[0]));
    }

    private static Path directory(String name) {
        try {
            return Files.createTempDirectory(Files.createDirectories(Path.of("target", "interop")), name);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean isMosquitto() {
        return kind == BrokerKind.MOSQUITTO;
    }

    /** Whether a PUBLISH to {@link #topic} waits for the broker's own acknowledgement. */
    boolean holds() {
        return routes.startsWith("hold");
    }

    boolean isMixed() {
        return routes.contains(";");
    }

    /** A topic that no other test uses. In the mixed table it is held; {@link #storedTopic} is the other half. */
    String topic(String name) {
        return "held/" + unique(name);
    }

    /** A topic that no other test uses, on the outbox route of the mixed table. */
    String storedTopic(String name) {
        return "stored/" + unique(name);
    }

    /** A name that no other test uses; short enough for a Client Identifier of MQTT 3.1 (23 characters). */
    static String unique(String name) {
        return name + NUMBER.incrementAndGet();
    }

    /** Ends whatever was started. Proxies first, so that their uplinks say goodbye. */
    static void endAll() {
        synchronized (PROXIES) {
            PROXIES.values().forEach(ProxyUnderTest::close);
            PROXIES.clear();
        }
        synchronized (BROKERS) {
            BROKERS.values().forEach(Broker::close);
            BROKERS.clear();
        }
    }
}
