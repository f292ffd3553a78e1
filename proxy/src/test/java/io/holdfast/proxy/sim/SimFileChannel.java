package io.holdfast.proxy.sim;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;

/** An open file or directory of a {@link SimDisk}; dead once the simulated process has ended. */
final class SimFileChannel extends FileChannel {
    private final SimDisk disk;
    private final SimDisk.Inode inode;
    private final String path;
    private final int epoch;
    private final boolean append;
    private long position;

    /** {@code inode} is null for a directory. */
    SimFileChannel(SimDisk disk, SimDisk.Inode inode, String path, boolean append) {
        this.disk = disk;
        this.inode = inode;
        this.path = path;
        this.append = append;
        this.epoch = disk.epoch();
    }

    SimDisk.Inode inode() {
        return inode;
    }

    private void check() throws IOException {
        if (epoch != disk.epoch()) {
            throw new SimCrash();
        }
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        int read = read(target, position);
        position += Math.max(0, read);
        return read;
    }

    @Override
    public int read(ByteBuffer target, long at) throws IOException {
        check();
        return disk.read(inode, target, at);
    }

    @Override
    public long read(ByteBuffer[] targets, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        if (append) {
            position = inode.size();
        }
        int written = write(source, position);
        position += written;
        return written;
    }

    @Override
    public int write(ByteBuffer source, long at) throws IOException {
        check();
        return disk.write(inode, source, at);
    }

    @Override
    public long write(ByteBuffer[] sources, int offset, int length) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long position() {
        return position;
    }

    @Override
    public FileChannel position(long newPosition) {
        position = newPosition;
        return this;
    }

    @Override
    public long size() throws IOException {
        check();
        return inode.size();
    }

    @Override
    public FileChannel truncate(long size) throws IOException {
        check();
        disk.truncate(inode, size);
        return this;
    }

    @Override
    public void force(boolean metaData) throws IOException {
        check();
        if (inode == null) {
            disk.forceDirectory(path);
        } else {
            disk.force(inode);
        }
    }

    @Override
    public long transferTo(long from, long count, WritableByteChannel target) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(count, inode.size() - from));
        read(bytes, from);
        return target.write(bytes.flip());
    }

    @Override
    public long transferFrom(ReadableByteChannel source, long at, long count) {
        throw new UnsupportedOperationException();
    }

    @Override
    public MappedByteBuffer map(MapMode mode, long from, long size) {
        throw new UnsupportedOperationException();
    }

    @Override
    public FileLock lock(long from, long size, boolean shared) throws IOException {
        return tryLock(from, size, shared);
    }

    /** Always granted: there is one process, and what it held ends with it. */
    @Override
    public FileLock tryLock(long from, long size, boolean shared) throws IOException {
        check();
        return new FileLock(this, from, size, shared) {
            @Override
            public boolean isValid() {
                return isOpen();
            }

            @Override
            public void release() {
                // with the channel
            }
        };
    }

    @Override
    protected void implCloseChannel() {
        // nothing is held
    }
}
