package io.holdfast.proxy.guard;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.holdfast.proxy.testing.LogLines;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

class ClosingLogTest {
    private final ClosingLog log = new ClosingLog();

    private void close(String clientId, long nowNs) {
        log.closing(clientId, InetSocketAddress.createUnresolved("host", 1), "why", 0x82, nowNs);
    }

    @Test
    void aFloodIsCutAndCounted() {
        try (LogLines lines = LogLines.of(ClosingLog.class)) {
            for (int i = 0; i < ClosingLog.LINES + 5; i++) {
                close("flood", Long.MAX_VALUE - 1); // the clock may wrap
            }
            assertEquals(ClosingLog.LINES, lines.with("Closing client 'flood'").size());
            close("later", Long.MAX_VALUE - 1 + ClosingLog.PERIOD_NS);
            assertEquals(1, lines.with("5 closings before this").size());
            assertEquals(1, lines.with("Closing client 'later'").size());
        }
    }
}
