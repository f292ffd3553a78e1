package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files beside the log: meta, lock, routes; and looking at a directory without changing it. */
class DataDirectoryTest {
    @TempDir
    Path parent;

    private Path directory() {
        return parent.resolve("data");
    }

    private static StoreException refused(final Path directory) {
        return assertThrows(StoreException.class, () -> StoreFixture.open(directory));
    }

    @Test
    void isPrivateToItsOwner() throws Exception {
        StoreFixture.open(directory()).close();
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(directory())));
    }

    @Test
    void aSecondOpenIsRefusedAndLeavesTheFirstAlone() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory())) {
            assertTrue(refused(directory()).getMessage().contains("in use by another process"));
            assertThrows(StoreException.class, () -> OutboxStore.stat(directory()));
            fixture.publishMany(0, 10, 10);
        }
        StoreFixture.open(directory()).close();
    }

    @Test
    void identityStaysTheSame() throws Exception {
        final StoreMeta first;
        try (StoreFixture fixture = StoreFixture.open(directory())) {
            first = fixture.store.meta();
        }
        Files.write(directory().resolve(MetaFile.NAME), new byte[200]);
        try (StoreFixture fixture = StoreFixture.open(directory())) {
            assertEquals(first, fixture.store.meta(), "the copy is used");
        }
        try (StoreFixture other = StoreFixture.open(parent.resolve("other"))) {
            assertNotEquals(first.salt(), other.store.meta().salt());
            assertNotEquals(first.uplinkClientId(), other.store.meta().uplinkClientId());
        }
    }

    @Test
    void whatItCannotReadItRefusesInClearWords() throws Exception {
        StoreFixture.open(directory()).close();
        final Path meta = directory().resolve(MetaFile.NAME);
        final List<String> lines = DurableFiles.readText(meta);
        final List<String> newer =
                lines.stream().map(line -> line.replace("format=1", "format=2")).toList();
        DurableFiles.replaceText(meta, newer);
        assertTrue(refused(directory()).getMessage().contains("format version 2"));
        final Path lane = OutboxStore.laneDirectory(directory(), 0);
        for (final Path file : SegmentFiles.list(lane)) {
            Files.write(file, new byte[200]);
        }
        Files.write(meta, new byte[200]);
        Files.write(directory().resolve(MetaFile.COPY_NAME), new byte[200]);
        assertTrue(refused(directory()).getMessage().contains("every other copy of what they say are damaged"));
        DurableFiles.replaceText(meta, lines);
        assertThrows(
                StoreException.class,
                () -> StoreFixture.open(directory(), context -> context.lanes(2)),
                "another number of lanes");
        StoreFixture.open(directory()).close();
    }

    @Test
    void settingsAreRefusedByTheFlagsName() {
        final Map<String, StoreContext> wrong = new TreeMap<>();
        wrong.put("--lanes", StoreFixture.context(directory()).lanes(0));
        wrong.put("--segment-bytes", StoreFixture.context(directory()).segmentBytes(100_000));
        wrong.put("--outbox-max-bytes", StoreFixture.context(directory()).maxBytes(1_000));
        wrong.put("--disk-reserve-bytes", StoreFixture.context(directory()).reserveBytes(-1));
        wrong.put("--uplink-client-id", StoreFixture.context(directory()).uplinkClientId("a\nb"));
        wrong.put("--data-dir", new StoreContext());
        wrong.forEach((flag, context) -> {
            final StoreException error = assertThrows(StoreException.class, () -> OutboxStore.open(context));
            assertTrue(error.getMessage().contains(flag), error.getMessage());
        });
    }

    @Test
    void routeNumbersStay() throws Exception {
        final List<String> first = List.of("outbox a/#", "hold b/#");
        try (StoreFixture fixture = StoreFixture.open(directory(), context -> context.routes(first))) {
            assertEquals(1, fixture.store.routeNumber("hold b/#"));
        }
        final List<String> second = List.of("outbox c/#", "hold b/#");
        try (StoreFixture fixture = StoreFixture.open(directory(), context -> context.routes(second))) {
            assertEquals(2, fixture.store.routeNumber("outbox c/#"));
            assertEquals(1, fixture.store.routeNumber("hold b/#"));
            assertEquals("outbox a/#", fixture.store.routeText(0));
            assertEquals(3, fixture.store.routeCount());
            assertEquals(-1, fixture.store.routeNumber("none"));
        }
    }

    @Test
    void aClientIsAlwaysInTheSameLane() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory(), context -> context.lanes(4))) {
            final int[] clients = new int[4];
            for (int i = 0; i < 1_000; i++) {
                final byte[] bytes = ("client-ä-" + i).getBytes(StandardCharsets.UTF_8);
                final int lane = fixture.store.laneFor("client-ä-" + i);
                assertEquals(lane, fixture.store.laneFor(new UnsafeBuffer(bytes), 0, bytes.length));
                clients[lane]++;
            }
            for (final int count : clients) {
                assertTrue(count > 150, "clients per lane " + count);
            }
            // Test vector of FNV-1a with 64 bits; the mapping is a format.
            assertEquals((int) Long.remainderUnsigned(0x85944171f73967e8L, 1_000), LaneHash.laneOf("foobar", 1_000));
        }
    }

    @Test
    void statSaysWhatIsThereAndChangesNothing() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory())) {
            for (int i = 0; i < 600; i += 20) {
                fixture.publishMany(i, i + 20, 1_000);
                fixture.maintain();
            }
            fixture.finishAll();
            fixture.publish(2, 7, "t", "x");
            fixture.publishMany(600, 649, 10);
            fixture.lane.reclaim();
            final Path image = CrashImage.of(directory(), parent.resolve("image"));
            final Map<String, FileTime> before = times(image);
            final StoreStat stat = OutboxStore.stat(image);
            assertEquals(50, stat.pending());
            final StoreStat.RouteEntry route = stat.routes().get(StoreFixture.ROUTE);
            assertEquals(650, route.accepted());
            assertEquals(600, route.delivered());
            assertEquals(650, stat.lanes().get(0).lastSequence());
            assertEquals(600, stat.lanes().get(0).finishedSequence());
            assertEquals(1, stat.lanes().get(0).receivedIds());
            assertEquals(before, times(image));
        }
        assertThrows(StoreException.class, () -> OutboxStore.stat(parent.resolve("nothing")));
    }

    private static Map<String, FileTime> times(final Path directory) throws Exception {
        final Map<String, FileTime> times = new TreeMap<>();
        try (Stream<Path> files = Files.walk(directory)) {
            for (final Path file : files.toList()) {
                times.put(file + " " + Files.size(file), Files.getLastModifiedTime(file));
            }
        }
        return times;
    }
}
