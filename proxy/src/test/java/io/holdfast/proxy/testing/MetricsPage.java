package io.holdfast.proxy.testing;

import io.holdfast.proxy.metrics.Meter;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** The {@code /metrics} page of a proxy in another JVM. */
public final class MetricsPage {
    private final HttpClient client = HttpClient.newHttpClient();
    private final HttpRequest request;

    /** @param adminPort of the proxy on 127.0.0.1 */
    public MetricsPage(final int adminPort) {
        request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + adminPort + "/metrics"))
                .build();
    }

    /** The value of a counter now. */
    public long count(final Meter meter) {
        return value(meter.meterName().replace('.', '_') + "_total", meter);
    }

    /** The value of a gauge now. */
    public long gauge(final Meter meter) {
        return value(meter.meterName().replace('.', '_'), meter);
    }

    private long value(final String name, final Meter meter) {
        final String start = meter.reason().isEmpty() ? name + " " : name + "{reason=\"" + meter.reason() + "\"";
        for (final String line : text().split("\n", -1)) {
            if (line.startsWith(start)) {
                return (long) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1));
            }
        }
        throw new AssertionError("no line " + start);
    }

    /** The whole page. */
    public String text() {
        try {
            return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
        } catch (final IOException e) {
            throw new AssertionError("the admin page does not answer", e);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }
}
