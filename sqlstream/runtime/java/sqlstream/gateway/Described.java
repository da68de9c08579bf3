package sqlstream.gateway;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.List;

/** What Python says of an operator: JSON, read into a record with the same names. */
public final class Described {
    private static final JsonMapper JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .enable(
                    DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES,
                    DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
            .build();

    private Described() {}

    /**
     * The record that {@code text} describes. Its names are in snake case there; one that is missing or unknown is
     * refused.
     */
    public static <T extends Record> T as(Class<T> type, String text) {
        try {
            return JSON.readValue(text, type);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException(e.getOriginalMessage(), e);
        }
    }

    /** The place of {@code name} among {@code names}: a name that is not there is refused. */
    public static int place(List<String> names, String name) {
        int place = names.indexOf(name);
        if (place < 0) {
            throw new IllegalArgumentException(name + " is none of " + names);
        }
        return place;
    }
}
