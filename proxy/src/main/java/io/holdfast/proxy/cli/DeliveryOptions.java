package io.holdfast.proxy.cli;

import io.holdfast.proxy.GiveUp;
import io.holdfast.proxy.ProxyContext;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The flags about records that cannot be delivered, and about how fast the others go. */
final class DeliveryOptions {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(
            names = "--on-permanent-failure",
            paramLabel = "dead-letter|drop",
            defaultValue = "dead-letter",
            description = {
                "A record that the broker refuses for good, or hangs up on, or does not take (its Maximum Packet Size,",
                "Maximum QoS, Retain Available). A route can say otherwise. Default: ${DEFAULT-VALUE}."
            })
    private String onPermanentFailure;

    @Option(
            names = "--on-expired",
            paramLabel = "dead-letter|drop",
            defaultValue = "dead-letter",
            description = {
                "A record whose Message Expiry Interval passed before it was sent. A route can say otherwise.",
                "Default: ${DEFAULT-VALUE}."
            })
    private String onExpired;

    @Option(
            names = "--max-replay-attempts",
            paramLabel = "N",
            defaultValue = "10",
            description = {
                "A record that is refused for a time, or not answered, is given up when it was sent more often than this",
                "and --replay-budget has passed. Default: ${DEFAULT-VALUE}."
            })
    private int maxReplayAttempts;

    @Option(
            names = "--replay-budget",
            paramLabel = "DURATION",
            defaultValue = "15m",
            description = {
                "How long after it was sent first a record is not given up, however often it was sent. Both begin again with",
                "a restart. Default: ${DEFAULT-VALUE}."
            })
    private TimeSpan replayBudget;

    @Option(
            names = "--max-lone-hang-ups",
            paramLabel = "N",
            defaultValue = "3",
            description = {
                "A broker that cannot refuse a PUBLISH hangs up. After three hang-ups in a row records go out one at a time;",
                "one that was alone in flight at N in a row is given up. Default: ${DEFAULT-VALUE}."
            })
    private int maxLoneHangUps;

    @Option(
            names = "--drain-rate",
            paramLabel = "N",
            defaultValue = "0",
            description =
                    "The most messages per second and lane that go to the broker. 0: no limit. Default: ${DEFAULT-VALUE}.")
    private int drainRate;

    @Option(
            names = "--drain-byte-rate",
            paramLabel = "BYTES",
            defaultValue = "0",
            description = "The most bytes per second and lane that go to the broker. 0: no limit. Default: 0.")
    private ByteSize drainByteRate;

    ProxyContext.Delivery delivery() {
        check("--max-replay-attempts", maxReplayAttempts, 1);
        check("--max-lone-hang-ups", maxLoneHangUps, 1);
        check("--drain-rate", drainRate, 0);
        return new ProxyContext.Delivery(
                giveUp("--on-permanent-failure", onPermanentFailure),
                giveUp("--on-expired", onExpired),
                maxReplayAttempts,
                replayBudget.ms(),
                maxLoneHangUps,
                drainRate,
                drainByteRate.bytes());
    }

    private GiveUp giveUp(String flag, String text) {
        return switch (text) {
            case "dead-letter" -> GiveUp.DEAD_LETTER;
            case "drop" -> GiveUp.DROP;
            default ->
                throw new ParameterException(
                        spec.commandLine(), flag + " is 'dead-letter' or 'drop', not '" + text + "'");
        };
    }

    private void check(String flag, int value, int least) {
        if (value < least) {
            throw new ParameterException(spec.commandLine(), flag + " must be at least " + least + ", is " + value);
        }
    }
}
