package io.holdfast.proxy.sim;

import io.holdfast.proxy.testing.Packet;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** A connection between the proxy and a device or the broker: bytes under way in both directions, delivered in pieces. */
final class SimConnection {
    private static final int SOCKET_BUFFER = 64 * 1024;
    private static final int ARRIVED_UNREAD = 4;

    /** What sits at the other end. */
    interface Peer {
        /** A whole packet has arrived. */
        void onPacket(SimConnection connection, Packet packet);

        /** The connection is over; nothing more arrives. */
        void onClosed(SimConnection connection);
    }

    /** Sees what the proxy writes at the instant it does. */
    interface Tap {
        void onWritten(SimConnection connection, Packet packet);
    }

    private final String name;
    private final ArrayDeque<byte[]> toProxy = new ArrayDeque<>();
    private final ArrayDeque<byte[]> toPeer = new ArrayDeque<>();
    private final Frames tapFrames = new Frames();
    private final Frames peerFrames = new Frames();
    private final Tap tap;
    private Peer peer;
    private SimChannel channel;
    private int bytesToPeer;
    private boolean isProxyGone;
    private boolean isPeerGone;
    private boolean isPeerGoneTold;
    private boolean isOver;
    private boolean isStalled;

    SimConnection(String name, Tap tap) {
        this.name = name;
        this.tap = tap;
    }

    void join(SimChannel proxyEnd, Peer peerEnd) {
        channel = proxyEnd;
        peer = peerEnd;
    }

    Peer peer() {
        return peer;
    }

    boolean isOver() {
        return isOver;
    }

    boolean isPeerGone() {
        return isPeerGone;
    }

    /** Nothing moves until it is cut: a firewall that has forgotten the connection. */
    void stall() {
        isStalled = true;
    }

    boolean isStalled() {
        return isStalled;
    }

    // ---- the proxy's end

    int roomToPeer() {
        return isOver ? Integer.MAX_VALUE : SOCKET_BUFFER - bytesToPeer;
    }

    void written(byte[] bytes) {
        if (isOver || network().isProcessDead()) {
            return;
        }
        for (Packet packet : tapFrames.add(bytes)) {
            tap.onWritten(this, packet);
        }
        toPeer.addLast(bytes);
        bytesToPeer += bytes.length;
    }

    void closedByProxy() {
        isProxyGone = true;
    }

    /** The proxy's process has ended: what it had written may still arrive. */
    void processEnded(boolean loseBytes) {
        isProxyGone = true;
        toProxy.clear();
        if (loseBytes) {
            toPeer.clear();
            bytesToPeer = 0;
        }
    }

    private SimNetwork network() {
        return ((SimLoop) channel.eventLoop()).network();
    }

    // ---- the peer's end

    void send(byte[] packet) {
        if (!isOver && !isPeerGone) {
            toProxy.addLast(packet);
        }
    }

    /** Behind what was sent. */
    void close() {
        isPeerGone = true;
    }

    /** Both ends at once; what is under way is lost. */
    void cut() {
        if (!isOver) {
            isOver = true;
            toPeer.clear();
            toProxy.clear();
            isPeerGone = true;
            if (!isProxyGone) {
                channel.eventLoop().execute(channel::reset);
            }
            peer.onClosed(this);
        }
    }

    // ---- under way

    boolean canDeliverToProxy() {
        return !isOver
                && !isStalled
                && !isProxyGone
                && channel != null
                && (toProxy.isEmpty() ? isPeerGone && !isPeerGoneTold : channel.unread() < ARRIVED_UNREAD);
    }

    /** Up to {@code most} bytes, or the end. */
    void deliverToProxy(int most) {
        if (toProxy.isEmpty()) {
            isPeerGoneTold = true;
            channel.eventLoop().execute(channel::peerClosed);
            return;
        }
        byte[] piece = take(toProxy, most);
        channel.eventLoop().execute(() -> channel.arrive(piece));
    }

    boolean canDeliverToPeer() {
        return !isOver && (isProxyGone || !isStalled) && (!toPeer.isEmpty() || isProxyGone);
    }

    void deliverToPeer(int most) {
        if (toPeer.isEmpty()) {
            isOver = true;
            peer.onClosed(this);
            return;
        }
        byte[] piece = take(toPeer, most);
        bytesToPeer -= piece.length;
        if (!isProxyGone) {
            channel.eventLoop().execute(channel::roomToWrite);
        }
        if (isPeerGone) {
            return;
        }
        for (Packet packet : peerFrames.add(piece)) {
            peer.onPacket(this, packet);
        }
    }

    /** Several packets may arrive in one read, one packet in several. */
    private static byte[] take(ArrayDeque<byte[]> pieces, int most) {
        byte[] all = pieces.pollFirst();
        while (!pieces.isEmpty() && all.length < most) {
            byte[] next = pieces.pollFirst();
            byte[] both = java.util.Arrays.copyOf(all, all.length + next.length);
            System.arraycopy(next, 0, both, all.length, next.length);
            all = both;
        }
        if (all.length > most) {
            pieces.addFirst(java.util.Arrays.copyOfRange(all, most, all.length));
            all = java.util.Arrays.copyOf(all, most);
        }
        return all;
    }

    @Override
    public String toString() {
        return name;
    }

    /** Cuts a stream of bytes into packets. */
    private static final class Frames {
        private byte[] kept = {};

        List<Packet> add(byte[] bytes) {
            byte[] all = java.util.Arrays.copyOf(kept, kept.length + bytes.length);
            System.arraycopy(bytes, 0, all, kept.length, bytes.length);
            List<Packet> packets = new ArrayList<>();
            int start = 0;
            for (int end = endOf(all, start); end > 0; end = endOf(all, start)) {
                packets.add(Packet.of(java.util.Arrays.copyOfRange(all, start, end)));
                start = end;
            }
            kept = java.util.Arrays.copyOfRange(all, start, all.length);
            return packets;
        }

        private static int endOf(byte[] all, int start) {
            int length = 0;
            for (int i = 1; start + i < all.length; i++) {
                length |= (all[start + i] & 0x7F) << (7 * (i - 1));
                if ((all[start + i] & 0x80) == 0) {
                    int end = start + i + 1 + length;
                    return end <= all.length ? end : -1;
                }
            }
            return -1;
        }
    }
}
