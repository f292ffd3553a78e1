package io.holdfast.proxy;

import java.net.URI;
import java.net.URISyntaxException;

/**
 * Where to listen or to connect to: {@code mqtt://host:port}, or {@code mqtts://host:port} with TLS.
 *
 * @param host name or address; IPv6 without brackets
 * @param port 0 to 65535; 0 lets the system choose when listening
 * @param tls  whether TLS is spoken there
 */
public record Endpoint(String host, int port, boolean tls) {
    private static final int DEFAULT_PORT = 1883;
    private static final int DEFAULT_TLS_PORT = 8883;
    private static final String FORM = "' is no address of the form mqtt://host:port or mqtts://host:port";

    /**
     * Reads an MQTT address; the port is 1883 if left out, with TLS 8883.
     *
     * @throws IllegalArgumentException with a text that says what would be right.
     */
    public static Endpoint parseMqtt(String text) {
        try {
            URI uri = new URI(text);
            boolean clean = (uri.getPath() == null
                            || uri.getPath().isEmpty()
                            || uri.getPath().equals("/"))
                    && uri.getQuery() == null
                    && uri.getFragment() == null;
            boolean tls = "mqtts".equals(uri.getScheme());
            if (uri.getUserInfo() != null) {
                throw new IllegalArgumentException("the address may not carry a user name or password; use"
                        + " --uplink-username and --uplink-password-file");
            }
            boolean known = tls || "mqtt".equals(uri.getScheme());
            if (!known || uri.getHost() == null || !clean || uri.getPort() > 65535) {
                throw new IllegalArgumentException("'" + text + FORM);
            }
            int defaultPort = tls ? DEFAULT_TLS_PORT : DEFAULT_PORT;
            return new Endpoint(unbracket(uri.getHost()), uri.getPort() < 0 ? defaultPort : uri.getPort(), tls);
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException("'" + text + FORM, e);
        }
    }

    /**
     * Reads {@code host:port}.
     *
     * @throws IllegalArgumentException with a text that says what would be right.
     */
    public static Endpoint parseHostAndPort(String text) {
        int colon = text.lastIndexOf(':');
        try {
            int port = Integer.parseInt(text.substring(colon + 1));
            if (colon < 1 || port < 0 || port > 65535) {
                throw new IllegalArgumentException("'" + text + "' is no address of the form host:port");
            }
            return new Endpoint(unbracket(text.substring(0, colon)), port, false);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + text + "' is no address of the form host:port", e);
        }
    }

    private static String unbracket(String host) {
        return host.startsWith("[") && host.endsWith("]") ? host.substring(1, host.length() - 1) : host;
    }

    /** {@code host:port}, with brackets where IPv6 needs them. */
    public String hostAndPort() {
        return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
    }

    @Override
    public String toString() {
        return (tls ? "mqtts://" : "mqtt://") + hostAndPort();
    }
}
