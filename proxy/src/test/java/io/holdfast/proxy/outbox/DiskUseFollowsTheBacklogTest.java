package io.holdfast.proxy.outbox;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.testing.LinkAndUplinkBroker;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Segments go when the broker has acknowledged what is in them: flat with a link that is up, down with the backlog. */
class DiskUseFollowsTheBacklogTest {
    private static final int PAYLOAD = 4_000;
    private static final int WINDOW = 16;
    /** Of 256 KiB segments, of which a PUBLISH may use 136: the file, and how many messages of that size go into it. */
    private static final long FILE_BYTES = 320 << 10;

    private static final int PER_SEGMENT = (136 << 10) / PAYLOAD;

    @TempDir
    Path directory;

    private final LinkAndUplinkBroker broker = LinkAndUplinkBroker.start();
    private int sent;
    private int acknowledged;
    private long mostBytes;

    private ProxyUnderTest start() {
        return ProxyUnderTest.start(
                broker.url(),
                directory,
                LinkAndUplinkBroker.UPLINK_FLAG,
                LinkAndUplinkBroker.UPLINK,
                "--segment-bytes",
                "256KiB",
                "--max-packet-size",
                "8KiB",
                "--max-payload",
                "4KiB",
                "--route",
                "outbox #");
    }

    @Test
    void flatWithALinkThatIsUp() throws Exception {
        int segments = 40;
        try (ProxyUnderTest proxy = start();
                RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V5, "d", true)) {
            for (int i = 0; i < segments; i++) {
                publish(device, PER_SEGMENT);
                // No faster than the uplink, which is what "up" means.
                await().pollInterval(Duration.ofMillis(20)).until(() -> proxy.ledgerTotal("pending") < PER_SEGMENT);
                mostBytes = Math.max(mostBytes, bytesOfSegments());
            }
            System.out.printf("at most %d segments on disk of %d%n", mostBytes / FILE_BYTES, segments);
            assertTrue(mostBytes < segments / 2 * FILE_BYTES, "at most " + mostBytes / FILE_BYTES + " segments");
            await().atMost(Duration.ofSeconds(10)).until(() -> bytesOfSegments() <= 5 * FILE_BYTES);
            assertEquals((long) segments * PER_SEGMENT, proxy.ledgerTotal("accepted"));
        } finally {
            broker.close();
        }
    }

    @Test
    void downWithTheBacklog() throws Exception {
        int segments = 30;
        broker.refuseUplink();
        try (ProxyUnderTest proxy = start();
                RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V5, "d", true)) {
            publish(device, segments * PER_SEGMENT);
            assertTrue(bytesOfSegments() >= segments * FILE_BYTES, "nothing goes that is pending");
            broker.acceptUplink();
            await().atMost(Duration.ofSeconds(30)).until(() -> proxy.ledgerTotal("pending") == 0);
            await().atMost(Duration.ofSeconds(10)).until(() -> bytesOfSegments() <= 5 * FILE_BYTES);
        } finally {
            broker.close();
        }
    }

    private void publish(RawMqttClient device, int messages) {
        int until = sent + messages;
        while (acknowledged < until) {
            while (sent < until && sent - acknowledged < WINDOW) {
                device.send(
                        Packets.publishFlags(Packets.V5, 2, sent++ % 60_000 + 1, "t", Packets.NONE, new byte[PAYLOAD]));
            }
            assertEquals(0, device.expect(Packet.PUBACK).reasonCode());
            acknowledged++;
        }
    }

    /** Also the prepared and the spare one. */
    private long bytesOfSegments() throws IOException {
        try (var files = Files.walk(directory)) {
            return files.filter(file -> file.toString().contains("lane-"))
                    .map(file -> file.toFile().length())
                    .filter(length -> length >= FILE_BYTES)
                    .mapToLong(Long::longValue)
                    .sum();
        }
    }
}
