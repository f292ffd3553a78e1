package io.holdfast.proxy.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.holdfast.proxy.testing.AutoAnswers;
import io.holdfast.proxy.testing.Packet;
import io.holdfast.proxy.testing.Packets;
import io.holdfast.proxy.testing.ProxyUnderTest;
import io.holdfast.proxy.testing.RawMqttClient;
import io.holdfast.proxy.testing.ScriptedBroker;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A device is still sending when it is closed: it gets the acknowledgements and the DISCONNECT before the end. */
class ResetOvertakesTheLastWordsTest {
    @TempDir
    Path directory;

    @Test
    void notHere() {
        byte[] wrong = Packets.hex("c1 00");
        byte[] more = new byte[256 * 1024];
        Arrays.fill(more, (byte) 0xc0);
        try (ScriptedBroker broker = ScriptedBroker.start(new AutoAnswers());
                ProxyUnderTest proxy = ProxyUnderTest.start(broker.url(), directory)) {
            for (int i = 0; i < 30; i++) {
                try (RawMqttClient device = RawMqttClient.connect(proxy.port(), Packets.V5, "d", true)) {
                    device.send(Packets.concat(Packets.hex("c0 00"), wrong, more));
                    device.expect(Packet.PINGRESP);
                    assertEquals("e00181", device.expect(Packet.DISCONNECT).hex());
                    device.expectClosed(RawMqttClient.PATIENCE);
                }
            }
        }
    }
}
