package io.holdfast.proxy.uplink;

import java.util.Arrays;
import org.agrona.BitUtil;

/**
 * The unfinished records of a lane by send number: a span from the oldest unfinished one, not a count, so that a derived
 * packet id is never open twice ([MQTT-2.2.1-3] v5). One thread.
 *
 * <p>A state may be set ahead of the record being read: on a resume PUBREL goes out at once for what the journal knows.
 */
final class SendWindow {
    /** The widest span: less than half of the 65,535 packet ids. */
    static final int MAX_SPAN = 32_767;

    static final byte FREE = 0;
    /** PUBLISH is out; PUBACK or PUBREC awaited. */
    static final byte SENT = 1;
    /** PUBREC is there and on its way into the journal; PUBREL must not go out yet. */
    static final byte RECEIVED = 2;
    /** PUBREL is out; PUBCOMP awaited. */
    static final byte RELEASED = 3;
    /** Refused for a time; to be published again. */
    static final byte REFUSED = 4;

    /** On its way to the dead letters. */
    static final byte GIVING_UP = 5;
    /** Given up, and the broker may have its packet id: PUBREL is out or has to go out, PUBCOMP ends it. */
    static final byte CLEARING = 6;

    static final byte DELIVERED = 7;
    static final byte EXPIRED = 8;
    static final byte REFUSED_FOR_GOOD = 9;
    static final byte BEYOND_BROKER_LIMIT = 10;
    static final byte DEAD_LETTERED = 11;
    static final byte EVICTED = 12;
    /** The log has no such record: it was damaged. */
    static final byte LOST = 13;

    private static final int PACKET_IDS = 65_535;

    private final int mask;
    private final byte[] states;
    private final byte[] qos;
    private final int[] routes;
    private final long[] sequences;
    private final long[] positions;
    private final long[] sentAtNs;
    private final boolean[] wasRefused;
    private final byte[] verdicts;
    private final int[] attempts;
    private final long[] firstAttemptMs;
    private final int[] connections;
    private long base;
    private long next;

    /** Makes an empty window whose oldest unfinished number is {@code base}. */
    SendWindow(int maxSpan, long base) {
        int capacity = BitUtil.findNextPositivePowerOfTwo(maxSpan);
        mask = capacity - 1;
        states = new byte[capacity];
        qos = new byte[capacity];
        routes = new int[capacity];
        sequences = new long[capacity];
        positions = new long[capacity];
        sentAtNs = new long[capacity];
        wasRefused = new boolean[capacity];
        verdicts = new byte[capacity];
        attempts = new int[capacity];
        firstAttemptMs = new long[capacity];
        connections = new int[capacity];
        this.base = base;
        this.next = base;
    }

    /** The packet id of a send number: 1 to 65,535. */
    static int packetId(long number) {
        return 1 + (int) (number % PACKET_IDS);
    }

    /** The send number in this window that has {@code packetId}; whether it is in flight, {@link #state} tells. */
    long numberOf(int packetId) {
        return base + Math.floorMod(packetId - 1 - base % PACKET_IDS, PACKET_IDS);
    }

    /** The oldest unfinished number. */
    long base() {
        return base;
    }

    /** One above the newest number that was read. */
    long next() {
        return next;
    }

    boolean isEmpty() {
        return base == next;
    }

    /** Numbers between the oldest unfinished and the newest read. */
    int span() {
        return (int) (next - base);
    }

    int capacity() {
        return mask + 1;
    }

    boolean isInside(long number) {
        return number >= base && number - base <= mask;
    }

    /** A record was read: {@code number} is {@link #next()}. A state that was set ahead stays. */
    void open(long number, long sequence, long position, int recordQos, int route) {
        if (number != next) {
            throw new IllegalStateException("send number " + number + " after " + (next - 1));
        }
        int index = index(number);
        sequences[index] = sequence;
        positions[index] = position;
        qos[index] = (byte) recordQos;
        routes[index] = route;
        next++;
    }

    byte state(long number) {
        return isInside(number) ? states[index(number)] : FREE;
    }

    void state(long number, byte state) {
        states[index(number)] = state;
    }

    /** PUBLISH goes out, over the {@code connection}th connection. */
    void sent(long number, long nowNs, long nowMs, int connection) {
        int index = index(number);
        states[index] = SENT;
        sentAtNs[index] = nowNs;
        connections[index] = connection;
        if (attempts[index]++ == 0) {
            firstAttemptMs[index] = nowMs;
        }
    }

    /** Something else goes out for it. */
    void sentOn(long number, long nowNs, int connection) {
        int index = index(number);
        sentAtNs[index] = nowNs;
        connections[index] = connection;
    }

    /** Whether the last that went out for it went out over that connection. */
    boolean isSentOn(long number, int connection) {
        return connections[index(number)] == connection;
    }

    /** Times it was published. */
    int attempts(long number) {
        return attempts[index(number)];
    }

    /** Epoch milliseconds of the first time; 0 if there was none. */
    long firstAttemptMs(long number) {
        return attempts[index(number)] == 0 ? 0 : firstAttemptMs[index(number)];
    }

    /** What it is counted as once it has been cleared at the broker. */
    void clearing(long number, byte verdict) {
        int index = index(number);
        states[index] = CLEARING;
        verdicts[index] = verdict;
    }

    byte verdict(long number) {
        return verdicts[index(number)];
    }

    /** Whether an answer of the broker is awaited over that connection. */
    boolean isAnyInFlight(int connection) {
        for (long number = base; number - base <= mask; number++) {
            byte state = states[index(number)];
            if (state >= SENT
                    && state != REFUSED
                    && state != GIVING_UP
                    && state <= CLEARING
                    && isSentOn(number, connection)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a PUBLISH of that connection has no answer. */
    boolean isAnyUnanswered(int connection) {
        for (long number = base; number < next; number++) {
            if (states[index(number)] == SENT && isSentOn(number, connection)) {
                return true;
            }
        }
        return false;
    }

    /** Whether what went out last for the oldest was sent over that connection, before {@code sinceNs}, and has no answer. */
    boolean isOldestOverdue(int connection, long sinceNs) {
        byte state = state(base);
        return !isEmpty()
                && (state == SENT || state == RELEASED || state == CLEARING)
                && isSentOn(base, connection)
                && sentAtNs(base) - sinceNs < 0;
    }

    /** Goes on with a number far ahead; nothing may be open. */
    void skipTo(long number) {
        base = number;
        next = number;
    }

    long sentAtNs(long number) {
        return sentAtNs[index(number)];
    }

    int qos(long number) {
        return qos[index(number)];
    }

    int route(long number) {
        return routes[index(number)];
    }

    long sequence(long number) {
        return sequences[index(number)];
    }

    /** Where the record lies in the log. */
    long position(long number) {
        return positions[index(number)];
    }

    /** Refused for a time, with that code. */
    void refused(long number, int reasonCode) {
        int index = index(number);
        states[index] = REFUSED;
        verdicts[index] = (byte) reasonCode;
    }

    /** The code of the last refusal of a {@link #REFUSED} one; 0 for others. */
    int reasonCode(long number) {
        return states[index(number)] == REFUSED ? verdicts[index(number)] & 0xFF : 0;
    }

    /** True the first time. */
    boolean markRefused(long number) {
        int index = index(number);
        boolean first = !wasRefused[index];
        wasRefused[index] = true;
        return first;
    }

    boolean wasRefused(long number) {
        return wasRefused[index(number)];
    }

    static boolean isFinished(byte state) {
        return state >= DELIVERED;
    }

    /** Whether the oldest number is finished and can be popped. */
    boolean isBaseFinished() {
        return base < next && isFinished(states[index(base)]);
    }

    /** Forgets the oldest number. */
    void popBase() {
        int index = index(base);
        states[index] = FREE;
        wasRefused[index] = false;
        attempts[index] = 0;
        connections[index] = 0;
        base++;
    }

    /** The broker has lost its session: whatever is not finished begins again. */
    void restart() {
        for (int i = 0; i < states.length; i++) {
            if (states[i] == CLEARING) {
                states[i] = verdicts[i]; // the broker has forgotten it already
            } else if (!isFinished(states[i]) && states[i] != GIVING_UP) {
                states[i] = FREE;
            }
        }
    }

    /** Refusals belong to the connection they came on. */
    void forgetRefusals() {
        Arrays.fill(wasRefused, false);
    }

    private int index(long number) {
        return (int) number & mask;
    }
}
