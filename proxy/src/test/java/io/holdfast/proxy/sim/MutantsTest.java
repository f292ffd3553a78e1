package io.holdfast.proxy.sim;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Deliberate bugs: the simulation has to find each. */
@Tag("sim")
@SuppressWarnings("StringConcatToTextBlock") // indented as in the source that they go into
class MutantsTest {
    private static final int SEEDS = 3000;
    private static final int SEEDS_WITHOUT_BUG = 300;
    private static final String DELIVERY = "proxy/uplink/LaneDelivery";
    private static final String WRITER = "store/LaneWriter";

    /** The id space scaled down, so that it is passed through in a short run; it is the same code otherwise. */
    private static Mutant withFewPacketIds(String name, String expected) {
        return new Mutant(name, expected)
                .replace("proxy/uplink/SendWindow", "PACKET_IDS = 65_535;", "PACKET_IDS = 61;");
    }

    static List<Mutant> mutants() {
        return List.of(
                new Mutant("ack before sync", "P1")
                        .replace(
                                "proxy/outbox/WriterAgent",
                                "            writer.force();\n",
                                "            for (LaneFeed feed : touched) {\n"
                                        + "                feed.complete(feed.decided);\n"
                                        + "            }\n"
                                        + "            writer.force();\n"),
                new Mutant("uplink ahead of sync", "before it is durable")
                        .replace(
                                WRITER,
                                "        batchLength = start + length;\n        state.nextSequence++;\n",
                                "        batchLength = start + length;\n        state.nextSequence++;\n"
                                        + "        lane.durable(log.position(), state.nextSequence - 1);\n"),
                new Mutant("cursor ahead of ack", "the cursor passes")
                        .replace(
                                "proxy/uplink/LaneProgress",
                                "window.isEmpty() ? readUpTo : window.sequence(window.base()) - 1;",
                                "readUpTo;"),
                new Mutant("lost RELEASE", "P3")
                        .replace(
                                WRITER,
                                "if (!appendControl(KIND_RELEASE, session, packetId, receiveTimeMs)) {",
                                "if (checkpointsDue < 0) {"),
                withFewPacketIds("id reuse", "is used for")
                        .replace(
                                "proxy/uplink/SendWindow",
                                "BitUtil.findNextPositivePowerOfTwo(maxSpan)",
                                "BitUtil.findNextPositivePowerOfTwo(1000 + maxSpan)")
                        .replace(DELIVERY, "if (number - window.base() >= span) {", "if (unfinished() >= span) {")
                        .replace(DELIVERY, "if (number - window.base() >= span || ", "if (unfinished() >= span || ")
                        .replace(
                                DELIVERY,
                                "    private boolean enter(",
                                "    private int unfinished() {\n"
                                        + "        int count = 0;\n"
                                        + "        for (long n = window.base(); n < window.next(); n++) {\n"
                                        + "            count += SendWindow.isFinished(window.state(n)) ? 0 : 1;\n"
                                        + "        }\n"
                                        + "        return count;\n"
                                        + "    }\n\n"
                                        + "    private boolean enter("),
                new Mutant("received ids kept over a lost session", "P1")
                        .replace(
                                WRITER,
                                "if (!sessionPresent && known != null && known.receivedCount() > 0) {",
                                "if (!sessionPresent && known != null && known.receivedCount() < 0) {"),
                new Mutant("journal used in another broker session", "the cursor passes")
                        .replace(
                                "store/UplinkJournal",
                                "        Arrays.fill(received, 0);\n        sessionGeneration++;\n",
                                "        sessionGeneration++;\n")
                        .replace(
                                DELIVERY,
                                "if (resumed && journal.isReceived(number)) {",
                                "if (journal.isReceived(number)) {"),
                new Mutant("duplicate answered before its original is durable", "P1")
                        .replace(
                                "proxy/outbox/WriterAgent",
                                "            counters.increment(Meter.PUBLISH_DUPLICATE);\n",
                                "            counters.increment(Meter.PUBLISH_DUPLICATE);\n"
                                        + "            entry.outcome = outcome;\n"
                                        + "            feed.complete(entry.number);\n"),
                new Mutant("watermark shared by two lanes", "")
                        .replace(
                                "proxy/outbox/LaneFeed",
                                "        COMPLETED.setRelease(this, number);\n",
                                "        shared.merge(eventLoop, number, Math::max);\n"
                                        + "        COMPLETED.setRelease(this, (long) shared.get(eventLoop));\n")
                        .replace(
                                "proxy/outbox/LaneFeed",
                                "    private final EventLoop eventLoop;\n",
                                "    private static final java.util.Map<EventLoop, Long> shared =\n"
                                        + "            new java.util.concurrent.ConcurrentHashMap<>();\n"
                                        + "    private final EventLoop eventLoop;\n"),
                new Mutant("wrong resume", "P5")
                        .replace(DELIVERY, "if (resumed && journal.isReceived(number)) {", "if (number < 0) {")
                        .replace(
                                DELIVERY,
                                "if (journal.isReceived(number) && !SendWindow.isFinished(window.state(number))) {",
                                "if (number < 0) {"),
                new Mutant("PUBREL passes a copy that waits for room", "P5")
                        .replace(
                                "proxy/outbox/LaneFeed",
                                "            behind(entry); // else",
                                "            submit(entry); //")
                        .replace(
                                "proxy/outbox/WriterAgent",
                                "if (feed.refusing && !writer.isReceived(entry.view, 0, length, entry.session)) {",
                                "if (feed.refusing && !entry.probesForRoom) {"),
                new Mutant("records taken for durable that a failed sync has left", "durable")
                        .replace(
                                "store/SegmentFiles",
                                "            DurableFiles.writeAgain(channel, unproven, usedBytes);\n",
                                ""));
    }

    @ParameterizedTest
    @MethodSource("mutants")
    void findsTheBug(Mutant mutant) {
        String found = mutant.play(1, SEEDS);
        assertNotNull(found, () -> mutant + " is not found in " + SEEDS + " seeds");
        System.out.printf("%s: %s%n", mutant, found);
    }

    /** Else a mutant might be found for the way it is loaded, or for the smaller id space. */
    @Test
    void findsNothingWithoutABug() {
        assertNull(withFewPacketIds("no bug", "").play(1, SEEDS_WITHOUT_BUG));
    }
}
