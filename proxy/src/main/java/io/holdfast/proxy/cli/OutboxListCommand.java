package io.holdfast.proxy.cli;

import io.holdfast.store.RecordView;
import io.holdfast.store.StoppedStore;
import io.holdfast.store.StoreException;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code holdfast outbox ls}: the pending records, without their payloads. */
@Command(
        name = "ls",
        mixinStandardHelpOptions = true,
        description = "Lists the pending records, lane by lane, in order. Changes nothing.")
final class OutboxListCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private DataDirectory directory;

    @Mixin
    private RecordFilter filter;

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "100",
            description = "At most so many, 0 = all. Default ${DEFAULT-VALUE}.")
    private long limit;

    @Option(names = "--json", description = "One JSON object a line.")
    private boolean isJson;

    private long shown;
    private boolean isCut;

    @Override
    public Integer call() throws StoreException {
        PrintWriter out = spec.commandLine().getOut();
        RecordJson json = new RecordJson(out, false);
        if (!isJson) {
            out.println("lane sequence received qos retain bytes expires client topic");
        }
        try (StoppedStore store = StoppedStore.open(directory.directory())) {
            store.pending((lane, record) -> {
                if (filter.accepts(record)) {
                    isCut = limit > 0 && shown >= limit;
                    if (isCut) {
                        return false;
                    }
                    shown++;
                    if (isJson) {
                        json.write(lane, record, store.routeText(record.routeNumber()));
                    } else {
                        print(out, lane, record);
                    }
                }
                return true;
            });
        }
        json.flush();
        if (isCut && !isJson) {
            out.printf("and more: --limit 0 shows all%n");
        }
        out.flush();
        return ExitCode.OK;
    }

    private static void print(PrintWriter out, int lane, RecordView record) {
        out.printf(
                "%d %d %s %d %s %d %s '%s' '%s'%n",
                lane,
                record.sequence(),
                Instant.ofEpochMilli(record.receiveTimeMs()),
                record.qos(),
                record.retain() ? "retain" : "-",
                record.payloadLength(),
                record.expiryTimeMs() == 0 ? "-" : Instant.ofEpochMilli(record.expiryTimeMs()),
                Printable.escape(record.clientId()),
                Printable.escape(record.topic()));
    }
}
