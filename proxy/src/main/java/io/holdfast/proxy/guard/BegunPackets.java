package io.holdfast.proxy.guard;

/**
 * The bytes of packets that have begun to come and are not whole, of all devices of one event loop. Half a packet may be
 * a slow device's or an attacker's; only where they are too much together is one given up, the one that began first. One
 * event loop.
 */
public final class BegunPackets {
    /** What every connection may have without being counted: most packets that come in pieces are small. */
    private static final int FREE_BYTES = 4 * 1024;

    private final long mostBytes;
    private long bytes;
    private Entry oldest;
    private Entry newest;

    /** @param mostBytes of all together; at least twice the largest packet */
    public BegunPackets(long mostBytes) {
        this.mostBytes = mostBytes;
    }

    /** The place of one connection; made once for it. */
    public static final class Entry {
        private final Runnable giveUp;
        private int bytes;
        private Entry older;
        private Entry newer;

        /** @param giveUp closes the connection; may call back into {@link #changed} */
        public Entry(Runnable giveUp) {
            this.giveUp = giveUp;
        }
    }

    /** A connection now keeps so many bytes of a packet that is not whole; 0 when it is, or the connection is gone. */
    public void changed(Entry entry, int keptBytes) {
        int counted = keptBytes > FREE_BYTES ? keptBytes : 0;
        if (entry.bytes == 0 && counted > 0) {
            append(entry);
        } else if (entry.bytes > 0 && counted == 0) {
            remove(entry);
        }
        bytes += counted - entry.bytes;
        entry.bytes = counted;
        while (bytes > mostBytes && oldest != null) {
            Entry victim = oldest;
            remove(victim);
            bytes -= victim.bytes;
            victim.bytes = 0;
            victim.giveUp.run();
        }
    }

    /** Bytes counted now. */
    public long bytes() {
        return bytes;
    }

    private void append(Entry entry) {
        entry.older = newest;
        if (newest == null) {
            oldest = entry;
        } else {
            newest.newer = entry;
        }
        newest = entry;
    }

    private void remove(Entry entry) {
        if (entry.older == null) {
            oldest = entry.newer;
        } else {
            entry.older.newer = entry.newer;
        }
        if (entry.newer == null) {
            newest = entry.older;
        } else {
            entry.newer.older = entry.older;
        }
        entry.older = null;
        entry.newer = null;
    }
}
