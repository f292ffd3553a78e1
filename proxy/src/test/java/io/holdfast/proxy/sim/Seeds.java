package io.holdfast.proxy.sim;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.LongStream;
import org.slf4j.LoggerFactory;

/** Plays seeds; a seed that fails is played once more, to tell what led to it. */
public final class Seeds {
    private static final ThreadLocal<Simulation> CURRENT = new ThreadLocal<>();
    private static final Lines LINES = new Lines();

    private Seeds() {}

    /** Plays them on every processor. */
    static void play(long from, int count) {
        quiet();
        long begin = System.nanoTime();
        LongAdder steps = new LongAdder();
        LongAdder crashes = new LongAdder();
        LongStream.range(from, from + count).parallel().forEach(seed -> {
            Simulation simulation = new Simulation(seed, false);
            try {
                run(simulation);
            } catch (BrokenPromise e) {
                throw new AssertionError(report(seed, simulation, e), e);
            }
            steps.add(simulation.steps());
            crashes.add(simulation.crashes());
        });
        double seconds = (System.nanoTime() - begin) / 1e9;
        System.out.printf(
                "%d seeds from %d: %d steps, %d crashes in %.1f s, %.0f seeds/s%n",
                count, from, steps.sum(), crashes.sum(), seconds, count / seconds);
    }

    /** Plays seeds until one fails in a way that holds this text; called by name, on classes of another loader. Or null. */
    public static String firstFailure(long from, int count, String text) {
        quiet();
        for (long seed = from; seed < from + count; seed++) {
            try {
                run(new Simulation(seed, false));
            } catch (BrokenPromise e) {
                if (e.getMessage().contains(text)) {
                    return "seed " + seed + ": " + e.getMessage();
                }
            }
        }
        return null;
    }

    /** Ends the process at each change of the disk in turn, by a kill and by a power cut. Returns how many. */
    static long crashEverywhere(long seed) {
        quiet();
        Simulation whole = new Simulation(seed, false, true);
        run(whole);
        long operations = whole.operations();
        LongStream.rangeClosed(1, 2 * operations).parallel().forEach(i -> {
            Simulation simulation = new Simulation(seed, false, true).crashAt((i + 1) / 2, i % 2 == 0);
            try {
                run(simulation);
            } catch (BrokenPromise e) {
                String where =
                        " with the process ended at change " + (i + 1) / 2 + " of the disk, power " + (i % 2 == 0);
                throw new AssertionError(e.getMessage() + where + "\n" + simulation, e);
            }
        });
        return 2 * operations;
    }

    static void run(Simulation simulation) {
        CURRENT.set(simulation);
        try {
            simulation.run();
        } finally {
            CURRENT.remove();
        }
    }

    private static String report(long seed, Simulation failed, BrokenPromise e) {
        Simulation again = new Simulation(seed, true);
        String second;
        logger().setLevel(Level.INFO);
        try {
            run(again);
            second = "it does not fail again: it is not deterministic";
        } catch (BrokenPromise same) {
            second = same.getMessage().equals(e.getMessage()) ? "" : "it fails otherwise: " + same.getMessage();
        } finally {
            quiet();
        }
        List<String> trace = again.trace();
        return e.getMessage() + "\n" + failed + "\n" + second + "\n" + String.join("\n", trace);
    }

    /** Thousands of crashes would be logged; what a log line alone tells of goes to the simulation. */
    static synchronized void quiet() {
        logger().setLevel(Level.OFF);
        logger().setAdditive(false);
        if (logger().getAppender(LINES.getName()) == null) {
            LINES.setContext(logger().getLoggerContext());
            LINES.start();
            logger().addAppender(LINES);
            watch("io.holdfast.proxy.guard.ChannelErrors", Level.ERROR);
            watch("io.netty", Level.OFF);
            watch("io.netty.util.concurrent", Level.WARN);
            watch("io.netty.channel", Level.WARN);
        }
        watch("io.holdfast.proxy.guard.ChannelErrors", Level.ERROR);
    }

    private static void watch(String name, Level level) {
        Logger logger = (Logger) LoggerFactory.getLogger(name);
        logger.setLevel(level);
        logger.setAdditive(false);
        if (logger.getAppender(LINES.getName()) == null) {
            logger.addAppender(LINES);
        }
    }

    private static Logger logger() {
        return (Logger) LoggerFactory.getLogger("io.holdfast");
    }

    private static final class Lines extends AppenderBase<ILoggingEvent> {
        Lines() {
            setName("simulation " + System.identityHashCode(Seeds.class)); // there may be one per class loader
        }

        @Override
        protected void append(ILoggingEvent event) {
            Simulation simulation = CURRENT.get();
            if (simulation == null) {
                return;
            }
            IThrowableProxy thrown = event.getThrowableProxy();
            String line = event.getFormattedMessage() + (thrown == null ? "" : ": " + thrown.getMessage());
            simulation.log(line);
            boolean isFault = event.getLoggerName().endsWith("ChannelErrors")
                    || event.getLoggerName().startsWith("io.netty");
            if (isFault && thrown != null && !thrown.getClassName().equals(SimCrash.class.getName())) {
                simulation.unexpected(line);
            }
        }
    }
}
