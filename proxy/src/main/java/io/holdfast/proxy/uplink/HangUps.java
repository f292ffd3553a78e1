package io.holdfast.proxy.uplink;

/**
 * Finds the record that a broker hangs up on. A broker before MQTT 5 cannot refuse a PUBLISH, it closes the connection; which
 * of those in flight it meant, nobody knows. So after three hang-ups in a row what was in flight is sent one at a time, each on a
 * connection that has just answered a PINGREQ. Only a record that was alone in flight at so many hang-ups in a row is given
 * up: never a guess. One thread.
 */
final class HangUps {
    static final long NONE = -1;
    private static final int SUSPICIOUS = 3;

    private final int loneLimit;

    // while something is suspected
    private int inARow;
    private long suspectsBelow;
    private long suspect = NONE;
    private int loneHangUps;

    // for one connection
    private long lone = NONE;
    private boolean pingSent;
    private boolean pingAnswered;

    /** @param loneLimit hang-ups in a row, with the record alone in flight, at which it is given up; at least 1 */
    HangUps(int loneLimit) {
        this.loneLimit = loneLimit;
    }

    void connected() {
        lone = NONE;
        pingSent = false;
        pingAnswered = false;
    }

    /** Whether records go out one at a time. {@code oldest} is the oldest unfinished send number. */
    boolean isIsolating(long oldest) {
        if (inARow > 0 && oldest >= suspectsBelow) {
            inARow = 0; // all that was in flight at the last hang-up is through
            suspect = NONE;
            loneHangUps = 0;
        }
        return inARow >= SUSPICIOUS;
    }

    /** True once for each time that PINGREQ has to be sent before the next record. */
    boolean wantsPing() {
        if (pingSent || pingAnswered) {
            return false;
        }
        pingSent = true;
        return true;
    }

    /** PINGRESP. */
    void pingAnswered() {
        pingAnswered |= pingSent;
        pingSent = false;
    }

    boolean mayGoAlone() {
        return pingAnswered;
    }

    /** While isolating, a record has gone out, with nothing else in flight. */
    void sentAlone(long number) {
        lone = number;
        pingAnswered = false;
    }

    /** While isolating, a record of QoS 0 has gone out; no number is alone behind it. */
    void sentUnnumbered() {
        lone = NONE;
        pingAnswered = false;
    }

    /** A record was answered, whatever the answer. */
    void answered(long number) {
        if (number == lone) {
            lone = NONE;
        }
    }

    /**
     * The broker has hung up while PUBLISHes were unanswered.
     *
     * @param newest one above the newest send number
     * @return the send number to give up, or {@link #NONE}
     */
    long hungUp(long newest) {
        inARow++;
        suspectsBelow = Math.max(suspectsBelow, newest);
        if (lone == NONE) {
            return NONE;
        }
        loneHangUps = lone == suspect ? loneHangUps + 1 : 1;
        suspect = lone;
        lone = NONE;
        if (loneHangUps < loneLimit) {
            return NONE;
        }
        long poison = suspect;
        suspect = NONE;
        loneHangUps = 0;
        return poison;
    }
}
