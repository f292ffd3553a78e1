package io.holdfast.proxy.link;

import io.netty.buffer.ByteBuf;
import org.agrona.collections.LongArrayList;

/**
 * A packet of the device that waits for the broker's answer: PUBLISH, PUBREL, SUBSCRIBE or UNSUBSCRIBE. Owns a copy of
 * its bytes until then, because a broken link makes it go out again.
 */
final class LinkRequest {
    static final long NO_SLOT = -1;

    final int type;
    final int packetId;
    final ByteBuf frame;
    long slot;
    LongArrayList duplicateSlots;
    boolean sentOnce;
    boolean sentOnThisLink;

    LinkRequest previous;
    LinkRequest next;

    LinkRequest(int type, int packetId, ByteBuf frame, long slot) {
        this.type = type;
        this.packetId = packetId;
        this.frame = frame;
        this.slot = slot;
    }

    /** The slot that the next answer settles, or {@link #NO_SLOT}. The first PUBLISH is answered before its duplicates. */
    long takeSlot() {
        long taken = slot;
        slot = duplicateSlots == null || duplicateSlots.isEmpty() ? NO_SLOT : duplicateSlots.removeAt(0);
        return taken;
    }

    /** A duplicate came: another answer is owed. */
    void addSlot(long duplicateSlot) {
        if (slot == NO_SLOT) {
            slot = duplicateSlot;
            return;
        }
        if (duplicateSlots == null) {
            duplicateSlots = new LongArrayList();
        }
        duplicateSlots.addLong(duplicateSlot);
    }
}
