package io.holdfast.proxy.cli;

import io.holdfast.store.StoppedStore;
import io.holdfast.store.StoreException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code holdfast outbox dump}: the pending records with everything in them, to be rescued by other means. */
@Command(
        name = "dump",
        mixinStandardHelpOptions = true,
        description = "Writes the pending records as JSON, one object a line; payload and MQTT 5 properties in base64. "
                + "Changes nothing.")
final class OutboxDumpCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Mixin
    private DataDirectory directory;

    @Mixin
    private RecordFilter filter;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "A new file, readable for its owner. Default: standard output.")
    private Path file;

    private long written;

    @Override
    public Integer call() throws StoreException {
        if (file == null) {
            PrintWriter out = spec.commandLine().getOut();
            dump(out);
            out.flush();
            return ExitCode.OK;
        }
        try (Writer out = open()) {
            dump(out);
        } catch (IOException | UncheckedIOException e) {
            throw new StoreException("cannot write " + file + ": " + e, e);
        }
        spec.commandLine().getErr().printf("%d record(s) written to %s%n", written, file);
        return ExitCode.OK;
    }

    private Writer open() throws IOException {
        try {
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            return Files.newBufferedWriter(file, StandardCharsets.UTF_8, StandardOpenOption.WRITE);
        } catch (FileAlreadyExistsException e) {
            throw new ParameterException(spec.commandLine(), "--out: " + file + " is there already", e);
        }
    }

    private void dump(Writer out) throws StoreException {
        RecordJson json = new RecordJson(out, true);
        try (StoppedStore store = StoppedStore.open(directory.directory())) {
            store.pending((lane, record) -> {
                if (filter.accepts(record)) {
                    json.write(lane, record, store.routeText(record.routeNumber()));
                    written++;
                }
                return true;
            });
        }
        json.flush();
    }
}
