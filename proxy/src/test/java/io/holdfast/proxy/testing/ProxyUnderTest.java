package io.holdfast.proxy.testing;

import io.holdfast.proxy.Endpoint;
import io.holdfast.proxy.HoldfastProxy;
import io.holdfast.proxy.cli.Holdfast;
import io.holdfast.proxy.metrics.Meter;
import io.holdfast.store.StoreException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The real proxy inside the test's JVM, started with command-line flags; faster to start than {@link HoldfastProcess}. */
public final class ProxyUnderTest implements AutoCloseable {
    private final HoldfastProxy proxy;

    private ProxyUnderTest(HoldfastProxy proxy) {
        this.proxy = proxy;
    }

    /** Starts a proxy with {@code dataDirectory}, on ports of the system's choice, with small segments. */
    public static ProxyUnderTest start(String upstreamUrl, Path dataDirectory, String... flags) {
        List<String> arguments = new ArrayList<>(List.of(
                "--upstream",
                upstreamUrl,
                "--listen",
                "mqtt://127.0.0.1:0",
                "--admin",
                "127.0.0.1:0",
                "--data-dir",
                dataDirectory.toString()));
        arguments.addAll(List.of(flags));
        if (!arguments.contains("--segment-bytes")) {
            arguments.addAll(List.of("--segment-bytes", "4MiB"));
        }
        try {
            return new ProxyUnderTest(HoldfastProxy.start(Holdfast.contextOf(arguments.toArray(new String[0]))));
        } catch (IOException | StoreException e) {
            throw new IllegalStateException("the proxy does not start: " + e.getMessage(), e);
        }
    }

    /** Where devices connect. */
    public int port() {
        return proxy.addresses().get(0).port();
    }

    /** Where devices connect with TLS, if the flags had a listener with mqtts. */
    public int tlsPort() {
        return proxy.addresses().stream()
                .filter(Endpoint::tls)
                .findFirst()
                .orElseThrow()
                .port();
    }

    /** {@code tcp://127.0.0.1:port}, for clients that want it so. */
    public String tcpUrl() {
        return "tcp://127.0.0.1:" + port();
    }

    /** A counter's value. */
    public long count(Meter meter) {
        return proxy.counters().get(meter);
    }

    /** The body that the admin server answers for {@code path}. */
    public String admin(String path) {
        return adminResponse(path).body();
    }

    /** A term of the ledger's total over all outbox routes: accepted, delivered, pending, expired, or a drop reason. */
    public long ledgerTotal(String term) {
        String ledger = admin("/ledger");
        Matcher matcher = Pattern.compile("\"" + term + "\"\\s*:\\s*(\\d+)")
                .matcher(ledger.substring(ledger.indexOf("\"total\"")));
        if (!matcher.find()) {
            throw new AssertionError("no " + term + " in " + ledger);
        }
        return Long.parseLong(matcher.group(1));
    }

    /** What the admin server answers for {@code path}. */
    public HttpResponse<String> adminResponse(String path) {
        URI uri = URI.create(
                "http://127.0.0.1:" + proxy.adminAddress().orElseThrow().port() + path);
        try {
            return HttpClient.newHttpClient()
                    .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        try {
            proxy.close();
        } catch (StoreException e) {
            throw new IllegalStateException("the outbox cannot be closed: " + e.getMessage(), e);
        }
    }
}
