package io.holdfast.proxy.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** The shipped logback.xml. */
class LogPatternTest {
    @Test
    void aPeerCannotWriteLinesOfItsOwn() {
        Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        ConsoleAppender<ILoggingEvent> stdout = (ConsoleAppender<ILoggingEvent>) root.getAppender("stdout");
        PatternLayoutEncoder encoder = (PatternLayoutEncoder) stdout.getEncoder();
        LoggingEvent event = new LoggingEvent(
                "", root, Level.INFO, "Closing client '{}'", null, new Object[] {"a\r\nb\u0085c\u001b[31m é 漢"});
        String line = encoder.getLayout().doLayout(event);
        assertTrue(line.endsWith("Closing client 'a??b?c?[31m é 漢'" + System.lineSeparator()), line);
    }
}
