package io.holdfast.proxy.tls;

import io.netty.handler.ssl.SslContext;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What connections are secured with, made anew when one of its files changes. Connections that stand keep what they have.
 * {@link #use} from any thread; {@link #reloadIfChanged} from one, which may wait for the disk.
 */
final class ReloadingContext implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ReloadingContext.class);

    private final List<Path> files;
    private final Maker maker;
    private List<String> loaded;
    private List<String> lastSeen;
    private SslContext context; // guarded by this: it is counted, and may be replaced while it is used

    /** Reads the files. */
    interface Maker {
        SslContext make() throws IOException;
    }

    /**
     * Makes the first.
     *
     * @throws IOException naming the flag and the file, and what to do.
     */
    ReloadingContext(List<Path> files, Maker maker) throws IOException {
        this.files = files;
        this.maker = maker;
        this.loaded = stamps();
        this.lastSeen = loaded;
        this.context = maker.make();
    }

    synchronized <T> T use(Function<SslContext, T> action) {
        return action.apply(context);
    }

    /**
     * Looks at the files; to be called again and again. They are read once they have stayed the same between two calls,
     * so that a certificate and its key may be replaced one after the other. Bad new ones are logged, the old ones kept.
     */
    void reloadIfChanged() {
        List<String> now = stamps();
        boolean settled = now.equals(lastSeen);
        lastSeen = now;
        if (!settled || now.equals(loaded)) {
            return;
        }
        loaded = now;
        try {
            replace(maker.make());
            LOG.info("New connections use the new {}", files);
        } catch (IOException e) {
            LOG.error("{}. The old one stays in use", e.getMessage());
        }
    }

    private synchronized void replace(SslContext fresh) {
        ReferenceCountUtil.release(context);
        context = fresh;
    }

    private List<String> stamps() {
        List<String> stamps = new ArrayList<>();
        for (Path file : files) {
            try {
                stamps.add(Files.getLastModifiedTime(file) + " " + Files.size(file));
            } catch (IOException e) {
                stamps.add(e.toString());
            }
        }
        return stamps;
    }

    @Override
    public synchronized void close() {
        ReferenceCountUtil.release(context);
    }
}
