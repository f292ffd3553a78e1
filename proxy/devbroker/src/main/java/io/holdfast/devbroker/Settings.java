package io.holdfast.devbroker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;

/**
 * What the development broker is started with.
 *
 * @param port loopback port, 1 to 65,535; 0 on the command line takes a free one
 * @param data directory for configuration, sessions and log
 * @param persistent sessions and queues survive a restart
 * @param maxQueued messages queued for one client before further ones are discarded; HiveMQ's own default, 1,000, would
 *     discard a backlog that arrives faster than a subscriber reads
 * @param receiveMaximum QoS 1 and 2 PUBLISHes a client may have unacknowledged (HiveMQ's own default is 10)
 * @param maxPacketBytes Maximum Packet Size
 * @param maxQos Maximum QoS
 * @param maxSessionExpirySeconds cap on the Session Expiry Interval
 */
record Settings(
        int port,
        Path data,
        boolean persistent,
        long maxQueued,
        int receiveMaximum,
        int maxPacketBytes,
        int maxQos,
        long maxSessionExpirySeconds) {

    static final String USAGE = "usage: devbroker --port N --data DIR [--in-memory] [--max-queued N]"
            + " [--receive-maximum N] [--max-packet-bytes N] [--max-qos N] [--max-session-expiry SECONDS]";

    static Settings parse(final String[] args) {
        int port = -1;
        Path data = null;
        boolean persistent = true;
        long maxQueued = 10_000_000;
        int receiveMaximum = 1_000;
        int maxPacketBytes = 268_435_460;
        int maxQos = 2;
        long maxSessionExpirySeconds = 4_294_967_295L;
        for (int i = 0; i < args.length; i++) {
            final String flag = args[i];
            if (flag.equals("--in-memory")) {
                persistent = false;
                continue;
            }
            if (i + 1 == args.length) {
                throw new IllegalArgumentException(flag + " is unknown or lacks its value");
            }
            final String value = args[++i];
            switch (flag) {
                case "--port" -> port = (int) number(flag, value, 0, 65_535);
                case "--data" -> data = Path.of(value).toAbsolutePath();
                case "--max-queued" -> maxQueued = number(flag, value, 1, Long.MAX_VALUE);
                case "--receive-maximum" -> receiveMaximum = (int) number(flag, value, 1, 65_535);
                case "--max-packet-bytes" -> maxPacketBytes = (int) number(flag, value, 15, 268_435_460);
                case "--max-qos" -> maxQos = (int) number(flag, value, 0, 2);
                case "--max-session-expiry" -> maxSessionExpirySeconds = number(flag, value, 0, 4_294_967_295L);
                default -> throw new IllegalArgumentException(flag + " is unknown");
            }
        }
        if (port < 0) {
            throw new IllegalArgumentException("--port is missing");
        }
        if (data == null) {
            throw new IllegalArgumentException("--data is missing");
        }
        return new Settings(
                port == 0 ? freePort() : port,
                data,
                persistent,
                maxQueued,
                receiveMaximum,
                maxPacketBytes,
                maxQos,
                maxSessionExpirySeconds);
    }

    /** Free now; another process may take it before HiveMQ binds it, which then says so. */
    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long number(final String flag, final String value, final long min, final long max) {
        try {
            final long number = Long.parseLong(value);
            if (number >= min && number <= max) {
                return number;
            }
        } catch (final NumberFormatException e) {
            // Said below, with the bounds.
        }
        throw new IllegalArgumentException(flag + " " + value + ": not a number from " + min + " to " + max);
    }

    /** HiveMQ's config.xml; element order does not matter to its schema. */
    String configXml() {
        return """
                <?xml version="1.0"?>
                <hivemq>
                  <listeners>
                    <tcp-listener><port>%d</port><bind-address>127.0.0.1</bind-address></tcp-listener>
                  </listeners>
                  <mqtt>
                    <queued-messages><max-queue-size>%d</max-queue-size><strategy>discard</strategy></queued-messages>
                    <receive-maximum><server-receive-maximum>%d</server-receive-maximum></receive-maximum>
                    <packets><max-packet-size>%d</max-packet-size></packets>
                    <quality-of-service><max-qos>%d</max-qos></quality-of-service>
                    <session-expiry><max-interval>%d</max-interval></session-expiry>
                  </mqtt>
                  <restrictions>
                    <max-connections>-1</max-connections>
                    <incoming-bandwidth-throttling>0</incoming-bandwidth-throttling>
                  </restrictions>
                  <anonymous-usage-statistics><enabled>false</enabled></anonymous-usage-statistics>
                  <persistence><mode>%s</mode></persistence>
                </hivemq>
                """.formatted(
                        port,
                        maxQueued,
                        receiveMaximum,
                        maxPacketBytes,
                        maxQos,
                        maxSessionExpirySeconds,
                        persistent ? "file" : "in-memory");
    }
}
