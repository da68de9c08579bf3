package sqlstream.functions;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.jayway.jsonpath.spi.json.JacksonJsonProvider;
import com.jayway.jsonpath.spi.json.JsonProvider;
import com.jayway.jsonpath.spi.mapper.JacksonMappingProvider;
import com.jayway.jsonpath.spi.mapper.MappingProvider;
import java.io.IOException;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * JSON texts and what they hold: maps, lists, strings, booleans, numbers (fractions as BigDecimal), null. Names are
 * written in their order.
 */
final class Json {
    private static final ObjectMapper MAPPER = new ObjectMapper()
            .configure(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS, true)
            .configure(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS, true);
    private static final ObjectReader READER = MAPPER.readerFor(Object.class);
    private static final ThreadLocal<Document> LAST = new ThreadLocal<>();

    static final JsonProvider PROVIDER = new JacksonJsonProvider(MAPPER);
    static final MappingProvider MAPPING = new JacksonMappingProvider(MAPPER);

    private Json() {}

    /** What a text holds, or why it is not JSON. */
    record Document(UTF8String text, Object value, String problem) {}

    /**
     * What {@code text} holds; that of the last text of the thread is kept, since several calls often look into one.
     */
    static Document parse(UTF8String text) {
        Document last = LAST.get();
        if (last == null || !last.text.equals(text)) {
            last = read(text);
            LAST.set(last);
        }
        return last;
    }

    /** As {@link #parse}, for who changes it. */
    static Document read(UTF8String text) {
        try {
            return new Document(text.clone(), READER.readValue(text.toString()), null);
        } catch (IOException e) {
            return new Document(text.clone(), null, e.getMessage());
        }
    }

    static UTF8String write(Object value) {
        try {
            return UTF8String.fromString(MAPPER.writeValueAsString(value));
        } catch (JsonProcessingException e) {
            throw Failure.of("JSON object could not be serialized: " + e.getOriginalMessage());
        }
    }
}
