package io.holdfast.proxy.cli;

import io.holdfast.codec.TopicFilter;
import io.holdfast.store.RecordView;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** Which pending records a command is about. */
final class RecordFilter {
    @Spec(Target.MIXEE)
    private CommandSpec spec;

    @Option(names = "--client", paramLabel = "ID", description = "Only records of this Client Identifier.")
    private String client;

    private TopicFilter filter;

    @Option(
            names = "--topic",
            paramLabel = "FILTER",
            description = "Only records whose topic matches this Topic Filter.")
    void topic(String text) {
        try {
            filter = TopicFilter.compile(text);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--topic: " + e.getMessage(), e);
        }
    }

    boolean accepts(RecordView record) {
        return (client == null || client.equals(record.clientId()))
                && (filter == null || matches(record.topic().getBytes(StandardCharsets.UTF_8)));
    }

    private boolean matches(byte[] topic) {
        return filter.matches(topic, 0, topic.length);
    }
}
