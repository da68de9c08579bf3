package sqlstream.jdbc;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneOffset;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.TimeType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;

/** Cells of Spark's rows as parameters of a statement. */
final class Parameters {
    private Parameters() {}

    /** Give a statement's parameter {@code number} (from 1) the cell {@code i} of a row. */
    static void set(PreparedStatement statement, int number, SpecializedGetters row, int i, DataType type)
            throws SQLException {
        if (row.isNullAt(i)) {
            statement.setNull(number, Types.NULL);
        } else if (type instanceof BooleanType) {
            statement.setBoolean(number, row.getBoolean(i));
        } else if (type instanceof ByteType) {
            statement.setShort(number, row.getByte(i));
        } else if (type instanceof ShortType) {
            statement.setShort(number, row.getShort(i));
        } else if (type instanceof IntegerType) {
            statement.setInt(number, row.getInt(i));
        } else if (type instanceof LongType) {
            statement.setLong(number, row.getLong(i));
        } else if (type instanceof FloatType) {
            statement.setFloat(number, row.getFloat(i));
        } else if (type instanceof DoubleType) {
            statement.setDouble(number, row.getDouble(i));
        } else if (type instanceof DecimalType decimal) {
            statement.setBigDecimal(
                    number,
                    row.getDecimal(i, decimal.precision(), decimal.scale()).toJavaBigDecimal());
        } else if (type instanceof StringType) {
            statement.setString(number, row.getUTF8String(i).toString());
        } else if (type instanceof BinaryType) {
            statement.setBytes(number, row.getBinary(i));
        } else if (type instanceof DateType) {
            statement.setObject(number, LocalDate.ofEpochDay(row.getInt(i)));
        } else if (type instanceof TimeType) {
            statement.setObject(number, LocalTime.ofNanoOfDay(row.getLong(i)));
        } else if (type instanceof TimestampNTZType) {
            statement.setObject(number, DateTimeUtils.microsToLocalDateTime(row.getLong(i)));
        } else if (type instanceof TimestampType) {
            Instant instant = DateTimeUtils.microsToInstant(row.getLong(i));
            statement.setObject(number, instant.atOffset(ZoneOffset.UTC));
        } else {
            throw new IllegalArgumentException("no parameter of type " + type.sql());
        }
    }
}
