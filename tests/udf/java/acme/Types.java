package acme;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.functions.ScalarFunction;
import org.apache.flink.types.Row;

/** A value of each type, changed a little. */
public class Types extends ScalarFunction {
    /** A class of the user's. */
    public static class Point {
        public int x;
        public String name;
        public LocalDate day;
    }

    public Boolean eval(Boolean value) {
        return value == null ? null : !value;
    }

    public @DataTypeHint("DECIMAL(12, 3)") BigDecimal eval(@DataTypeHint("DECIMAL(10, 2)") BigDecimal value) {
        return value.multiply(new BigDecimal("1.5"));
    }

    public Double eval(Double value) {
        return value / 2;
    }

    public byte[] eval(byte[] value) {
        byte[] reversed = value.clone();
        for (int i = 0; i < value.length; i++) {
            reversed[i] = value[value.length - 1 - i];
        }
        return reversed;
    }

    public LocalDate eval(LocalDate value) {
        return value.plusDays(1);
    }

    public @DataTypeHint("TIME(0)") LocalTime eval(@DataTypeHint("TIME(0)") LocalTime value) {
        return value.plusHours(1);
    }

    public @DataTypeHint("TIMESTAMP(3)") LocalDateTime eval(@DataTypeHint("TIMESTAMP(3)") LocalDateTime value) {
        return value.plusNanos(7_000_000);
    }

    public @DataTypeHint("TIMESTAMP_LTZ(3)") Instant eval(@DataTypeHint("TIMESTAMP_LTZ(3)") Instant value) {
        return value.plusSeconds(60);
    }

    public Integer[] eval(Integer[] value) {
        Integer[] longer = new Integer[value.length + 1];
        System.arraycopy(value, 0, longer, 0, value.length);
        return longer;
    }

    public Map<String, Integer> eval(Map<String, Integer> value) {
        Map<String, Integer> made = new LinkedHashMap<>(value);
        made.put("more", null);
        return made;
    }

    public @DataTypeHint("ROW<b STRING, a ARRAY<INT>>") Row eval(@DataTypeHint("ROW<a INT, b STRING>") Row value) {
        return Row.of(value.getField("b"), new Integer[] {(Integer) value.getField(0)});
    }

    public Point eval(Integer x, String name) {
        Point made = new Point();
        made.x = x;
        made.name = name;
        made.day = LocalDate.of(2026, 1, x);
        return made;
    }

    public @DataTypeHint("ARRAY<STRING>") List<String> eval(String a, String b) {
        return List.of(a, b);
    }
}
