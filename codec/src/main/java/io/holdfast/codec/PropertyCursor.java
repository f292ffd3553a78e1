package io.holdfast.codec;

import io.netty.buffer.ByteBuf;

/**
 * Walks the properties of a v5 packet on the raw bytes (v5 §2.2.2); allocates nothing. What it says holds until the next
 * {@link #next()}, {@link #wrap} or change of the buffer. Not thread-safe.
 *
 * <p>It checks identifiers, lengths and UTF-8; what a packet type allows is {@link PropertyId}'s matter.
 */
public final class PropertyCursor {
    private ByteBuf buf;
    private int limit;
    private boolean textChecked;

    private int identifier;
    private int type;
    private int offset;
    private int valueOffset;
    private int end;
    private long intValue;
    private int nameOffset;
    private int nameLength;
    private int stringOffset;
    private int stringLength;

    /** Stands before the first of the properties at {@code index}; {@code length} bytes, without their length prefix. */
    public PropertyCursor wrap(ByteBuf buffer, int index, int length) {
        return wrap(buffer, index, length, true);
    }

    /** As {@link #wrap}, for properties whose text is only passed over. */
    PropertyCursor wrapUncheckedText(ByteBuf buffer, int index, int length) {
        return wrap(buffer, index, length, false);
    }

    private PropertyCursor wrap(ByteBuf buffer, int index, int length, boolean checkText) {
        this.buf = buffer;
        this.limit = index + length;
        this.textChecked = checkText;
        this.identifier = -1;
        this.offset = index;
        this.end = index;
        return this;
    }

    /** Drops the reference to the buffer. */
    public void reset() {
        buf = null;
        limit = 0;
        end = 0;
    }

    /**
     * Goes to the next property.
     *
     * @return false behind the last one.
     * @throws MqttProtocolException with 0x81 for an unknown identifier, a value that goes beyond the properties, or
     *     text that is not UTF-8.
     */
    public boolean next() {
        if (end >= limit) {
            return false;
        }
        offset = end;
        // Every known identifier fits in one byte of a Variable Byte Integer.
        identifier = buf.getByte(offset);
        type = PropertyId.type(identifier);
        valueOffset = offset + 1;
        switch (type) {
            case PropertyId.TYPE_BYTE -> {
                end = requireInside(valueOffset + 1);
                intValue = buf.getUnsignedByte(valueOffset);
            }
            case PropertyId.TYPE_TWO_BYTES -> {
                end = requireInside(valueOffset + 2);
                intValue = buf.getUnsignedShort(valueOffset);
            }
            case PropertyId.TYPE_FOUR_BYTES -> {
                end = requireInside(valueOffset + 4);
                intValue = buf.getUnsignedInt(valueOffset);
            }
            case PropertyId.TYPE_VARIABLE -> readVariable();
            case PropertyId.TYPE_BINARY -> end = readText(valueOffset, false);
            case PropertyId.TYPE_STRING -> end = readText(valueOffset, textChecked);
            case PropertyId.TYPE_STRING_PAIR -> {
                int valueAt = readText(valueOffset, textChecked);
                nameOffset = stringOffset;
                nameLength = stringLength;
                end = readText(valueAt, textChecked);
            }
            default ->
                throw MqttProtocolException.malformed(
                        "", "unknown Property Identifier 0x" + Integer.toHexString(identifier & 0xFF));
        }
        return true;
    }

    /** The {@link PropertyId}. */
    public int identifier() {
        return identifier;
    }

    /** Where the property, that is its identifier, begins. */
    public int offset() {
        return offset;
    }

    /** Where its value begins; of text and binary data that is the length prefix. */
    public int valueOffset() {
        return valueOffset;
    }

    /** The bytes of the whole encoded value, length prefixes included. */
    public int valueLength() {
        return end - valueOffset;
    }

    /** Where the property ends (exclusive). */
    public int end() {
        return end;
    }

    /** The value of a property of one, two or four bytes or of a Variable Byte Integer; unsigned. */
    public long intValue() {
        return intValue;
    }

    /** Where the bytes of a User Property's name begin, behind the length prefix. */
    public int nameOffset() {
        return nameOffset;
    }

    /** The bytes of a User Property's name. */
    public int nameLength() {
        return nameLength;
    }

    /** Where the bytes of text, binary data or a User Property's value begin, behind the length prefix. */
    public int stringOffset() {
        return stringOffset;
    }

    /** The bytes of text, binary data or a User Property's value. */
    public int stringLength() {
        return stringLength;
    }

    private void readVariable() {
        long decoded = VariableByteInteger.decode(buf, valueOffset, limit);
        if (decoded < 0) {
            throw MqttProtocolException.malformed(
                    "MQTT-1.5.5-1",
                    "property 0x" + Integer.toHexString(identifier) + " has a malformed Variable Byte Integer");
        }
        intValue = VariableByteInteger.value(decoded);
        end = valueOffset + VariableByteInteger.bytes(decoded);
    }

    /** Reads a two-byte length and that many bytes; returns where they end. */
    private int readText(int index, boolean checked) {
        int textOffset = requireInside(index + Short.BYTES);
        stringOffset = textOffset;
        stringLength = buf.getUnsignedShort(index);
        int textEnd = requireInside(textOffset + stringLength);
        if (checked && !MqttUtf8.isWellFormed(buf, textOffset, stringLength)) {
            throw TopicName.illFormedUtf8("property 0x" + Integer.toHexString(identifier), MqttVersion.MQTT_5);
        }
        return textEnd;
    }

    private int requireInside(int index) {
        if (index > limit) {
            throw MqttProtocolException.malformed(
                    "", "property 0x" + Integer.toHexString(identifier) + " goes beyond the Property Length");
        }
        return index;
    }
}
