package io.holdfast.proxy.testing;

import com.github.dockerjava.api.DockerClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.ContainerLaunchException;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.AbstractWaitStrategy;
import org.testcontainers.images.PullPolicy;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.utility.DockerImageName;

/**
 * A broker from an image, in a container of its own. Its state lives as long as the container, so it survives {@link #stop()}.
 * Its port is fixed, since the engine would give it another one at each start.
 */
public final class ContainerBroker implements Broker {
    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final int STOP_S = 30;
    private static final int MQTT = 1883;

    private final int port = FreePorts.next();
    private final GenericContainer<?> container;

    private ContainerBroker(String image, Map<String, String> environment) {
        container = new GenericContainer<>(DockerImageName.parse(image));
        container.withEnv(environment);
        container.setPortBindings(List.of("127.0.0.1:" + port + ":" + MQTT));
        container.withImagePullPolicy(ContainerEngine.PULL ? PullPolicy.defaultPolicy() : name -> false);
        container.waitingFor(new Nothing());
    }

    /** Mosquitto with the limits that README asks for; the image has to start {@code /mosquitto/config/mosquitto.conf}. */
    public static ContainerBroker mosquitto(String image) {
        ContainerBroker broker = new ContainerBroker(image, Map.of());
        String config = String.join(
                "\n",
                "listener " + MQTT,
                "allow_anonymous true",
                "user root",
                "persistence true",
                "persistence_location /tmp/",
                "max_queued_messages 0",
                "max_inflight_messages 0",
                "log_dest stdout",
                "");
        broker.container.withCopyToContainer(Transferable.of(config), "/mosquitto/config/mosquitto.conf");
        return broker;
    }

    /** EMQX 5 with the limits that README asks for, and with sessions that survive a restart. */
    public static ContainerBroker emqx(String image) {
        return new ContainerBroker(
                image,
                Map.of(
                        "EMQX_NODE__NAME", "emqx@127.0.0.1",
                        "EMQX_DURABLE_SESSIONS__ENABLE", "true",
                        "EMQX_MQTT__MAX_INFLIGHT", "1000",
                        "EMQX_MQTT__MAX_AWAITING_REL", "infinity",
                        "EMQX_MQTT__MAX_MQUEUE_LEN", "infinity"));
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public void start() {
        try {
            if (container.getContainerId() == null) {
                container.start();
            } else {
                docker().startContainerCmd(container.getContainerId()).exec();
            }
            Awaitility.await()
                    .atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(100))
                    .until(this::answersConnect);
        } catch (ContainerLaunchException | ConditionTimeoutException e) {
            String log = container.getContainerId() == null ? "" : log();
            close();
            throw new AssertionError("the broker does not start: " + e.getMessage() + "\n" + log, e);
        }
    }

    /** The port alone says nothing: the engine itself may accept on it. */
    private boolean answersConnect() {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            MqttSocket mqtt = new MqttSocket(socket);
            mqtt.send(new Packets.Connect(Packets.V311, "is-it-up").bytes());
            Packet connack = mqtt.read(Duration.ofSeconds(2));
            return connack != null && connack.type() == Packet.CONNACK && connack.reasonCode() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void stop() {
        docker().stopContainerCmd(container.getContainerId())
                .withTimeout(STOP_S)
                .exec();
    }

    @Override
    public void kill() {
        docker().killContainerCmd(container.getContainerId()).exec();
    }

    /** Freezes it: connections stay open, nothing is answered. */
    public void pause() {
        docker().pauseContainerCmd(container.getContainerId()).exec();
    }

    /** Lets it go on. */
    public void unpause() {
        docker().unpauseContainerCmd(container.getContainerId()).exec();
    }

    private static DockerClient docker() {
        return DockerClientFactory.instance().client();
    }

    @Override
    public String log() {
        return container.getLogs();
    }

    /** Removes the container. */
    @Override
    public void close() {
        container.stop();
    }

    /** {@link #start()} itself waits, at a restart too. */
    private static final class Nothing extends AbstractWaitStrategy {
        @Override
        protected void waitUntilReady() {
            // see above
        }
    }
}
