package io.holdfast.store;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemEpochClock;
import org.agrona.concurrent.SystemNanoClock;
import org.slf4j.LoggerFactory;

/**
 * Settings of an {@link OutboxStore}. Set before {@link OutboxStore#open(StoreContext)}, which validates them once; not to be
 * changed afterwards. For one thread.
 */
public final class StoreContext {
    /** Default of {@link #segmentBytes(int)}: 16 MiB. */
    public static final int SEGMENT_BYTES_DEFAULT = 16 << 20;

    /** Least {@link #segmentBytes(int)}: the log's own bookkeeping takes 36 KiB of each segment. */
    public static final int SEGMENT_BYTES_MIN = 256 << 10;

    /** Greatest {@link #segmentBytes(int)}: 1 GiB. */
    public static final int SEGMENT_BYTES_MAX = 1 << 30;

    /** Greatest {@link #lanes(int)}. */
    public static final int LANES_MAX = 64;

    /** Greatest {@link #dedupMaxEntries(int)}. */
    public static final int DEDUP_ENTRIES_MAX = 20_000_000;

    private Path directory;
    private int lanes = 1;
    private int segmentBytes = SEGMENT_BYTES_DEFAULT;
    private long maxBytes = Long.MAX_VALUE;
    private long reserveBytes;
    private Durability durability = Durability.FSYNC;
    private String uplinkClientId;
    private String uplinkBroker = "";
    private List<String> routes = List.of();
    private long maxSessionExpiryMs = TimeUnit.HOURS.toMillis(24);
    private long dedupWindowMs = TimeUnit.MINUTES.toMillis(10);
    private int dedupMaxEntries;
    private EpochClock epochClock = SystemEpochClock.INSTANCE;
    private NanoClock nanoClock = SystemNanoClock.INSTANCE;
    private LaneLog.Factory logFactory = SegmentLog::new;
    private ErrorHandler errorHandler =
            error -> LoggerFactory.getLogger(OutboxStore.class).error("outbox", error);

    /**
     * The data directory; made with mode 0700 if it is not there.
     *
     * @param directory path.
     * @return this.
     */
    public StoreContext directory(final Path directory) {
        this.directory = directory;
        return this;
    }

    public Path directory() {
        return directory;
    }

    /**
     * Number of lanes, fixed in the data directory when it is made. Default 1, at most {@link #LANES_MAX}.
     *
     * @param lanes count.
     * @return this.
     */
    public StoreContext lanes(final int lanes) {
        this.lanes = lanes;
        return this;
    }

    public int lanes() {
        return lanes;
    }

    /**
     * Bytes of records in one segment; its file is a quarter larger. The largest record is a quarter of it. A multiple of
     * 64 KiB between {@link #SEGMENT_BYTES_MIN} and {@link #SEGMENT_BYTES_MAX}, default 16 MiB.
     *
     * @param segmentBytes bytes.
     * @return this.
     */
    public StoreContext segmentBytes(final int segmentBytes) {
        this.segmentBytes = segmentBytes;
        return this;
    }

    public int segmentBytes() {
        return segmentBytes;
    }

    /**
     * Bytes that the segments of all lanes together may take on disk before PUBLISH records are answered {@link Outcome#FULL}.
     *
     * @param maxBytes bytes; each lane has its equal share, at least two segment files per lane.
     * @return this.
     */
    public StoreContext maxBytes(final long maxBytes) {
        this.maxBytes = maxBytes;
        return this;
    }

    public long maxBytes() {
        return maxBytes;
    }

    /**
     * Free-space floor of the file system: no segment for PUBLISH records is made that would leave less. Default 0.
     *
     * @param reserveBytes bytes.
     * @return this.
     */
    public StoreContext reserveBytes(final long reserveBytes) {
        this.reserveBytes = reserveBytes;
        return this;
    }

    public long reserveBytes() {
        return reserveBytes;
    }

    public StoreContext durability(final Durability durability) {
        this.durability = durability;
        return this;
    }

    public Durability durability() {
        return durability;
    }

    /**
     * The Client Identifier of the uplink; null (default) takes the one that was made up with the data directory. Another one
     * than before is another session at the broker, so the uplink's history is void.
     *
     * @param uplinkClientId or null.
     * @return this.
     */
    public StoreContext uplinkClientId(final String uplinkClientId) {
        this.uplinkClientId = uplinkClientId;
        return this;
    }

    public String uplinkClientId() {
        return uplinkClientId;
    }

    /**
     * The broker that the uplink delivers to. Another one than before knows nothing of the flows that the journal is about, so
     * the uplink's history is void then. Default empty: not said.
     *
     * @param uplinkBroker its address.
     * @return this.
     */
    public StoreContext uplinkBroker(final String uplinkBroker) {
        this.uplinkBroker = uplinkBroker;
        return this;
    }

    public String uplinkBroker() {
        return uplinkBroker;
    }

    /**
     * The texts of the configured routes; each gets a number that stays the same for the life of the data directory.
     *
     * @param routes texts.
     * @return this.
     */
    public StoreContext routes(final List<String> routes) {
        this.routes = List.copyOf(routes);
        return this;
    }

    public List<String> routes() {
        return routes;
    }

    /**
     * How long the received Packet Identifiers of a client are kept when its own Session Expiry Interval is not known, as
     * after a restart. Default 24 h.
     *
     * @param maxSessionExpiryMs milliseconds.
     * @return this.
     */
    public StoreContext maxSessionExpiryMs(final long maxSessionExpiryMs) {
        this.maxSessionExpiryMs = maxSessionExpiryMs;
        return this;
    }

    public long maxSessionExpiryMs() {
        return maxSessionExpiryMs;
    }

    /**
     * Within which time a message of the same identity is a repetition. Default 10 min.
     *
     * @param dedupWindowMs milliseconds.
     * @return this.
     */
    public StoreContext dedupWindowMs(final long dedupWindowMs) {
        this.dedupWindowMs = dedupWindowMs;
        return this;
    }

    public long dedupWindowMs() {
        return dedupWindowMs;
    }

    /**
     * How many identities are remembered, over all lanes; above it the oldest are forgotten early, and counted. Default 0:
     * messages are not compared. Each takes 32 to 40 bytes of direct memory and 32 on disk.
     *
     * @param dedupMaxEntries count, 0 or at least one per lane.
     * @return this.
     */
    public StoreContext dedupMaxEntries(final int dedupMaxEntries) {
        this.dedupMaxEntries = dedupMaxEntries;
        return this;
    }

    public int dedupMaxEntries() {
        return dedupMaxEntries;
    }

    public StoreContext epochClock(final EpochClock epochClock) {
        this.epochClock = epochClock;
        return this;
    }

    public EpochClock epochClock() {
        return epochClock;
    }

    public StoreContext nanoClock(final NanoClock nanoClock) {
        this.nanoClock = nanoClock;
        return this;
    }

    public NanoClock nanoClock() {
        return nanoClock;
    }

    /**
     * Told of what went wrong but did not stop the store, for example a checkpoint that could not be written.
     *
     * @param errorHandler called on the thread that met the error.
     * @return this.
     */
    public StoreContext errorHandler(final ErrorHandler errorHandler) {
        this.errorHandler = errorHandler;
        return this;
    }

    public ErrorHandler errorHandler() {
        return errorHandler;
    }

    /** Bytes of one segment file: the log maps a quarter more than the segment holds. */
    /** The log library, unless a test runs on a simulated disk. */
    StoreContext logFactory(final LaneLog.Factory logFactory) {
        this.logFactory = logFactory;
        return this;
    }

    LaneLog.Factory logFactory() {
        return logFactory;
    }

    static long fileBytes(final int segmentBytes) {
        return segmentBytes + segmentBytes / 4L;
    }

    long maxBytesPerLane() {
        return maxBytes / lanes;
    }

    void conclude() throws StoreException {
        if (directory == null) {
            throw new StoreException("no data directory is set: give one with --data-dir");
        }
        check(lanes >= 1 && lanes <= LANES_MAX, "--lanes must be between 1 and " + LANES_MAX + ", is " + lanes);
        check(
                segmentBytes >= SEGMENT_BYTES_MIN
                        && segmentBytes <= SEGMENT_BYTES_MAX
                        && segmentBytes % (64 << 10) == 0,
                "--segment-bytes must be a multiple of 64KiB between " + SEGMENT_BYTES_MIN + " and " + SEGMENT_BYTES_MAX
                        + ", is " + segmentBytes);
        check(
                maxBytesPerLane() >= 2 * fileBytes(segmentBytes),
                "--outbox-max-bytes must hold two segment files per lane (" + 2L * lanes * fileBytes(segmentBytes)
                        + " bytes with this --segment-bytes), is " + maxBytes);
        check(uplinkClientId == null || uplinkClientId.lines().count() == 1, "--uplink-client-id must be one line");
        check(
                dedupMaxEntries >= 0 && dedupMaxEntries <= DEDUP_ENTRIES_MAX,
                "--dedup-max-entries must be at most " + DEDUP_ENTRIES_MAX + ", is " + dedupMaxEntries);
        check(reserveBytes >= 0, "--disk-reserve-bytes must not be negative, is " + reserveBytes);
        check(routes.size() <= RouteTable.MAX_ROUTES, "more than " + RouteTable.MAX_ROUTES + " routes");
        check(maxSessionExpiryMs >= 0, "--max-session-expiry must not be negative, is " + maxSessionExpiryMs);
    }

    private static void check(final boolean condition, final String message) throws StoreException {
        if (!condition) {
            throw new StoreException(message);
        }
    }
}
