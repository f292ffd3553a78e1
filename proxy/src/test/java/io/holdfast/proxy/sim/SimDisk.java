package io.holdfast.proxy.sim;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A disk with a page cache in front. What is written is in the cache; it is durable after the file's force, and a name after
 * its directory's; before that it may become durable by chance, page by page, torn at sectors. Can be full, and can fail a
 * force, after which the lost pages count as clean (as Linux does it). Every change of it is a point where the process can
 * be made to end.
 */
final class SimDisk {
    static final int PAGE = 4096;
    private static final int SECTOR = 512;
    private static final byte[] ZEROS = new byte[PAGE];
    private static final ByteBuffer NOTHING = ByteBuffer.allocateDirect(PAGE);

    /** A file, whatever its name. */
    static final class Inode {
        private final List<byte[]> pages = new ArrayList<>();
        private final List<byte[]> durablePages = new ArrayList<>();
        private final BitSet dirty = new BitSet();
        private long size;
        private long durableSize;

        long size() {
            return size;
        }
    }

    private record Change(String directory, String path, String target, Inode inode) {}

    private final SplittableRandom random;
    private final NavigableMap<String, Inode> names = new TreeMap<>();
    private final NavigableMap<String, Inode> durableNames = new TreeMap<>();
    private final TreeSet<String> directories = new TreeSet<>();
    private final TreeSet<String> durableDirectories = new TreeSet<>();
    private final List<Change> pending = new ArrayList<>();
    private long capacityPages = Long.MAX_VALUE;
    private long usedPages;
    private int failingForces;
    private long operations;
    private long crashAt = Long.MAX_VALUE;
    private boolean isCrashed;
    private int epoch;
    private Runnable whileForcing = () -> {};

    SimDisk(SplittableRandom random) {
        this.random = random;
        directories.add("/");
        durableDirectories.add("/");
    }

    // ---- faults

    /** Counts what has changed the disk; each is an instant at which the process can end. */
    long operations() {
        return operations;
    }

    /** Ends the process in the middle of that operation. */
    void crashAt(long operation) {
        crashAt = operation;
    }

    /** What other threads do while one waits for a force. */
    void whileForcing(Runnable action) {
        whileForcing = action;
    }

    boolean isCrashed() {
        return isCrashed;
    }

    /** Changes with each restart: what was open before is no more. */
    int epoch() {
        return epoch;
    }

    void failForces(int count) {
        failingForces = count;
    }

    void usableBytes(long bytes) {
        capacityPages = bytes == Long.MAX_VALUE ? Long.MAX_VALUE : usedPages + bytes / PAGE;
    }

    boolean isLimited() {
        return capacityPages != Long.MAX_VALUE;
    }

    long usableBytes() {
        return capacityPages == Long.MAX_VALUE ? 1L << 40 : Math.max(0, (capacityPages - usedPages) * PAGE);
    }

    /** The process ends from outside. */
    void kill() {
        isCrashed = true;
    }

    /** The kernel writes some pages back by itself. */
    void writeBack() {
        for (Inode inode : names.values()) {
            for (int page = inode.dirty.nextSetBit(0); page >= 0; page = inode.dirty.nextSetBit(page + 1)) {
                if (random.nextInt(3) == 0 && page < inode.durablePages.size()) {
                    inode.durablePages.set(page, inode.pages.get(page));
                    inode.dirty.clear(page);
                }
            }
        }
    }

    /** The process has ended; with {@code power} the cache goes too, but for what has reached the disk by chance. */
    void restart(boolean power) {
        if (power) {
            loseCache();
        }
        isCrashed = false;
        crashAt = Long.MAX_VALUE;
        failingForces = 0;
        epoch++;
    }

    private void loseCache() {
        int survivors = random.nextInt(3) == 0 ? 0 : random.nextInt(pending.size() + 1);
        for (int i = 0; i < survivors; i++) {
            apply(pending.get(i));
        }
        pending.clear();
        directories.clear();
        directories.addAll(durableDirectories);
        durableNames.keySet().removeIf(name -> !directories.contains(parent(name)));
        names.clear();
        names.putAll(durableNames);
        int luck = random.nextInt(4);
        usedPages = 0;
        for (Inode inode : names.values()) {
            settle(inode, luck);
            usedPages += inode.pages.size();
        }
        if (capacityPages < usedPages) {
            capacityPages = usedPages;
        }
    }

    /** Luck 0: everything unsynced is lost; 1: everything is there; else page by page, or sector by sector. */
    private void settle(Inode inode, int luck) {
        boolean keepsNewSize = luck == 1 || (luck > 1 && random.nextBoolean());
        long size = keepsNewSize ? inode.size : inode.durableSize;
        int count = (int) ((size + PAGE - 1) / PAGE);
        List<byte[]> settled = new ArrayList<>(count);
        for (int page = 0; page < count; page++) {
            byte[] old = page < inode.durablePages.size() ? inode.durablePages.get(page) : ZEROS;
            byte[] written = page < inode.pages.size() ? inode.pages.get(page) : old;
            boolean isDirty = inode.dirty.get(page);
            settled.add(isDirty && luck > 0 ? mix(old, written, luck) : old);
        }
        inode.size = size;
        inode.durableSize = size;
        inode.pages.clear();
        inode.pages.addAll(settled);
        inode.durablePages.clear();
        inode.durablePages.addAll(settled);
        inode.dirty.clear();
    }

    private byte[] mix(byte[] old, byte[] written, int luck) {
        if (luck == 1) {
            return written;
        }
        if (luck == 2 || random.nextInt(4) > 0) {
            return random.nextBoolean() ? written : old;
        }
        byte[] torn = old.clone();
        for (int at = 0; at < PAGE; at += SECTOR) {
            if (random.nextBoolean()) {
                System.arraycopy(written, at, torn, at, SECTOR);
            }
        }
        return torn;
    }

    // ---- names

    boolean isDirectory(String path) {
        return directories.contains(path);
    }

    Inode find(String path) {
        return names.get(path);
    }

    void createDirectory(String path) throws IOException {
        if (directories.contains(path) || names.containsKey(path)) {
            throw new FileAlreadyExistsException(path);
        }
        requireParent(path);
        operation();
        directories.add(path);
        pending.add(new Change(parent(path), path, null, null));
    }

    Inode create(String path) throws IOException {
        requireParent(path);
        operation();
        Inode inode = new Inode();
        names.put(path, inode);
        pending.add(new Change(parent(path), path, null, inode));
        return inode;
    }

    void delete(String path) throws IOException {
        if (directories.contains(path)) {
            if (!list(path).isEmpty()) {
                throw new DirectoryNotEmptyException(path);
            }
            operation();
            directories.remove(path);
            pending.add(new Change(parent(path), path, "", null));
            return;
        }
        if (!names.containsKey(path)) {
            throw new NoSuchFileException(path);
        }
        operation();
        usedPages -= names.remove(path).pages.size();
        pending.add(new Change(parent(path), path, "", null));
    }

    void rename(String from, String to, boolean replace) throws IOException {
        Inode inode = names.get(from);
        if (inode == null) {
            throw new NoSuchFileException(from);
        }
        if (!replace && names.containsKey(to)) {
            throw new FileAlreadyExistsException(to);
        }
        requireParent(to);
        operation();
        names.remove(from);
        Inode replaced = names.put(to, inode);
        if (replaced != null) {
            usedPages -= replaced.pages.size();
        }
        pending.add(new Change(parent(to), from, to, inode));
    }

    List<String> list(String directory) {
        List<String> found = new ArrayList<>();
        for (String name : names.keySet()) {
            if (parent(name).equals(directory)) {
                found.add(name);
            }
        }
        for (String name : directories) {
            if (!name.equals("/") && parent(name).equals(directory)) {
                found.add(name);
            }
        }
        return found;
    }

    void forceDirectory(String directory) throws IOException {
        operation();
        failIfTold();
        Iterator<Change> changes = pending.iterator();
        while (changes.hasNext()) {
            Change change = changes.next();
            if (change.directory.equals(directory)) {
                apply(change);
                changes.remove();
            }
        }
    }

    private void apply(Change change) {
        if (change.target == null && change.inode == null) {
            durableDirectories.add(change.path);
        } else if (change.target == null) {
            durableNames.put(change.path, change.inode);
        } else if (change.target.isEmpty()) {
            durableNames.remove(change.path);
            durableDirectories.remove(change.path);
        } else {
            durableNames.remove(change.path);
            durableNames.put(change.target, change.inode);
        }
    }

    private void requireParent(String path) throws IOException {
        if (!directories.contains(parent(path))) {
            throw new NoSuchFileException(parent(path));
        }
    }

    static String parent(String path) {
        int slash = path.lastIndexOf('/');
        return slash <= 0 ? "/" : path.substring(0, slash);
    }

    // ---- content

    int read(Inode inode, ByteBuffer target, long position) {
        alive();
        if (position >= inode.size) {
            return -1;
        }
        int length = (int) Math.min(target.remaining(), inode.size - position);
        long at = position;
        for (int left = length; left > 0; ) {
            int offset = (int) (at % PAGE);
            int part = Math.min(left, PAGE - offset);
            target.put(inode.pages.get((int) (at / PAGE)), offset, part);
            at += part;
            left -= part;
        }
        return length;
    }

    /** Writes all, or as much as fits on the disk. */
    int write(Inode inode, ByteBuffer source, long position) throws IOException {
        alive();
        int length = source.remaining();
        boolean ends = ++operations >= crashAt;
        int reached = ends ? random.nextInt(length + 1) : length;
        int written = 0;
        while (written < reached) {
            long at = position + written;
            int page = (int) (at / PAGE);
            if (!ensurePages(inode, page + 1)) {
                break;
            }
            int offset = (int) (at % PAGE);
            int part = Math.min(reached - written, PAGE - offset);
            put(inode, page, offset, source, part);
            written += part;
            inode.size = Math.max(inode.size, at + part);
        }
        if (ends) {
            crash();
        }
        if (written == 0 && length > 0) {
            throw new IOException("No space left on device");
        }
        return written;
    }

    private void put(Inode inode, int page, int offset, ByteBuffer source, int length) {
        byte[] present = inode.pages.get(page);
        boolean isZero = present == ZEROS && isZero(source, length);
        if (isZero) {
            source.position(source.position() + length);
        } else {
            boolean isShared =
                    present == ZEROS || (page < inode.durablePages.size() && inode.durablePages.get(page) == present);
            byte[] changed = isShared ? present.clone() : present;
            source.get(changed, offset, length);
            inode.pages.set(page, changed);
        }
        inode.dirty.set(page);
    }

    private static boolean isZero(ByteBuffer source, int length) {
        return source.slice(source.position(), length)
                        .mismatch(NOTHING.duplicate().limit(length))
                < 0;
    }

    private boolean ensurePages(Inode inode, int count) {
        while (inode.pages.size() < count) {
            if (usedPages >= capacityPages) {
                return false;
            }
            usedPages++;
            inode.pages.add(ZEROS);
            inode.dirty.set(inode.pages.size() - 1);
        }
        return true;
    }

    void truncate(Inode inode, long size) {
        if (size >= inode.size) {
            return;
        }
        operation();
        inode.size = size;
        int count = (int) ((size + PAGE - 1) / PAGE);
        while (inode.pages.size() > count) {
            inode.pages.remove(inode.pages.size() - 1);
            inode.dirty.clear(inode.pages.size());
            usedPages--;
        }
        int used = (int) (size % PAGE);
        if (used > 0) {
            byte[] last = inode.pages.get(count - 1).clone();
            java.util.Arrays.fill(last, used, PAGE, (byte) 0);
            inode.pages.set(count - 1, last);
            inode.dirty.set(count - 1);
        }
    }

    void force(Inode inode) throws IOException {
        whileForcing.run();
        operation();
        if (failingForces > 0) {
            inode.dirty.clear(); // the pages are not on the disk, and nobody will try again
            failIfTold();
        }
        while (inode.durablePages.size() > inode.pages.size()) {
            inode.durablePages.remove(inode.durablePages.size() - 1);
        }
        while (inode.durablePages.size() < inode.pages.size()) {
            inode.durablePages.add(ZEROS);
        }
        for (int page = inode.dirty.nextSetBit(0); page >= 0; page = inode.dirty.nextSetBit(page + 1)) {
            inode.durablePages.set(page, inode.pages.get(page));
        }
        inode.dirty.clear();
        inode.durableSize = inode.size;
    }

    private void failIfTold() throws IOException {
        if (failingForces > 0) {
            failingForces--;
            throw new IOException("Input/output error");
        }
    }

    /** Whether a power cut at this instant, with the worst of luck, would leave these bytes there under some name. */
    boolean isDurable(Inode inode, long position, byte[] bytes) {
        return position + bytes.length <= inode.durableSize
                && hasDurableName(inode)
                && matches(inode.durablePages, position, bytes);
    }

    private boolean hasDurableName(Inode inode) {
        for (Map.Entry<String, Inode> entry : durableNames.entrySet()) {
            if (entry.getValue() == inode && durableDirectories.contains(parent(entry.getKey()))) {
                return true;
            }
        }
        return false;
    }

    /** Whether these bytes are there now. */
    boolean isPresent(Inode inode, long position, byte[] bytes) {
        return position + bytes.length <= inode.size
                && names.containsValue(inode)
                && matches(inode.pages, position, bytes);
    }

    private static boolean matches(List<byte[]> pages, long position, byte[] bytes) {
        for (int i = 0; i < bytes.length; ) {
            long at = position + i;
            int page = (int) (at / PAGE);
            int offset = (int) (at % PAGE);
            int part = Math.min(bytes.length - i, PAGE - offset);
            if (page >= pages.size()
                    || !java.util.Arrays.equals(pages.get(page), offset, offset + part, bytes, i, i + part)) {
                return false;
            }
            i += part;
        }
        return true;
    }

    private void operation() {
        alive();
        if (++operations >= crashAt) {
            crash();
        }
    }

    private void crash() {
        isCrashed = true;
        throw new SimCrash();
    }

    private void alive() {
        if (isCrashed) {
            throw new SimCrash();
        }
    }

    /** Names and sizes, for a report. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, Inode> entry : names.entrySet()) {
            text.append(entry.getKey())
                    .append(' ')
                    .append(entry.getValue().size)
                    .append('\n');
        }
        return text.toString();
    }
}
