package io.holdfast.proxy.guard;

import io.holdfast.proxy.metrics.Meter;
import io.holdfast.proxy.testing.Packets;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;

/** What a malicious peer does, over and over, on a thread of its own; and where that has to show. */
enum Attack {
    /** A CONNECT at one byte per second. */
    ONE_BYTE_PER_SECOND(Meter.CONNECT_DEADLINE) {
        @Override
        void run(Attacker attacker) throws InterruptedException {
            byte[] connect = Packets.connect(Packets.V5, "drip", true);
            Socket[] sockets = new Socket[50];
            for (int i = 0; attacker.pause(1000); i = (i + 1) % connect.length) {
                for (int s = 0; s < sockets.length; s++) {
                    if (!attacker.send(sockets[s], new byte[] {connect[i]})) {
                        sockets[s] = attacker.open();
                    }
                }
            }
        }
    },
    /** No Keep Alive, and all but the last byte of the largest packet. */
    HALF_A_PACKET(Meter.CLOSED_UNFINISHED_PACKET) {
        @Override
        void run(Attacker attacker) throws InterruptedException {
            byte[] half = Arrays.copyOf(
                    Packets.publishFlags(Packets.V311, 2, 1, "half", Packets.NONE, new byte[MAX_PACKET - 20]),
                    MAX_PACKET - 100);
            for (int i = 0; attacker.pause(20); i++) {
                Socket socket = attacker.open();
                attacker.send(
                        socket,
                        new Packets.Connect(Packets.V311, "half" + i % 100)
                                .keepAlive(0)
                                .bytes());
                attacker.send(socket, half);
            }
        }
    },
    /** A packet that claims 256 MiB, as the first one and later. */
    CLAIMED_256_MIB(Meter.CLOSED_PROTOCOL) {
        @Override
        void run(Attacker attacker) throws InterruptedException {
            for (int i = 0; attacker.pause(5); i++) {
                Socket socket = attacker.open();
                attacker.send(
                        socket,
                        i % 2 == 0
                                ? Packets.hex("10 ff ff ff 7f")
                                : Packets.concat(
                                        Packets.connect(Packets.V5, "claim" + i % 100, true),
                                        Packets.hex("30 ff ff ff 7f 00 01 74")));
            }
        }
    },
    /** 30,000 User Properties of five bytes, as fast as they are acknowledged. */
    USER_PROPERTIES(Meter.DROPPED_CAP_USER_PROPERTIES) {
        @Override
        void run(Attacker attacker) throws InterruptedException {
            byte[] properties = Packets.concat(
                    Collections.nCopies(30_000, Packets.userProperty("", "")).toArray(new byte[0][]));
            byte[] publish = Packets.publishFlags(Packets.V5, 2, 1, "up", properties, new byte[1]);
            Socket socket = null;
            while (attacker.pause(1)) {
                if (!attacker.send(socket, publish)) {
                    socket = attacker.open();
                    attacker.send(socket, Packets.connect(Packets.V5, "properties", true));
                }
                attacker.read(socket, 4);
            }
        }
    },
    /** A thousand sockets that say nothing, opened again when they are closed. */
    SILENT_SOCKETS(Meter.SHED_UNCONNECTED) {
        @Override
        void run(Attacker attacker) throws InterruptedException {
            for (int i = 0; i < 1000 && attacker.isOn(); i++) {
                attacker.open();
            }
            while (attacker.pause(5)) {
                attacker.open();
            }
        }
    },
    /** CONNECT and RST, with one client id. */
    CONNECT_STORM(Meter.CONNECTIONS_ACCEPTED) {
        @Override
        void run(Attacker attacker) throws InterruptedException {
            byte[] connect = Packets.connect(Packets.V311, "dev2", false);
            while (attacker.pause(2)) {
                Socket socket = attacker.open();
                attacker.send(socket, connect);
                attacker.reset(socket);
            }
        }
    },
    /** PINGREQs without end, and no answer read. */
    DEAF(Meter.CLOSED_NOT_READING) {
        @Override
        void run(Attacker attacker) throws InterruptedException {
            byte[] pings = Packets.concat(
                    Collections.nCopies(10_000, Packets.pingreq()).toArray(new byte[0][]));
            Socket socket = null;
            while (attacker.pause(1)) {
                if (!attacker.send(socket, pings)) {
                    socket = attacker.open();
                    attacker.send(socket, Packets.connect(Packets.V311, "deaf", true));
                }
            }
        }
    },
    /** A good ClientHello, and then nothing. */
    TLS_WITHOUT_END(Meter.DEVICE_TLS_UNFINISHED) {
        @Override
        void run(Attacker attacker) throws IOException, InterruptedException {
            byte[] hello = clientHello();
            while (attacker.pause(20)) {
                attacker.send(attacker.open(), hello);
            }
        }
    },
    /** Bytes that are no MQTT. */
    GARBAGE(Meter.CLOSED_PROTOCOL) {
        @Override
        void run(Attacker attacker) throws InterruptedException {
            List<byte[]> garbage = List.of(
                    "GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII),
                    Packets.hex("16 03 01 02 00 01 00 01 fc 03 03"),
                    new byte[64],
                    Packets.concat(Packets.connect(Packets.V5, "g", true), Packets.hex("f0 00"), new byte[64]));
            for (int i = 0; attacker.pause(5); i++) {
                attacker.send(attacker.open(), garbage.get(i % garbage.size()));
            }
        }
    };

    /** What the proxy under attack allows, in bytes. */
    static final int MAX_PACKET = 1024 * 1024;

    private final Meter shows;

    Attack(Meter shows) {
        this.shows = shows;
    }

    /** Whether it is meant for the listener that speaks TLS. */
    boolean overTls() {
        return this == TLS_WITHOUT_END;
    }

    private static byte[] clientHello() throws IOException {
        try {
            SSLEngine engine = SSLContext.getDefault().createSSLEngine();
            engine.setUseClientMode(true);
            engine.beginHandshake();
            ByteBuffer hello = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
            engine.wrap(ByteBuffer.allocate(0), hello);
            return Arrays.copyOf(hello.array(), hello.position());
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    /** The counter that has to grow. */
    Meter shows() {
        return shows;
    }

    /** Returns when {@link Attacker#pause} says that it is over. */
    abstract void run(Attacker attacker) throws IOException, InterruptedException;
}
