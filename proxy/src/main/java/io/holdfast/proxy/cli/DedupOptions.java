package io.holdfast.proxy.cli;

import io.holdfast.proxy.ProxyContext;
import io.holdfast.store.StoreContext;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The flags about messages that their producers send more than once. */
final class DedupOptions {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = "--dedup",
            paramLabel = "off|message-id|correlation-data",
            defaultValue = "off",
            description = {
                "Whether a second PUBLISH of the same client, outbox route and identity is acknowledged, counted and not",
                "stored. message-id: the identity is the User Property mqtt.message-id. correlation-data: the Correlation",
                "Data, which is often a small counter. Messages without one, and those of 3.x, are stored.",
                "Default: ${DEFAULT-VALUE}."
            })
    private String by;

    @Option(
            names = "--dedup-window",
            paramLabel = "DURATION",
            defaultValue = "10m",
            description =
                    "How long an identity is remembered, from the message that was stored. Default: ${DEFAULT-VALUE}.")
    private TimeSpan window;

    @Option(
            names = "--dedup-max-entries",
            paramLabel = "N",
            defaultValue = "1000000",
            description = {
                "How many identities are remembered, over all lanes, in 32 to 40 bytes each of direct memory, and 32 on disk.",
                "Above it the oldest are forgotten early, counted. Default: ${DEFAULT-VALUE}."
            })
    private int maxEntries;

    ProxyContext.Dedup settings(int lanes) {
        ProxyContext.DedupBy choice = switch (by) {
            case "off" -> ProxyContext.DedupBy.OFF;
            case "message-id" -> ProxyContext.DedupBy.MESSAGE_ID;
            case "correlation-data" -> ProxyContext.DedupBy.CORRELATION_DATA;
            default -> throw bad("--dedup is 'off', 'message-id' or 'correlation-data', not '" + by + "'");
        };
        if (maxEntries < lanes || maxEntries > StoreContext.DEDUP_ENTRIES_MAX) {
            throw bad("--dedup-max-entries must be between 1 per lane and " + StoreContext.DEDUP_ENTRIES_MAX + ", is "
                    + maxEntries);
        }
        if (window.ms() == 0) {
            throw bad("--dedup-window must not be 0: use --dedup off");
        }
        return new ProxyContext.Dedup(choice, window.ms(), maxEntries);
    }

    private ParameterException bad(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
