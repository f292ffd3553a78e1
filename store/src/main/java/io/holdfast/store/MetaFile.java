package io.holdfast.store;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** Reads and writes {@code meta} and its copy {@code meta.bak}. */
final class MetaFile {
    static final String NAME = "meta";
    static final String COPY_NAME = "meta.bak";

    private static final int SALT_LENGTH = 16;

    private MetaFile() {}

    /** A new identity, for a new data directory. */
    static StoreMeta create(
            final int lanes, final int segmentBytes, final String uplinkClientId, final String uplinkBroker) {
        final SecureRandom random = new SecureRandom();
        final byte[] id = new byte[8];
        final byte[] salt = new byte[SALT_LENGTH];
        random.nextBytes(id);
        random.nextBytes(salt);
        final String storeId = HexFormat.of().formatHex(id);
        return new StoreMeta(
                storeId,
                HexFormat.of().formatHex(salt),
                lanes,
                LaneHash.NAME,
                segmentBytes,
                uplinkClientId != null ? uplinkClientId : "holdfast-" + storeId,
                uplinkBroker);
    }

    static byte[] saltOf(final StoreMeta meta) {
        return HexFormat.of().parseHex(meta.salt());
    }

    /**
     * Reads the first of the two copies that is whole.
     *
     * @return null if there is none.
     */
    static StoreMeta read(final Path directory) throws IOException, StoreException {
        final Path file = directory.resolve(NAME);
        final List<String> lines = DurableFiles.readText(file);
        if (lines != null) {
            return parse(file, lines);
        }
        final Path copy = directory.resolve(COPY_NAME);
        final List<String> copied = DurableFiles.readText(copy);
        return copied == null ? null : parse(copy, copied);
    }

    /** Whether both copies can be read. */
    static boolean isWhole(final Path directory) throws IOException {
        return DurableFiles.readText(directory.resolve(NAME)) != null
                && DurableFiles.readText(directory.resolve(COPY_NAME)) != null;
    }

    static void write(final Path directory, final StoreMeta meta) throws IOException {
        final List<String> lines = List.of(
                "format=" + StoreMeta.FORMAT_VERSION,
                "store-id=" + meta.storeId(),
                "salt=" + meta.salt(),
                "lanes=" + meta.lanes(),
                "lane-hash=" + meta.laneHash(),
                "segment-bytes=" + meta.segmentBytes(),
                "uplink-client-id=" + meta.uplinkClientId(),
                "uplink-broker=" + meta.uplinkBroker());
        DurableFiles.replaceText(directory.resolve(NAME), lines);
        DurableFiles.replaceText(directory.resolve(COPY_NAME), lines);
    }

    private static StoreMeta parse(final Path file, final List<String> lines) throws StoreException {
        final Map<String, String> values = new HashMap<>();
        for (final String line : lines) {
            final int equals = line.indexOf('=');
            if (equals > 0) {
                values.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }
        final String format = values.get("format");
        if (!String.valueOf(StoreMeta.FORMAT_VERSION).equals(format)) {
            throw new StoreException(file + " has format version " + format + "; this version of Holdfast reads "
                    + StoreMeta.FORMAT_VERSION + ": start the version that wrote it, or use another --data-dir");
        }
        try {
            final StoreMeta meta = new StoreMeta(
                    values.get("store-id"),
                    values.get("salt"),
                    Integer.parseInt(values.get("lanes")),
                    values.get("lane-hash"),
                    Integer.parseInt(values.get("segment-bytes")),
                    values.get("uplink-client-id"),
                    values.getOrDefault("uplink-broker", ""));
            if (!LaneHash.NAME.equals(meta.laneHash()) || saltOf(meta).length != SALT_LENGTH) {
                throw new StoreException(file + " names a lane hash or salt that this version does not know: "
                        + meta.laneHash() + ": start the version that wrote it");
            }
            return meta;
        } catch (final IllegalArgumentException e) {
            throw new StoreException(file + " is not complete: restore it from a backup of the data directory", e);
        }
    }
}
