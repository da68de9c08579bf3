package sqlstream.state;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.Iterator;

/** Rows (BIGINT, INT or NULL, STRING or NULL), of few values, so that many are equal, and of all sizes. */
final class RandomRows {
    static final int WIDTH = 3;

    private final Random random;
    private final UnsafeRowWriter writer = new UnsafeRowWriter(WIDTH);

    RandomRows(Random random) {
        this.random = random;
    }

    UnsafeRow row(long number) {
        writer.reset();
        writer.zeroOutNullBytes();
        writer.write(0, number);
        if (random.nextInt(4) == 0) {
            writer.setNullAt(1);
        } else {
            writer.write(1, random.nextInt(3));
        }
        int length = switch (random.nextInt(200)) {
            case 0 -> -1;
            case 1 -> 70_000;
            case 2, 3, 4, 5 -> 5_000;
            case 6, 7, 8, 9, 10 -> 300;
            default -> random.nextInt(3);
        };
        if (length < 0) {
            writer.setNullAt(2);
        } else {
            writer.write(2, UTF8String.fromString("x".repeat(length)));
        }
        return writer.getRow().copy();
    }

    UnsafeRow row() {
        return row(random.nextInt(8));
    }

    List<UnsafeRow> rows(int most) {
        List<UnsafeRow> rows = new ArrayList<>();
        for (int i = random.nextInt(most + 1); i > 0; i--) {
            rows.add(row());
        }
        return rows;
    }

    /** {@code rows} as Spark gives them: all are one object. */
    static Iterator<InternalRow> shared(List<UnsafeRow> rows) {
        java.util.Iterator<UnsafeRow> each = rows.iterator();
        UnsafeRow shared = new UnsafeRow(WIDTH);
        return new scala.collection.AbstractIterator<>() {
            @Override
            public boolean hasNext() {
                return each.hasNext();
            }

            @Override
            public InternalRow next() {
                UnsafeRow row = each.next();
                shared.pointTo(row.getBytes(), row.getSizeInBytes());
                return shared;
            }
        };
    }

    static List<UnsafeRow> copies(Iterator<InternalRow> rows) {
        List<UnsafeRow> copies = new ArrayList<>();
        while (rows.hasNext()) {
            copies.add(((UnsafeRow) rows.next()).copy());
        }
        return copies;
    }
}
