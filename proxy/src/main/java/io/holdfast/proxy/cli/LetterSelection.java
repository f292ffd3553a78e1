package io.holdfast.proxy.cli;

import io.holdfast.codec.TopicFilter;
import io.holdfast.store.DeadLetter;
import io.holdfast.store.DeadLetterReason;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Predicate;
import org.agrona.concurrent.SystemEpochClock;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The flags that choose dead letters; all that are given have to hold. */
final class LetterSelection {
    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(names = "--id", paramLabel = "N[-M]", split = ",", description = "Numbers, or ranges of them: 3,7-9.")
    private List<String> ids = new ArrayList<>();

    @Option(names = "--client", paramLabel = "ID", description = "Those of one Client Identifier.")
    private String client;

    @Option(names = "--topic", paramLabel = "FILTER", description = "Those whose topic matches an MQTT topic filter.")
    private String topic;

    @Option(
            names = "--reason",
            paramLabel = "REASON",
            description = "Those given up for: refused, attempts, hang-up, expired, broker-limit or cap.")
    private String reason;

    @Option(names = "--older-than", paramLabel = "DURATION", description = "Those given up longer ago.")
    private TimeSpan olderThan;

    @Option(names = "--limit", paramLabel = "N", description = "The oldest N of them.")
    private Long limit;

    @Option(names = "--all", description = "All of them; replay and purge want a choice.")
    private boolean all;

    long limit() {
        if (limit != null && limit < 1) {
            throw new ParameterException(spec.commandLine(), "--limit must be at least 1, is " + limit);
        }
        return limit == null ? Long.MAX_VALUE : limit;
    }

    void checkChosen() {
        if (!all && ids.isEmpty() && client == null && topic == null && reason == null && olderThan == null) {
            throw new ParameterException(
                    spec.commandLine(), "say which: --id, --client, --topic, --reason, --older-than or --all");
        }
    }

    Predicate<DeadLetter> wanted() {
        Predicate<DeadLetter> wanted = letter -> true;
        if (!ids.isEmpty()) {
            List<long[]> ranges = ids.stream().map(this::range).toList();
            wanted = wanted.and(
                    letter -> ranges.stream().anyMatch(range -> letter.id() >= range[0] && letter.id() <= range[1]));
        }
        if (client != null) {
            wanted = wanted.and(letter -> letter.view().clientId().equals(client));
        }
        if (topic != null) {
            TopicFilter filter = filter();
            wanted = wanted.and(letter -> {
                ByteBuf bytes = Unpooled.wrappedBuffer(letter.view().topic().getBytes(StandardCharsets.UTF_8));
                return topic.equals("#") || filter.matches(bytes, 0, bytes.readableBytes());
            });
        }
        if (reason != null) {
            DeadLetterReason wantedReason = reasonOf(reason);
            wanted = wanted.and(letter -> letter.reason() == wantedReason);
        }
        if (olderThan != null) {
            long before = SystemEpochClock.INSTANCE.time() - olderThan.ms();
            wanted = wanted.and(letter -> letter.givenUpMs() < before);
        }
        return wanted;
    }

    private TopicFilter filter() {
        try {
            return TopicFilter.compile(topic);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--topic: " + e.getMessage(), e);
        }
    }

    private long[] range(String text) {
        try {
            int dash = text.indexOf('-');
            long from = Long.parseLong(dash < 0 ? text : text.substring(0, dash));
            return new long[] {from, dash < 0 ? from : Long.parseLong(text.substring(dash + 1))};
        } catch (NumberFormatException e) {
            throw new ParameterException(
                    spec.commandLine(), "--id: '" + text + "' is neither a number nor a range like 7-9", e);
        }
    }

    private DeadLetterReason reasonOf(String text) {
        for (DeadLetterReason candidate : DeadLetterReason.values()) {
            if (candidate.name().toLowerCase(Locale.ROOT).replace('_', '-').equals(text)) {
                return candidate;
            }
        }
        throw new ParameterException(
                spec.commandLine(),
                "--reason is refused, attempts, hang-up, expired, broker-limit or cap, not '" + text + "'");
    }
}
