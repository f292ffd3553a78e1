package io.holdfast.proxy.cli;

import io.holdfast.proxy.ProxyContext;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The flags of {@code holdfast run} that keep devices from harming each other. */
final class GuardOptions {
    private static final int MAX_PACKET = 268_435_460;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = "--max-metadata",
            paramLabel = "BYTES",
            defaultValue = "128KiB",
            description =
                    "The most bytes of topic and properties; more is acknowledged, dropped and counted. Default: ${DEFAULT-VALUE}.")
    private ByteSize maxMetadata;

    @Option(
            names = "--on-cap-violation",
            paramLabel = "ack-drop|reject|dead-letter",
            defaultValue = "ack-drop",
            description = {
                "A PUBLISH over --max-payload, --max-metadata or --max-user-properties. ack-drop: acknowledged with success",
                "and dropped. reject: v5 devices are told 0x97 (Quota exceeded); 3.x has no such answer, so as ack-drop.",
                "dead-letter: on outbox routes acknowledged and kept with the dead letters; QoS 0 and hold routes as ack-drop.",
                "Default: ${DEFAULT-VALUE}."
            })
    private String onCapViolation;

    @Option(
            names = "--max-connections",
            paramLabel = "N",
            description = {
                "Devices connected at once; a socket beyond is closed at accept, unless an older one has sent no CONNECT yet:",
                "then that one is. Default: half of the file descriptors that are free at start (ulimit -n)."
            })
    private Integer maxConnections;

    @Option(
            names = "--max-connections-per-address",
            paramLabel = "N",
            defaultValue = "0",
            description = "Sockets of one address at once; one beyond is closed at accept. 0: no limit. Default: 0.")
    private int maxConnectionsPerAddress;

    @Option(
            names = "--accept-rate",
            paramLabel = "N",
            defaultValue = "0",
            description = {
                "Sockets accepted per second, with a burst of one second's worth; one beyond is closed at accept.",
                "0: no limit. Default: ${DEFAULT-VALUE}."
            })
    private int acceptRate;

    @Option(
            names = "--max-unconnected",
            paramLabel = "N",
            defaultValue = "4096",
            description = {
                "Sockets that have not sent CONNECT yet; with one more, the one that has waited longest is closed.",
                "Default: ${DEFAULT-VALUE}."
            })
    private int maxUnconnected;

    @Option(
            names = "--max-publish-rate",
            paramLabel = "N",
            defaultValue = "0",
            description = {
                "PUBLISHes of one device per second, with a burst of one second's worth; a faster device is not read for a",
                "while, never closed. 0: no limit. Default: ${DEFAULT-VALUE}."
            })
    private int maxPublishRate;

    int maxMetadata() {
        check("--max-metadata", maxMetadata.bytes(), 0);
        return (int) maxMetadata.bytes();
    }

    ProxyContext.Guards settings() {
        if (maxConnections != null) {
            check("--max-connections", maxConnections, 1);
        }
        check("--max-connections-per-address", maxConnectionsPerAddress, 0);
        check("--accept-rate", acceptRate, 0);
        check("--max-unconnected", maxUnconnected, 1);
        check("--max-publish-rate", maxPublishRate, 0);
        return new ProxyContext.Guards(
                maxConnections == null ? 0 : maxConnections,
                maxConnectionsPerAddress,
                acceptRate,
                maxUnconnected,
                maxPublishRate,
                onCapViolation());
    }

    boolean keepsCapViolations() {
        return onCapViolation() == ProxyContext.OnCapViolation.DEAD_LETTER;
    }

    private ProxyContext.OnCapViolation onCapViolation() {
        return switch (onCapViolation) {
            case "ack-drop" -> ProxyContext.OnCapViolation.ACK_DROP;
            case "reject" -> ProxyContext.OnCapViolation.REJECT;
            case "dead-letter" -> ProxyContext.OnCapViolation.DEAD_LETTER;
            default ->
                throw badUsage("--on-cap-violation is ack-drop, reject or dead-letter, not '" + onCapViolation + "'");
        };
    }

    private void check(String flag, long value, int least) {
        if (value < least || value > MAX_PACKET) {
            throw badUsage(flag + " is " + value + ", but has to be from " + least + " to " + MAX_PACKET);
        }
    }

    private ParameterException badUsage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
