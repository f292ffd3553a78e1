package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A data directory of each format version lies in the resources and has to stay readable. {@link #main} makes one, of a process
 * that was killed; zip its content as {@code store-format-N.zip}.
 */
class SampleStoreTest {
    @TempDir
    Path directory;

    @Test
    void format1IsReadable() throws Exception {
        unzip("/store-format-1.zip", directory);
        final StoreStat stat = OutboxStore.stat(directory);
        assertEquals(3, stat.pending());
        assertEquals(5, stat.routes().get(StoreFixture.ROUTE).accepted());
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            assertEquals("sample", fixture.store.meta().uplinkClientId());
            assertEquals(
                    List.of("three", "four", "", "five", ""),
                    fixture.read().stream().map(StoreFixture.Message::payload).toList());
            assertEquals(2, fixture.lane.cursor().delivered(0));
            assertTrue(fixture.lane.journal().hasHistory());
            assertTrue(fixture.lane.journal().isReceived(2));
            final int[] ids = fixture.connect("device", true).receivedIds();
            assertEquals(List.of(4), List.of(ids[0]));
            assertEquals(1, ids.length);
            fixture.publishMany(0, 1, 0);
            assertEquals(8, fixture.lane.durableSequence());
        }
    }

    private static void unzip(final String resource, final Path target) throws Exception {
        try (InputStream input = SampleStoreTest.class.getResourceAsStream(resource);
                ZipInputStream zip = new ZipInputStream(input)) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                final Path file = target.resolve(entry.getName()).normalize();
                assertTrue(file.startsWith(target));
                if (entry.isDirectory()) {
                    Files.createDirectories(file);
                } else {
                    Files.createDirectories(file.getParent());
                    Files.copy(zip, file);
                }
            }
        }
    }

    /**
     * Makes a sample.
     *
     * @param args live directory, directory of the sample.
     */
    public static void main(final String[] args) throws Exception {
        final Path live = Path.of(args[0]);
        try (StoreFixture fixture = StoreFixture.open(live, context -> context.uplinkClientId("sample"))) {
            fixture.lane.journal().sessionLost();
            fixture.publish(1, 1, "a/b", "one");
            fixture.publish(2, 2, "a/b", "two");
            fixture.writer.force();
            fixture.finishAll();
            fixture.publish(2, 3, "/ä//", "three");
            fixture.publish(2, 4, "a/b", "four");
            fixture.release(3);
            fixture.publish(0, 0, "a/b", "five");
            fixture.release(2);
            fixture.writer.force();
            fixture.lane.journal().received(2);
            fixture.lane.journal().force();
            CrashImage.of(live, Path.of(args[1]));
        }
    }
}
