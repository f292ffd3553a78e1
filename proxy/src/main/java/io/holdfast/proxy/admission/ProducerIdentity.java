package io.holdfast.proxy.admission;

import io.holdfast.codec.PropertyCursor;
import io.holdfast.codec.PropertyId;
import io.holdfast.codec.PublishView;
import io.holdfast.proxy.ProxyContext;
import io.holdfast.store.IdentityHash;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The identity that a producer gave a message, together with who it is and the route: what two messages have in common of which
 * the second is a repetition. Of v5 PUBLISHes; never made of the content. One event loop; allocates only to grow.
 */
public final class ProducerIdentity {
    private static final byte[] MESSAGE_ID = "mqtt.message-id".getBytes(StandardCharsets.US_ASCII);
    private static final int ROUTE_LENGTH = Integer.BYTES;

    private final ProxyContext.DedupBy by;
    private final IdentityHash hash;
    private final PropertyCursor property = new PropertyCursor();
    private byte[] bytes = new byte[256];
    private final UnsafeBuffer buffer = new UnsafeBuffer(bytes);

    /** Looks where {@code by} says. */
    public ProducerIdentity(ProxyContext.DedupBy by, IdentityHash hash) {
        this.by = by;
        this.hash = hash;
    }

    /** Whether the message has an identity; then {@link #high()} and {@link #low()} stand for it. */
    boolean find(PublishView publish, byte[] clientId, int storeRoute) {
        if (by == ProxyContext.DedupBy.OFF || publish.propertiesLength() == 0) {
            return false;
        }
        ByteBuf frame = publish.buffer();
        property.wrap(frame, publish.propertiesOffset(), publish.propertiesLength());
        while (property.next()) {
            if (isIdentity(frame) && property.stringLength() > 0) {
                combine(frame, clientId, storeRoute);
                return true;
            }
        }
        return false;
    }

    private boolean isIdentity(ByteBuf frame) {
        if (by == ProxyContext.DedupBy.CORRELATION_DATA) {
            return property.identifier() == PropertyId.CORRELATION_DATA;
        }
        if (property.identifier() != PropertyId.USER_PROPERTY || property.nameLength() != MESSAGE_ID.length) {
            return false;
        }
        for (int i = 0; i < MESSAGE_ID.length; i++) {
            if (frame.getByte(property.nameOffset() + i) != MESSAGE_ID[i]) {
                return false;
            }
        }
        return true;
    }

    private void combine(ByteBuf frame, byte[] clientId, int storeRoute) {
        int idAt = ROUTE_LENGTH + Integer.BYTES + clientId.length;
        int length = idAt + property.stringLength();
        if (bytes.length < length) {
            bytes = new byte[2 * length];
            buffer.wrap(bytes);
        }
        buffer.putInt(0, storeRoute);
        buffer.putInt(ROUTE_LENGTH, clientId.length);
        buffer.putBytes(ROUTE_LENGTH + Integer.BYTES, clientId);
        frame.getBytes(property.stringOffset(), bytes, idAt, property.stringLength());
        hash.hash(buffer, 0, length);
    }

    long high() {
        return hash.high();
    }

    long low() {
        return hash.low();
    }
}
