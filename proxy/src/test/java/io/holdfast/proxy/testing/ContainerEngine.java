package io.holdfast.proxy.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.github.dockerjava.api.exception.NotFoundException;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;

/** The container engine of this machine, if there is one. Tests that need more than it offers are skipped, and say why. */
public final class ContainerEngine {
    private static final org.slf4j.Logger LOG = LoggerFactory.getLogger(ContainerEngine.class);

    /** With {@code -Dholdfast.docker.pull=true} images that are missing are pulled; else nothing ever is. */
    static final boolean PULL = Boolean.getBoolean("holdfast.docker.pull");

    /** Without these Testcontainers looks for images of its own, and waits for minutes where there is no registry. */
    private static final Map<String, String> NEEDED =
            Map.of("TESTCONTAINERS_RYUK_DISABLED", "true", "TESTCONTAINERS_HOST_OVERRIDE", "127.0.0.1");

    private static final String REASON = reasonAgainst();

    private ContainerEngine() {}

    /** Skips the test if no engine answers, or if the image is not on it and may not be pulled. */
    public static void assumeImage(String image) {
        assume(REASON);
        assume(
                PULL || isPresent(image)
                        ? null
                        : "the image " + image
                                + " is not on the container engine: docker pull it, name another one, or use"
                                + " -Dholdfast.docker.pull=true");
    }

    /** The reason in the log too: not every runner shows that of an assumption. */
    private static void assume(String reasonAgainst) {
        if (reasonAgainst != null) {
            LOG.warn("Skipped: {}", reasonAgainst);
            Assumptions.abort(reasonAgainst);
        }
    }

    private static String reasonAgainst() {
        for (Map.Entry<String, String> variable : NEEDED.entrySet()) {
            if (!variable.getValue().equals(System.getenv(variable.getKey()))) {
                return "set the environment variable " + variable + ", as Maven does";
            }
        }
        String address = System.getenv().getOrDefault("DOCKER_HOST", "unix:");
        if (!address.startsWith("unix:")) {
            return "the container engine at " + address
                    + " may be another machine; the tests look for its ports on this one";
        }
        // What it finds missing is told by the line here, not by a page of log.
        Logger logger = (Logger) LoggerFactory.getLogger("org.testcontainers");
        Level before = logger.getLevel();
        logger.setLevel(Level.OFF);
        try {
            return DockerClientFactory.instance().isDockerAvailable()
                    ? null
                    : "no container engine answers (docker info says why)";
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
