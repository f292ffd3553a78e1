package io.holdfast.proxy.cli;

import io.holdfast.store.StoppedStore;
import io.holdfast.store.StoreCheck;
import io.holdfast.store.StoreException;
import io.holdfast.store.StoreRepair;
import io.holdfast.store.StoreStat;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code holdfast outbox}: looks into the outbox of a proxy that is stopped, and repairs it. */
@Command(
        name = "outbox",
        mixinStandardHelpOptions = true,
        description = "Looks into the outbox of a stopped proxy, and repairs it.",
        subcommands = {OutboxListCommand.class, OutboxDumpCommand.class})
final class OutboxCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(), "a command is missing: stat, ls, verify, audit, dump or repair");
    }

    @Command(
            name = "stat",
            mixinStandardHelpOptions = true,
            description = "Shows what the outbox holds. Changes nothing.")
    int stat(
            @Mixin DataDirectory directory,
            @Option(
                            names = "--clients",
                            paramLabel = "N",
                            defaultValue = "0",
                            description = "Also the N clients with the most pending records; reads the whole backlog.")
                    int clients)
            throws StoreException {
        PrintWriter out = spec.commandLine().getOut();
        try (StoppedStore store = StoppedStore.open(directory.directory())) {
            print(store.stat(), out);
            for (StoppedStore.ClientEntry client : store.clients(clients)) {
                out.printf(
                        "client %s: %d pending, %d payload bytes%n",
                        client.clientId() == null ? "(others)" : "'" + Printable.escape(client.clientId()) + "'",
                        client.records(),
                        client.bytes());
            }
        }
        out.flush();
        return ExitCode.OK;
    }

    @Command(
            name = "verify",
            mixinStandardHelpOptions = true,
            description = "Reads every checksum and says what is damaged, one line each; exit code 1 if anything is. "
                    + "Changes nothing.")
    int verify(@Mixin DataDirectory directory) throws StoreException {
        try (StoppedStore store = StoppedStore.open(directory.directory())) {
            return print(store.verify(), "no damage");
        }
    }

    @Command(
            name = "audit",
            mixinStandardHelpOptions = true,
            description = "Compares the ledger's counters with what is in the log; exit code 1 if they do not fit. "
                    + "Changes nothing.")
    int audit(@Mixin DataDirectory directory) throws StoreException {
        try (StoppedStore store = StoppedStore.open(directory.directory())) {
            return print(store.audit(), "the ledger adds up");
        }
    }

    @Command(
            name = "repair",
            mixinStandardHelpOptions = true,
            description =
                    "Writes damaged segments again with what is intact in them, keeps the damaged files aside, and "
                            + "makes the rest as a start would. A start does without it; verify is clean afterwards.")
    int repair(@Mixin DataDirectory directory) throws StoreException {
        return print(StoreRepair.run(directory.directory()), "done");
    }

    private int print(StoreCheck check, String whenClean) {
        PrintWriter out = spec.commandLine().getOut();
        check.notes().forEach(note -> out.println(Printable.escape(note)));
        check.faults().forEach(fault -> out.println("FAULT " + Printable.escape(fault)));
        out.println(check.isClean() ? whenClean : check.faults().size() + " fault(s)");
        out.flush();
        return check.isClean() ? ExitCode.OK : ExitCode.SOFTWARE;
    }

    private static void print(StoreStat stat, PrintWriter out) {
        out.printf(
                "store %s, %d lane(s), uplink client id '%s'%n",
                stat.meta().storeId(),
                stat.meta().lanes(),
                Printable.escape(stat.meta().uplinkClientId()));
        for (int i = 0; i < stat.lanes().size(); i++) {
            print(i, stat.lanes().get(i), out);
        }
        for (Map.Entry<String, StoreStat.RouteEntry> route : stat.routes().entrySet()) {
            StoreStat.RouteEntry entry = route.getValue();
            out.printf(
                    "route '%s': %d accepted = %d delivered + %d pending + %d expired + %d dead-lettered + %d dropped%n",
                    Printable.escape(route.getKey()),
                    entry.accepted(),
                    entry.delivered(),
                    entry.pending(),
                    entry.expired(),
                    entry.deadLettered(),
                    entry.dropped());
        }
        out.printf("pending in all: %d%n", stat.pending());
    }

    private static void print(int number, StoreStat.LaneEntry lane, PrintWriter out) {
        out.printf(
                "lane %d: %d segment(s), %d bytes on disk, last record %d, finished up to %d, %d received id(s) open%n",
                number,
                lane.segments(),
                lane.bytesOnDisk(),
                lane.lastSequence(),
                lane.finishedSequence(),
                lane.receivedIds());
        if (lane.oldestReceiveMs() != 0) {
            out.printf(
                    "lane %d: the oldest pending record came in at %s%n",
                    number, Instant.ofEpochMilli(lane.oldestReceiveMs()));
        }
        if (lane.missingRecords() > 0) {
            out.printf("lane %d: %d record(s) are missing%n", number, lane.missingRecords());
        }
    }
}
