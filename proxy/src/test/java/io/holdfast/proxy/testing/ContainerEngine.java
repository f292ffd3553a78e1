package io.holdfast.proxy.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.github.dockerjava.api.exception.NotFoundException;
import org.junit.jupiter.api.Assumptions;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;

/** The container engine of this machine, if there is one. Tests that need more than it offers are skipped, and say why. */
public final class ContainerEngine {
    /** With {@code -Dholdfast.docker.pull=true} images that are missing are pulled; else nothing ever is. */
    static final boolean PULL = Boolean.getBoolean("holdfast.docker.pull");

    private static final String NO_REAPER = "TESTCONTAINERS_RYUK_DISABLED";
    private static final String REASON = reasonAgainst();

    private ContainerEngine() {}

    /** Skips the test if no engine answers, or if the image is not on it and may not be pulled. */
    public static void assumeImage(String image) {
        Assumptions.assumeTrue(REASON == null, REASON);
        Assumptions.assumeTrue(
                PULL || isPresent(image),
                () -> "the image " + image + " is not on the container engine: docker pull it, name another one, or"
                        + " use -Dholdfast.docker.pull=true");
    }

    private static String reasonAgainst() {
        if (!PULL && !Boolean.parseBoolean(System.getenv(NO_REAPER))) {
            return "set " + NO_REAPER + "=true, as make does; else Testcontainers would pull an image of its own";
        }
        // What it finds missing is told by the line above, not by a page of log.
        Logger logger = (Logger) LoggerFactory.getLogger("org.testcontainers");
        Level before = logger.getLevel();
        logger.setLevel(Level.OFF);
        try {
            if (!DockerClientFactory.instance().isDockerAvailable()) {
                return "no container engine answers (docker info says why)";
            }
            String host = DockerClientFactory.instance().dockerHostIpAddress();
            return host.equals("localhost") || host.equals("127.0.0.1")
                    ? null
                    : "the ports of the container engine are on " + host + ", the tests look for them on"
                            + " 127.0.0.1; if they are there too, set TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1";
        } finally {
            logger.setLevel(before);
        }
    }

    private static boolean isPresent(String image) {
        try {
            DockerClientFactory.instance().client().inspectImageCmd(image).exec();
            return true;
        } catch (NotFoundException e) {
            return false;
        }
    }
}
