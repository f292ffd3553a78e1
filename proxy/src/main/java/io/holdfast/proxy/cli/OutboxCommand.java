package io.holdfast.proxy.cli;

import io.holdfast.store.OutboxStore;
import io.holdfast.store.StoreException;
import io.holdfast.store.StoreStat;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code holdfast outbox}: looks into the outbox of a proxy that is stopped. */
@Command(name = "outbox", mixinStandardHelpOptions = true, description = "Looks into the outbox of a stopped proxy.")
final class OutboxCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "a command is missing: stat");
    }

    @Command(
            name = "stat",
            mixinStandardHelpOptions = true,
            description = "Shows what the outbox holds. Changes nothing.")
    int stat(
            @Option(names = "--data-dir", paramLabel = "DIR", required = true, description = "The data directory.")
                    Path directory) {
        PrintWriter out = spec.commandLine().getOut();
        try {
            print(OutboxStore.stat(directory), out);
            out.flush();
            return ExitCode.OK;
        } catch (StoreException e) {
            spec.commandLine().getErr().println("holdfast: " + e.getMessage());
            return ExitCode.SOFTWARE;
        }
    }

    private static void print(StoreStat stat, PrintWriter out) {
        out.printf(
                "store %s, %d lane(s), uplink client id '%s'%n",
                stat.meta().storeId(), stat.meta().lanes(), stat.meta().uplinkClientId());
        for (int i = 0; i < stat.lanes().size(); i++) {
            StoreStat.LaneEntry lane = stat.lanes().get(i);
            out.printf(
                    "lane %d: %d segment(s), %d bytes on disk, last record %d, finished up to %d, %d received id(s) open%n",
                    i,
                    lane.segments(),
                    lane.bytesOnDisk(),
                    lane.lastSequence(),
                    lane.finishedSequence(),
                    lane.receivedIds());
            if (lane.missingRecords() > 0) {
                out.printf("lane %d: %d record(s) are missing%n", i, lane.missingRecords());
            }
        }
        for (Map.Entry<String, StoreStat.RouteEntry> route : stat.routes().entrySet()) {
            StoreStat.RouteEntry entry = route.getValue();
            out.printf(
                    "route '%s': %d accepted = %d delivered + %d pending + %d expired + %d dead-lettered + %d dropped%n",
                    route.getKey(),
                    entry.accepted(),
                    entry.delivered(),
                    entry.pending(),
                    entry.expired(),
                    entry.deadLettered(),
                    entry.dropped());
        }
        out.printf("pending in all: %d%n", stat.pending());
    }
}
