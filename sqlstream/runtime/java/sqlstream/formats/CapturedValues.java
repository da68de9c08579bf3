package sqlstream.formats;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;

/**
 * Values of a database's columns as Debezium writes them with {@code time.precision.mode=microseconds}: dates are days
 * and times without a zone microseconds, those with one are texts. Columns of another type than the database's get
 * what Flink CDC makes of them.
 */
final class CapturedValues extends JsonValues {
    private static final long DAY = 86_400_000_000L;

    private final ZoneId zone;

    CapturedValues(ZoneId zone) {
        super(false, false, false, false);
        this.zone = zone;
    }

    @Override
    Reader reader(JsonNode type) {
        int precision = type.path("args").path(0).asInt();
        return switch (type.get("root").asText()) {
            case "BOOLEAN" -> scalar(CapturedValues::truth);
            case "DATE" -> scalar((p, t) -> number(p, t).intValue());
            case "TIME" -> scalar((p, t) -> Times.cut(time(p, t), precision) * 1000);
            case "TIMESTAMP" ->
                scalar((p, t) -> Times.cut(
                        t == JsonToken.VALUE_STRING
                                ? micros(local(p.getText()).toInstant(ZoneOffset.UTC))
                                : number(p, t),
                        precision));
            case "TIMESTAMP_LTZ" ->
                scalar((p, t) -> {
                    if (t != JsonToken.VALUE_STRING) {
                        throw Unreadable.VALUE;
                    }
                    return Times.cut(micros(Instant.parse(p.getText())), precision);
                });
            default -> super.reader(type);
        };
    }

    private static Long number(JsonParser parser, JsonToken token) throws IOException {
        if (token != JsonToken.VALUE_NUMBER_INT) {
            throw Unreadable.VALUE;
        }
        return parser.getLongValue();
    }

    private static Boolean truth(JsonParser parser, JsonToken token) throws IOException {
        return token == JsonToken.VALUE_NUMBER_INT
                ? parser.getLongValue() != 0
                : Boolean.parseBoolean(parser.getText());
    }

    private static long time(JsonParser parser, JsonToken token) throws IOException {
        long micros = token == JsonToken.VALUE_STRING
                ? OffsetTime.parse(parser.getText()).toLocalTime().toNanoOfDay() / 1000
                : number(parser, token);
        // MySQL's TIME can be a duration.
        if (micros < 0 || micros >= DAY) {
            throw Unreadable.VALUE;
        }
        return micros;
    }

    private LocalDateTime local(String text) {
        return LocalDateTime.ofInstant(Instant.parse(text), zone);
    }

    private static long micros(Instant time) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, time);
    }
}
