package io.holdfast.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The log library's place taken by plain writes of the same file format: its mapped files cannot lie on a simulated disk. The
 * library's own data (its header, which it changes with each record, and an index page now and then) is there in length, not
 * in content.
 */
public final class SimulatedLog implements LaneLog {
    private static final int SEGMENT_START = 36 << 10;
    private static final int SLACK = 20 << 10;
    private static final int OWN_DATA = 0x4000_0000;
    private static final int RECORDS_PER_INDEX = 50;
    private static final int INDEX_LENGTH = 1020;
    private static final int WRITE_POSITION_OFFSET = 128;

    /** Told of every record that is appended. */
    public interface Listener {
        /**
         * A record was appended.
         *
         * @param file     it lies in.
         * @param position of its first byte.
         * @param record   with sequence, send number and checksum; valid for the call.
         * @param bytes    of the record.
         */
        void appended(FileChannel file, long position, RecordView record, byte[] bytes);
    }

    private final Path directory;
    private final int segmentBytes;
    private final boolean force;
    private final Listener listener;
    private final RecordView view = new RecordView();
    private FileChannel channel;
    private int segment = -1;
    private boolean isFileNew;
    private int records;
    private long end;

    private SimulatedLog(Path directory, int segmentBytes, boolean force, Listener listener) {
        this.directory = directory;
        this.segmentBytes = segmentBytes;
        this.force = force;
        this.listener = listener;
    }

    /** Has a store use such logs. */
    public static StoreContext use(StoreContext context, Listener listener) {
        return context.logFactory((directory, bytes, force) -> new SimulatedLog(directory, bytes, force, listener));
    }

    @Override
    public boolean isOpen() {
        return segment >= 0;
    }

    @Override
    public int remaining() {
        return (int) Math.max(0, segmentBytes - SLACK - Math.max(end, SEGMENT_START));
    }

    @Override
    public void roll(int nextSegment) throws IOException {
        closeChannel();
        segment = nextSegment;
        isFileNew = true;
        records = 0;
        end = 0;
    }

    @Override
    public void append(DirectBuffer record, int offset, int length) throws IOException {
        if (length > remaining()) {
            throw new IOException("record of " + length + " bytes does not fit into segment " + segment);
        }
        if (channel == null) {
            Path live = directory.resolve(SegmentName.of(segment, SegmentName.LIVE));
            Files.move(directory.resolve(SegmentName.of(segment, SegmentName.PRECREATED)), live);
            channel = FileChannel.open(live, StandardOpenOption.READ, StandardOpenOption.WRITE);
            putInt(0, OWN_DATA | (SEGMENT_START - Integer.BYTES));
            end = SEGMENT_START;
        }
        if (++records % RECORDS_PER_INDEX == 0) {
            putInt(end, OWN_DATA | INDEX_LENGTH);
            end += Integer.BYTES + INDEX_LENGTH;
        }
        byte[] bytes = new byte[length];
        record.getBytes(offset, bytes);
        long start = end + Integer.BYTES;
        DurableFiles.writeFully(channel, ByteBuffer.wrap(bytes), start);
        listener.appended(channel, start, view.wrap(new UnsafeBuffer(bytes), 0, length), bytes);
        putInt(end, length); // only now: a record that is not whole has no header
        putInt(WRITE_POSITION_OFFSET, (int) end);
        end = (start + length + 3) & ~3L;
    }

    private void putInt(long position, int value) throws IOException {
        ByteBuffer word = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        DurableFiles.writeFully(channel, word.putInt(value).flip(), position);
    }

    @Override
    public long position() {
        return segment < 0 ? 0 : Position.of(segment, end);
    }

    @Override
    public void force() throws IOException {
        if (!force || channel == null) {
            return;
        }
        channel.force(isFileNew);
        if (isFileNew) {
            DurableFiles.forceDirectory(directory);
            isFileNew = false;
        }
    }

    @Override
    public void close() throws IOException {
        closeChannel();
        segment = -1;
    }

    private void closeChannel() throws IOException {
        if (channel != null) {
            channel.close();
            channel = null;
        }
    }
}
