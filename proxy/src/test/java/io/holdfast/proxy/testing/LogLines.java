package io.holdfast.proxy.testing;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** The lines that one class of the proxy in this JVM logs, at INFO and above, from {@link #of} on. */
public final class LogLines implements AutoCloseable {
    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Logger logger;
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            if (event.getLevel().isGreaterOrEqual(ch.qos.logback.classic.Level.INFO)) {
                lines.add(event.getFormattedMessage());
            }
        }
    };

    private LogLines(Class<?> type) {
        logger = (Logger) LoggerFactory.getLogger(type);
        appender.start();
        logger.addAppender(appender);
    }

    /** Listens to the logger of {@code type}. */
    public static LogLines of(Class<?> type) {
        return new LogLines(type);
    }

    /** The lines so far that contain {@code text}. */
    public List<String> with(String text) {
        return lines.stream().filter(line -> line.contains(text)).toList();
    }

    @Override
    public void close() {
        logger.detachAppender(appender);
    }
}
