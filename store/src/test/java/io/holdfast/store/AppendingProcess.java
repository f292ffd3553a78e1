package io.holdfast.store;

import java.nio.file.Path;
import java.util.Random;

/** The child of {@link KillTest}: QoS 2 messages, each followed by its release; says how far it has forced. */
final class AppendingProcess {
    static final String CLIENT = "device";

    private AppendingProcess() {}

    static void settings(final StoreContext context) {
        context.segmentBytes(512 << 10);
    }

    static String payloadOf(final long sequence, final int length) {
        return (sequence + "-").repeat(length / 2 + 1).substring(0, length);
    }

    public static void main(final String[] args) throws Exception {
        final Random random = new Random();
        final StoreFixture fixture = StoreFixture.open(Path.of(args[0]), AppendingProcess::settings);
        fixture.connect(CLIENT, true);
        for (final int id : fixture.session().receivedIds()) {
            fixture.release(id);
        }
        fixture.writer.force();
        System.out.println("READY");
        while (true) {
            final int batch = 1 + random.nextInt(20);
            for (int i = 0; i < batch; i++) {
                final long sequence = fixture.writer.nextSequence();
                final int id = (int) (1 + sequence % 60_000);
                final int length = 1 + random.nextInt(random.nextInt(10) == 0 ? 20_000 : 300);
                require(fixture.publish(2, id, "t", payloadOf(sequence, length)));
                require(fixture.release(id));
            }
            fixture.writer.force();
            System.out.println(fixture.lane.durableSequence() + ".");
            System.out.flush();
            fixture.maintain();
            fixture.lane.prepareSegment();
            if (random.nextInt(50) == 0) {
                fixture.finishAll();
                fixture.lane.reclaim();
            }
        }
    }

    private static void require(final Outcome outcome) {
        if (outcome != Outcome.STORED) {
            throw new AssertionError(outcome.toString());
        }
    }
}
