package io.holdfast.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** 30,000 User Properties of five bytes: cut on the raw bytes behind the first 129, and not an object for any. */
class ManyUserPropertiesCostNoMoreThanTheCapTest {
    private static final int CAP = 128;

    @Test
    void nothingIsAllocatedAndTheListIsCut() {
        ByteBuf many = publish(30_000);
        ByteBuf within = publish(CAP);
        PublishView view = new PublishView(Direction.FROM_CLIENT);
        assertEquals(0, leastAllocated(view, within));
        assertEquals(0, leastAllocated(view, many));
        assertTrue(view.userPropertiesTruncated());
        assertEquals(CAP + 1, view.userPropertyCount());
        assertEquals(30_000, view.countUserProperties());
        many.release();
        within.release();
    }

    private static ByteBuf publish(int userProperties) {
        byte[] properties = new byte[5 * userProperties];
        for (int i = 0; i < properties.length; i += 5) {
            properties[i] = 0x26;
        }
        byte[] packet = Bytes.packet(0x32, "t", Bytes.u16(7), Bytes.properties((Object) properties), new byte[1]);
        // Without leak detection: a tracked buffer records, and so allocates, on every access.
        return new UnpooledByteBufAllocator(true, true).buffer().writeBytes(packet);
    }

    private static long leastAllocated(PublishView view, ByteBuf buf) {
        int bodyOffset = 1 + VariableByteInteger.bytes(VariableByteInteger.decode(buf, 1, buf.writerIndex()));
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long[] allocated = new long[200];
        for (int round = 0; round < allocated.length; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            view.wrap(buf, 0, bodyOffset, buf.writerIndex(), MqttVersion.MQTT_5, CAP);
            allocated[round] = threads.getCurrentThreadAllocatedBytes() - before;
        }
        return Arrays.stream(allocated).min().orElseThrow();
    }
}
