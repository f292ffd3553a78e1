package io.holdfast.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.holdfast.store.StoreFixture.Message;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutboxStoreTest {
    @TempDir
    Path directory;

    @Test
    void whatIsForcedIsReadBack() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            assertEquals(Outcome.STORED, fixture.publish(1, 7, "a/b", "hello"));
            assertEquals(0, fixture.lane.durableSequence());
            assertTrue(fixture.read().isEmpty());
            fixture.writer.force();
            assertEquals(1, fixture.lane.durableSequence());
            assertEquals(
                    List.of(new Message(1, RecordDescriptor.KIND_PUBLISH, "device", 7, "a/b", "hello")),
                    fixture.read());
        }
    }

    @Test
    void recordsOutliveACleanRestartAndGoOn() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            fixture.publishMany(0, 3, 10);
        }
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            fixture.publishMany(3, 5, 10);
            final List<Message> messages = fixture.read();
            assertEquals(5, messages.size());
            for (int i = 0; i < 5; i++) {
                assertEquals(i + 1, messages.get(i).sequence());
                assertTrue(messages.get(i).payload().startsWith(i + " "));
            }
            assertFalse(fixture.lane.stat().wasTailTorn());
            assertTrue(fixture.errors.isEmpty());
        }
    }

    @Test
    void rollsOverManySegmentsAndReclaims() throws Exception {
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            for (int i = 0; i < 2_000; i += 20) {
                fixture.publishMany(i, i + 20, 1_000);
                fixture.maintain();
            }
            assertTrue(
                    fixture.lane.stat().segments() > 8,
                    () -> fixture.lane.stat().toString());
            assertEquals(2_000, fixture.read().size());
            assertEquals(0, fixture.lane.reclaim());
            fixture.finishAll();
            assertTrue(fixture.lane.reclaim() > 8);
            assertTrue(fixture.lane.stat().segments() <= 2);
            fixture.publishMany(2_000, 2_001, 0);
            assertEquals(1, fixture.read().size());
        }
        try (StoreFixture fixture = StoreFixture.open(directory)) {
            assertEquals(2_001, fixture.read().get(0).sequence());
        }
    }
}
