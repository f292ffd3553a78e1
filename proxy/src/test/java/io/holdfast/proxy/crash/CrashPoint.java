package io.holdfast.proxy.crash;

import static io.holdfast.proxy.crash.Place.afterCall;
import static io.holdfast.proxy.crash.Place.beforeCall;
import static io.holdfast.proxy.crash.Place.entry;
import static io.holdfast.proxy.crash.Place.exit;

import io.holdfast.codec.PacketType;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * The instants at which a message or a piece of state changes hands, where a crash is most likely to find a mistake. Woven into
 * the classes by {@link CrashPointAgent}; the product knows nothing of them.
 */
@SuppressWarnings("ImmutableEnumChecker") // it goes by an annotation that no class here has
enum CrashPoint {
    // a PUBLISH on its way in
    BEFORE_APPEND(2000, entry("LaneWriter", "publish")),
    WITHIN_APPEND(2000, beforeCall("SegmentLog", "append", "writeSkip")),
    RECORD_NOT_YET_VISIBLE(2000, afterCall("SegmentLog", "append", "writeSkip")),
    AFTER_APPEND(2000, exit("SegmentLog", "append")),
    BEFORE_FORCE(500, entry("SegmentLog", "force")),
    BETWEEN_FORCE_AND_DIRECTORY(2, beforeCall("SegmentLog", "force", "forceDirectory")),
    AFTER_FORCE(500, exit("SegmentLog", "force")),
    WATERMARK_PUBLISHED(500, exit("Lane", "durable")),
    BEFORE_SETTLED(500, entry("outbox.LaneFeed", "complete")),
    BEFORE_ACK_WRITTEN(500, entry("ack.AckStage", "release")),
    AFTER_ACK_WRITTEN(200, exit("admission.PublishAdmission", "writeReady"), exit("ack.AckStage", "release")),

    // a PUBREL
    BEFORE_RELEASE(500, entry("LaneWriter", "release")),
    AFTER_RELEASE(500, exit("LaneWriter", "release")),
    RELEASE_FORCED(200, exit("SegmentLog", "force"), exit("LaneWriter", "release")),

    // a session
    BEFORE_SESSION_RESET(5, entry("LaneWriter", "recordEnd")),
    AFTER_SESSION_RESET(5, exit("LaneWriter", "recordEnd")),
    SESSION_RESET_FORCED(5, exit("SegmentLog", "force"), exit("LaneWriter", "recordEnd")),

    // the uplink
    BEFORE_SEND(2000, entry("uplink.LaneDelivery", "publish")),
    AFTER_SEND(500, exit("uplink.LaneDelivery", "flush")),
    PUBACK_TAKEN_IN(500, exit("uplink.LaneDelivery", "onAck").onlyFor(PacketType.PUBACK)),
    PUBREC_TAKEN_IN(500, exit("uplink.LaneDelivery", "onAck").onlyFor(PacketType.PUBREC)),
    BEFORE_JOURNAL(200, entry("UplinkJournal", "write")),
    WITHIN_JOURNAL(200, beforeCall("SlotPair", "write", "force").calledBy("UplinkJournal")),
    AFTER_JOURNAL(200, exit("UplinkJournal", "write")),
    BEFORE_PUBREL(500, entry("uplink.LaneDelivery", "release")),
    AFTER_PUBREL(200, exit("uplink.LaneDelivery", "flush"), exit("uplink.LaneDelivery", "release")),
    BEFORE_PUBCOMP(500, entry("uplink.LaneDelivery", "onAck").onlyFor(PacketType.PUBCOMP)),
    PUBCOMP_TAKEN_IN(500, exit("uplink.LaneDelivery", "onAck").onlyFor(PacketType.PUBCOMP)),
    CURSOR_MOVED(200, exit("Cursor", "advance")),
    BEFORE_CURSOR(15, entry("Cursor", "write")),
    WITHIN_CURSOR(15, beforeCall("SlotPair", "write", "force").calledBy("Cursor")),
    AFTER_CURSOR(15, exit("Cursor", "write")),
    JOURNAL_FORGOTTEN(15, exit("UplinkJournal", "forgetBelow")),

    // a message that the broker does not take
    BEFORE_DEAD_LETTER(3, entry("DeadLetters", "append")),
    DEAD_LETTER_NOT_FORCED(3, exit("DeadLetters", "append")),
    DEAD_LETTER_FORCED(3, exit("DeadLetters", "force"), exit("DeadLetters", "append")),
    DEAD_LETTER_CONCLUDED(3, exit("uplink.LaneDelivery", "onDeadLetter")),
    DEAD_LETTER_BEHIND_CURSOR(2, exit("Cursor", "write"), exit("uplink.LaneDelivery", "onDeadLetter")),

    // the log's files
    BEFORE_CHECKPOINT(4, entry("Checkpoint", "write")),
    WITHIN_CHECKPOINT(4, beforeCall("SlotPair", "write", "force").calledBy("Checkpoint")),
    AFTER_CHECKPOINT(4, exit("Checkpoint", "write")),
    BEFORE_PRECREATION(3, entry("DurableFiles", "writeZeros")),
    PRECREATED_NOT_FORCED(3, beforeCall("SegmentFiles", "make", "force")),
    PRECREATED_WITHOUT_DIRECTORY(3, beforeCall("SegmentFiles", "make", "forceDirectory")),
    PRECREATED(3, exit("SegmentFiles", "prepare")),
    BEFORE_ROLL(2, entry("SegmentLog", "roll")),
    AFTER_ROLL(2, exit("SegmentLog", "roll")),
    FIRST_APPEND_AFTER_ROLL(2, exit("SegmentLog", "append"), exit("SegmentLog", "roll")),
    BEFORE_DELETION(2, entry("SegmentFiles", "delete")),
    AFTER_DELETION(2, exit("SegmentFiles", "delete")),

    // a start on what the last crash left
    BEFORE_RECOVERY(1, entry("Lane", "recover")),
    LOG_RECOVERED(2, exit("LaneRecovery", "run")),
    WITHIN_SEAL(2, afterCall("SegmentFiles", "seal", "move")),
    SEALED(2, exit("SegmentFiles", "seal")),
    WITHIN_CUT(2, beforeCall("SegmentFiles", "cut", "force")),
    JOURNAL_OPENED(2, exit("UplinkJournal", "markOpen")),
    RECOVERED(2, exit("Lane", "recover")),
    BACKLOG_RELEASED(2, exit("uplink.LaneDelivery", "releaseJournalled")),

    // the first start of a new store
    BROKER_SESSION_UNKNOWN(1, entry("UplinkJournal", "sessionLost")),
    BROKER_SESSION_NOT_FORCED(1, exit("UplinkJournal", "sessionLost")),
    BROKER_SESSION_MADE(1, exit("uplink.LaneDelivery", "sessionMade"));

    private static final Set<CrashPoint> FIRST_START =
            EnumSet.of(BROKER_SESSION_UNKNOWN, BROKER_SESSION_NOT_FORCED, BROKER_SESSION_MADE);

    /** At which time it may be the one: a random number from 1 to this, small ones more often. */
    final int mostTimes;

    /** Where the crash happens. */
    final Place place;

    /** What must have happened since the last time; null for nothing. */
    final Place armedBy;

    CrashPoint(int mostTimes, Place place) {
        this(mostTimes, place, null);
    }

    CrashPoint(int mostTimes, Place place, Place armedBy) {
        this.mostTimes = mostTimes;
        this.place = place;
        this.armedBy = armedBy;
    }

    /** Those that only the first start of a store can reach. */
    static List<CrashPoint> ofFirstStart() {
        return List.copyOf(FIRST_START);
    }

    /** All others. */
    static List<CrashPoint> ofAnyStart() {
        return Arrays.stream(values())
                .filter(point -> !FIRST_START.contains(point))
                .toList();
    }

    /** The time at which it is to be the one. */
    int randomTime(SplittableRandom random) {
        return (int) Math.pow(mostTimes, random.nextDouble());
    }
}
