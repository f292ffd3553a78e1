package io.holdfast.proxy.crash;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/**
 * Ends the JVM it is loaded into, or holds the thread for ever, when a {@link CrashPoint} is reached for the n-th time. Its jar
 * holds a manifest only; the classes come from the class path of the tests.
 */
public final class CrashPointAgent {
    /** How a JVM ends that reached its point. */
    static final int EXIT_CODE = 86;

    /** What is printed by a JVM that reached its point and holds the thread there. */
    static final String REACHED = "crash point reached";

    private static final String HALT = "halt";
    private static final String HOLD = "hold";

    private static CrashPoint point;
    private static boolean halts;
    private static final AtomicInteger timesLeft = new AtomicInteger();
    private static volatile boolean armed;

    private CrashPointAgent() {}

    /**
     * The JVM flag that prepares for a point.
     *
     * @param nth   the time that counts, from 1
     * @param halts true to end the JVM there, false to hold the thread
     */
    static String flag(CrashPoint point, int nth, boolean halts) {
        return "-javaagent:" + Jar.FILE + "=" + point + "," + nth + "," + (halts ? HALT : HOLD);
    }

    /** Called by the JVM before the program. */
    public static void premain(String arguments, Instrumentation instrumentation) {
        String[] parts = arguments.split(",", -1);
        point = CrashPoint.valueOf(parts[0]);
        timesLeft.set(Integer.parseInt(parts[1]));
        halts = parts[2].equals(HALT);
        armed = point.armedBy == null;
        if (point.armedBy != null) {
            instrumentation.addTransformer(new CrashPointWeaver(point.armedBy, true));
        }
        instrumentation.addTransformer(new CrashPointWeaver(point.place, false));
    }

    /** Called by the woven code. */
    public static void reached(boolean isArming, int argument) {
        Place place = isArming ? point.armedBy : point.place;
        if ((place.argument() != Place.ANY && place.argument() != argument) || !isCalledBy(place.via())) {
            return;
        }
        if (isArming) {
            armed = true;
        } else if (armed) {
            armed = point.armedBy == null;
            if (timesLeft.decrementAndGet() == 0) {
                crash();
            }
        }
    }

    private static boolean isCalledBy(String className) {
        return className.isEmpty()
                || StackWalker.getInstance()
                        .walk(frames ->
                                frames.anyMatch(frame -> frame.getClassName().equals(className)));
    }

    private static void crash() {
        if (halts) {
            Runtime.getRuntime().halt(EXIT_CODE);
        }
        System.out.println(REACHED);
        System.out.flush();
        while (true) {
            LockSupport.park();
        }
    }

    /** Made once, when it is first wanted. */
    private static final class Jar {
        private static final Path FILE = make();

        private static Path make() {
            Manifest manifest = new Manifest();
            Attributes attributes = manifest.getMainAttributes();
            attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
            attributes.put(new Attributes.Name("Premain-Class"), CrashPointAgent.class.getName());
            try {
                Path file = Files.createTempFile("holdfast-test", ".jar");
                file.toFile().deleteOnExit();
                new JarOutputStream(Files.newOutputStream(file), manifest).close();
                return file;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
