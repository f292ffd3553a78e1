package io.holdfast.proxy.crash;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.proxy.testing.MosquittoBroker;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * P1, P3, P4 and P5 over power cuts in the middle of everything: devices publish, the uplink delivers, segments roll and are
 * reclaimed. The proxy is stopped, at a random instant or at a named point, killed, and started again on what had reached the
 * disk, in front of the same broker, while the devices resume. The long form is that of {@code make crash-test}. Needs root and
 * loop devices.
 */
class PowerCutDuringDeliveryTest {
    @TempDir
    Path directory;

    @Test
    void shortForm() throws Exception {
        long seed = LongForm.seed();
        play(seed, (int) Math.floorMod(seed, 2L * CrashPoint.ofAnyStart().size()), 2);
    }

    @Test
    @Tag("crash")
    void longForm() throws Exception {
        LongForm.play(LongForm.cuts(), this::play);
    }

    /** What these rounds are good for: without syncs they fail. */
    @Test
    @Tag("crash")
    void withoutSyncsMessagesAreLost() {
        AssertionError failure =
                assertThrows(AssertionError.class, () -> play(LongForm.seed(), 0, 4, "--durability", "page-cache"));
        assertTrue(
                failure.getMessage().matches("(?s).*(were accepted, now|were acknowledged, ).*"), failure::getMessage);
    }

    private String play(long seed, int from, int cuts, String... flags) throws Exception {
        Path files = Files.createDirectories(directory.resolve("cuts-" + from));
        try (PowerCutDisk disk = PowerCutDisk.mount(files, "96M");
                MosquittoBroker broker = MosquittoBroker.create(
                        files.resolve("broker"),
                        "max_inflight_messages 0",
                        "max_packet_size " + CrashRounds.BROKER_PACKET_BYTES)) {
            assumeTrue(disk != null, "skipped: needs root, and a machine that mounts an image");
            broker.start();
            String[] all = new String[flags.length + 2];
            System.arraycopy(flags, 0, all, 0, flags.length);
            all[flags.length] = "--disk-reserve-bytes";
            all[flags.length + 1] = "1MiB";
            return new CrashRounds(broker, seed, from, cuts, 20)
                    .withPowerCuts(disk)
                    .run(disk.root().resolve("data"), all);
        }
    }
}
