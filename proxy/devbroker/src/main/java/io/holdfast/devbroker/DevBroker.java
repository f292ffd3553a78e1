package io.holdfast.devbroker;

import com.hivemq.embedded.EmbeddedHiveMQ;
import java.io.IOException;
import java.nio.file.Files;
import java.util.concurrent.ExecutionException;

/**
 * HiveMQ CE on a loopback port, for the demo and for tests; every client is let in.
 *
 * <p>Prints the line {@code READY port} once the listener is bound. Ends with exit code 0 when standard input closes
 * (so it does not outlive the process that started it) or with the usual 143 on SIGTERM; 1 when the broker does not
 * start, 2 on bad usage.
 */
public final class DevBroker {

    private DevBroker() {}

    /**
     * Runs the broker until standard input ends.
     *
     * @param args see {@link Settings#USAGE}
     */
    public static void main(final String[] args) {
        try {
            run(Settings.parse(args));
        } catch (final IllegalArgumentException e) {
            System.err.println("devbroker: " + e.getMessage());
            System.err.println(Settings.USAGE);
            System.exit(2);
        } catch (final ExecutionException | IOException | InterruptedException e) {
            System.err.println("devbroker: " + e);
            System.exit(1);
        }
        System.exit(0);
    }

    private static void run(final Settings settings) throws IOException, ExecutionException, InterruptedException {
        final var config = Files.createDirectories(settings.data().resolve("conf"));
        final var data = Files.createDirectories(settings.data().resolve("data"));
        final var extensions = Files.createDirectories(settings.data().resolve("extensions"));
        System.setProperty("hivemq.log.folder", settings.data().resolve("log").toString());
        Files.writeString(config.resolve("config.xml"), settings.configXml());

        final EmbeddedHiveMQ broker = EmbeddedHiveMQ.builder()
                .withConfigurationFolder(config)
                .withDataFolder(data)
                .withExtensionsFolder(extensions)
                .build();
        broker.start().get();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> broker.stop().join(), "devbroker-stop"));
        System.out.println("READY " + settings.port());

        while (System.in.read() >= 0) {
            // Whatever is typed is of no interest, only the end of it.
        }
    }
}
