package io.holdfast.proxy.crash;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.proxy.testing.Subscribers;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The proxy's own ledger, asked over HTTP. */
final class Ledger {
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final HttpRequest request;
    private long acceptedBefore;

    Ledger(int adminPort) {
        request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + adminPort + "/ledger"))
                .build();
    }

    /** Records pending; -1 if it cannot be asked. */
    long pending() {
        return total("pending");
    }

    /** Whether nothing is pending, and what was delivered has come to the subscribers: a busy broker may be behind. */
    boolean hasArrivedAt(Subscribers subscribers) {
        return pending() == 0 && subscribers.count() >= delivered();
    }

    long accepted() {
        return total("accepted");
    }

    long delivered() {
        return total("delivered");
    }

    long deadLettered() {
        return total("dead_lettered");
    }

    /** Over a crash, what was counted as accepted stays, and nothing was finished that had not been accepted (P7). */
    void check() {
        String text = read();
        if (!text.isEmpty()) {
            long accepted = last(text, "accepted");
            assertTrue(accepted >= acceptedBefore, () -> acceptedBefore + " were accepted, now " + accepted);
            assertTrue(last(text, "pending") >= 0, text);
            acceptedBefore = accepted;
        }
    }

    private long total(String field) {
        String text = read();
        return text.isEmpty() ? -1 : last(text, field);
    }

    private String read() {
        try {
            return CLIENT.send(request, HttpResponse.BodyHandlers.ofString()).body();
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        }
    }

    /** The total stands last. */
    private static long last(String text, String field) {
        Matcher matcher = Pattern.compile('"' + field + "\"\\s*:\\s*(-?\\d+)").matcher(text);
        long last = -1;
        while (matcher.find()) {
            last = Long.parseLong(matcher.group(1));
        }
        return last;
    }
}
