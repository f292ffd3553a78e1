package io.holdfast.proxy.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import io.holdfast.store.RecordView;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.time.Instant;

/** Records as JSON, one object a line. All but ASCII is escaped, so that nothing in them reaches a terminal. */
final class RecordJson {
    private final JsonGenerator out;
    private final boolean hasContent;

    /** The writer is not closed. */
    RecordJson(Writer writer, boolean hasContent) {
        try {
            out = JsonFactory.builder()
                    .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
                    .build()
                    .createGenerator(writer)
                    .setRootValueSeparator(null)
                    .disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET)
                    .disable(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        this.hasContent = hasContent;
    }

    void write(int lane, RecordView record, String route) {
        try {
            out.writeStartObject();
            out.writeNumberField("lane", lane);
            out.writeNumberField("sequence", record.sequence());
            out.writeStringField(
                    "received", Instant.ofEpochMilli(record.receiveTimeMs()).toString());
            if (record.expiryTimeMs() != 0) {
                out.writeStringField(
                        "expires", Instant.ofEpochMilli(record.expiryTimeMs()).toString());
            }
            out.writeStringField("client", record.clientId());
            out.writeStringField("topic", record.topic());
            out.writeNumberField("qos", record.qos());
            out.writeBooleanField("retain", record.retain());
            out.writeStringField("route", route);
            out.writeNumberField("bytes", record.payloadLength());
            if (hasContent) {
                out.writeNumberField("level", record.protocolLevel());
                out.writeBinaryField("properties", bytes(record, record.propertiesOffset(), record.propertiesLength()));
                out.writeBinaryField("payload", bytes(record, record.payloadOffset(), record.payloadLength()));
            }
            out.writeEndObject();
            out.writeRaw('\n');
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void flush() {
        try {
            out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] bytes(RecordView record, int offset, int length) {
        byte[] bytes = new byte[length];
        record.buffer().getBytes(offset, bytes);
        return bytes;
    }
}
