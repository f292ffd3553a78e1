package io.holdfast.proxy.sim;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.AppenderBase;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.LongStream;
import org.slf4j.LoggerFactory;

/** Plays seeds; a seed that fails is played once more, to tell what led to it. */
public final class Seeds {
    private static final ThreadLocal<Simulation> CURRENT = new ThreadLocal<>();
    private static final Lines LINES = new Lines();
    private static final Map<String, Level> WATCHED = Map.of(
            "io.holdfast", Level.OFF,
            "io.holdfast.proxy.guard.ChannelErrors", Level.ERROR,
            "io.netty", Level.OFF,
            "io.netty.util.concurrent", Level.WARN,
            "io.netty.channel", Level.WARN);

    private Seeds() {}

    /** Plays them on every processor. */
    static void play(long from, int count) {
        long begin = System.nanoTime();
        LongAdder steps = new LongAdder();
        LongAdder crashes = new LongAdder();
        quietly(() -> LongStream.range(from, from + count).parallel().forEach(seed -> {
            Simulation simulation = new Simulation(seed, false);
            try {
                run(simulation);
            } catch (BrokenPromise e) {
                throw new AssertionError(report(seed, simulation, e), e);
            }
            steps.add(simulation.steps());
            crashes.add(simulation.crashes());
        }));
        double seconds = (System.nanoTime() - begin) / 1e9;
        System.out.printf(
                "%d seeds from %d: %d steps, %d crashes in %.1f s, %.0f seeds/s%n",
                count, from, steps.sum(), crashes.sum(), seconds, count / seconds);
    }

    /** Plays seeds until one fails in a way that holds this text; called by name, on classes of another loader. Or null. */
    public static String firstFailure(long from, int count, String text) {
        String[] failure = new String[1];
        quietly(() -> {
            for (long seed = from; seed < from + count && failure[0] == null; seed++) {
                try {
                    run(new Simulation(seed, false));
                } catch (BrokenPromise e) {
                    failure[0] = e.getMessage().contains(text) ? "seed " + seed + ": " + e.getMessage() : null;
                }
            }
        });
        return failure[0];
    }

    /** Ends the process at each change of the disk in turn, by a kill and by a power cut. Returns how many. */
    static long crashEverywhere(long seed) {
        long[] operations = new long[1];
        quietly(() -> {
            Simulation whole = new Simulation(seed, false, true);
            run(whole);
            operations[0] = whole.operations();
            LongStream.rangeClosed(1, 2 * operations[0]).parallel().forEach(i -> {
                Simulation simulation = new Simulation(seed, false, true).crashAt((i + 1) / 2, i % 2 == 0);
                try {
                    run(simulation);
                } catch (BrokenPromise e) {
                    String where =
                            " with the process ended at change " + (i + 1) / 2 + " of the disk, power " + (i % 2 == 0);
                    throw new AssertionError(e.getMessage() + where + "\n" + simulation, e);
                }
            });
        });
        return 2 * operations[0];
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
        logger("io.holdfast").setLevel(Level.INFO);
        try {
            run(again);
            second = "it does not fail again: it is not deterministic";
        } catch (BrokenPromise same) {
            second = same.getMessage().equals(e.getMessage()) ? "" : "it fails otherwise: " + same.getMessage();
        } finally {
            logger("io.holdfast").setLevel(Level.OFF);
        }
        List<String> trace = again.trace();
        return e.getMessage() + "\n" + failed + "\n" + second + "\n" + String.join("\n", trace);
    }

    /** Thousands of crashes would be logged; what a log line alone tells of goes to the simulation. */
    private static synchronized void quietly(Runnable playing) {
        Map<String, Level> before = new HashMap<>();
        WATCHED.forEach((name, level) -> {
            Logger logger = logger(name);
            before.put(name, logger.getLevel());
            LINES.setContext(logger.getLoggerContext());
            LINES.start();
            logger.setLevel(level);
            logger.setAdditive(false);
            logger.addAppender(LINES);
        });
        try {
            playing.run();
        } finally {
            before.forEach((name, level) -> {
                Logger logger = logger(name);
                logger.setLevel(level);
                logger.setAdditive(true);
                logger.detachAppender(LINES);
            });
        }
    }

    private static Logger logger(String name) {
        return (Logger) LoggerFactory.getLogger(name);
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
