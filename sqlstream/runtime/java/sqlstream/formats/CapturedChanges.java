package sqlstream.formats;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.ZoneId;

/** Changes as Debezium's connectors tell them, without a schema: see {@link CapturedValues}. */
public final class CapturedChanges extends JsonChanges {
    /** @param description as of JsonChanges, and {@code "zone"}: that of the database */
    public CapturedChanges(String description) {
        super(description, false, false, false);
    }

    @Override
    JsonValues values(JsonNode description) {
        return new CapturedValues(ZoneId.of(description.get("zone").asText()));
    }
}
