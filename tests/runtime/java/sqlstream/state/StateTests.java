package sqlstream.state;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.expressions.aggregate.Max;
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum;
import org.apache.spark.sql.types.DataTypes;
import scala.collection.Iterator;
import sqlstream.aggregates.Aggregates;
import sqlstream.catalyst.RowBytes;
import sqlstream.catalyst.Scala;

/**
 * Runs each container of rows against a simple model with random operations, over restarts. Prints a line a test: its
 * name, and what went wrong.
 */
public final class StateTests {
    private static final byte[] NOTHING = new byte[0];

    private StateTests() {}

    /** A test with random operations of one seed. */
    private interface Seeded {
        void run(Random random) throws Exception;
    }

    /** {@code args}: the first seed, and how many. */
    public static void main(String[] args) {
        Map<String, Seeded> tests = new LinkedHashMap<>();
        tests.put("chunks", StateTests::chunks);
        tests.put("row lists", StateTests::rowLists);
        tests.put("row changes", StateTests::rowChanges);
        tests.put("event time buffer", StateTests::eventTimeBuffer);
        tests.put("arrivals that begin again", random -> eventTimeBuffer(random, Integer.MAX_VALUE - 40));
        tests.put("join buffer", random -> joinBuffer(random, false));
        tests.put("join buffer of whole chunks", random -> joinBuffer(random, true));
        tests.put("numbered rows", StateTests::numberedRows);
        tests.put("sliding frame", random -> slidingFrame(random, 600, 40));
        tests.put("value counts", StateTests::valueCounts);
        Map<String, Seeded> once = new LinkedHashMap<>();
        once.put("sliding frame of many rows", random -> slidingFrame(random, 40_000, 2));
        once.put("value counts of many values", random -> manyValues());
        once.put("layouts", random -> layouts());
        long first = Long.parseLong(args[0]);
        int seeds = Integer.parseInt(args[1]);
        tests.forEach((name, test) -> report(name, test, first, seeds));
        once.forEach((name, test) -> report(name, test, first, 1));
    }

    private static void report(String name, Seeded test, long first, int seeds) {
        for (long seed = first; seed < first + seeds; seed++) {
            try {
                test.run(new Random(seed));
            } catch (Throwable error) {
                StackTraceElement place = List.of(error.getStackTrace()).stream()
                        .filter(e -> e.getClassName().startsWith("sqlstream")
                                && !e.getMethodName().startsWith("same"))
                        .findFirst()
                        .orElse(error.getStackTrace()[0]);
                System.out.println(name + "\tseed " + seed + ": " + error + " at " + place);
                return;
            }
        }
        System.out.println(name + "\tok");
    }

    private static void same(Object expected, Object found, String what) {
        if (!Objects.equals(expected, found)) {
            throw new AssertionError(what + ": expected " + shortened(expected) + ", found " + shortened(found));
        }
    }

    private static String shortened(Object value) {
        String text = String.valueOf(value);
        return text.length() > 300 ? text.substring(0, 300) + ".." : text;
    }

    private static ByteBuffer reader(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
    }

    private static void chunks(Random random) {
        MemoryState state = new MemoryState();
        Map<Long, String> model = new HashMap<>();
        Chunks chunks = new Chunks(state, "chunks");
        for (int i = 0; i < 300; i++) {
            long number = random.nextInt(10);
            switch (random.nextInt(5)) {
                case 0 -> {
                    chunks.remove(number);
                    model.remove(number);
                }
                case 1 -> chunks = new Chunks(state, "chunks");
                case 2 ->
                    same(
                            model.get(number),
                            chunks.get(number) == null ? null : new String(chunks.get(number)),
                            "chunk");
                default -> {
                    model.put(number, "x".repeat(random.nextInt(100)));
                    chunks.put(number, model.get(number).getBytes());
                }
            }
        }
        chunks.clear();
        same(0, state.size(), "entries of the state");
    }

    private static void rowLists(Random random) {
        MemoryState state = new MemoryState();
        RandomRows rows = new RandomRows(random);
        List<List<UnsafeRow>> model = List.of(new ArrayList<>(), new ArrayList<>());
        for (int batch = 0; batch < 40; batch++) {
            RowLists lists = new RowLists(state, "lists", RandomRows.WIDTH, RandomRows.WIDTH);
            lists.load();
            sameLists(model, lists);
            for (int i = random.nextInt(30); i > 0; i--) {
                int list = random.nextInt(2);
                List<UnsafeRow> expected = model.get(list);
                UnsafeRow row = random.nextBoolean() || expected.isEmpty()
                        ? rows.row()
                        : expected.get(random.nextInt(expected.size()));
                int choice = random.nextInt(40);
                if (choice == 0) {
                    lists.clear();
                    model.forEach(List::clear);
                } else if (choice == 1) {
                    List<UnsafeRow> others = rows.rows(300);
                    lists.replace(list, others);
                    expected.clear();
                    expected.addAll(others);
                } else if (choice < 22) {
                    lists.add(list, row);
                    expected.add(row);
                } else {
                    lists.remove(list, row);
                    expected.remove(row);
                }
                same(expected.size(), lists.size(list), "size");
            }
            sameLists(model, lists);
            lists.store();
            same(model.get(0).isEmpty() && model.get(1).isEmpty(), state.size() == 0, "an empty state");
        }
    }

    private static void sameLists(List<List<UnsafeRow>> model, RowLists lists) {
        for (int i = 0; i < model.size(); i++) {
            same(model.get(i).size(), lists.size(i), "size of list " + i);
            same(model.get(i), RandomRows.copies(lists.rows(i)), "list " + i);
        }
    }

    private static void rowChanges(Random random) {
        MemoryState state = new MemoryState();
        RandomRows rows = new RandomRows(random);
        Map<UnsafeRow, Integer> model = new HashMap<>();
        for (int batch = 0; batch < 60; batch++) {
            RowLists lists = new RowLists(state, "lists", RandomRows.WIDTH);
            lists.load();
            RowChanges changes = new RowChanges();
            List<UnsafeRow> known = new ArrayList<>(model.keySet());
            Map<UnsafeRow, Integer> before = new HashMap<>(model);
            Map<UnsafeRow, Integer> announced = new HashMap<>();
            for (int i = random.nextInt(40); i > 0; i--) {
                UnsafeRow row = known.isEmpty() || random.nextInt(3) == 0
                        ? rows.row()
                        : known.get(random.nextInt(known.size()));
                known.add(row);
                boolean retracts = random.nextInt(5) < 2;
                changes.add(row, retracts);
                model.merge(row, retracts ? 0 : 1, (had, one) -> Math.max(0, retracts ? had - 1 : had + 1));
                announced.merge(row, retracts ? -1 : 1, Integer::sum);
            }
            List<RowChanges.Change> found = changes.in(lists, 0);
            Map<UnsafeRow, Integer> changed = new HashMap<>(before);
            found.forEach(c -> changed.merge(c.row(), c.times(), Integer::sum));
            found.forEach(c -> announced.merge(c.row(), -c.announced(), Integer::sum));
            model.values().removeIf(n -> n == 0);
            changed.values().removeIf(n -> n == 0);
            same(model, changed, "numbers by changes");
            announced.values().removeIf(n -> n == 0);
            same(Map.of(), announced, "announced and not told of");
            lists.change(0, found);
            lists.store();
            lists = new RowLists(state, "lists", RandomRows.WIDTH);
            lists.load();
            Map<UnsafeRow, Integer> kept = new HashMap<>();
            RandomRows.copies(lists.rows(0)).forEach(r -> kept.merge(r, 1, Integer::sum));
            same(model, kept, "rows kept");
        }
    }

    /** A row that waits. {@code arrival}: its number among all. */
    private record Waiting(long time, int arrival, UnsafeRow row) {}

    private static void eventTimeBuffer(Random random) {
        eventTimeBuffer(random, 0);
    }

    private static void eventTimeBuffer(Random random, int arrived) {
        MemoryState state = new MemoryState();
        RandomRows rows = new RandomRows(random);
        List<Waiting> model = new ArrayList<>();
        // As store writes it of a key without rows.
        byte[] head = arrived == 0
                ? NOTHING
                : ByteBuffer.allocate(16)
                        .order(ByteOrder.nativeOrder())
                        .putInt(0)
                        .putInt(arrived)
                        .putLong(0)
                        .array();
        long watermark = 0;
        int number = 0;
        for (int batch = 0; batch < 60; batch++) {
            EventTimeBuffer buffer = new EventTimeBuffer(state, RandomRows.WIDTH, 0);
            buffer.load(reader(head));
            same(model.stream().mapToLong(Waiting::time).min().orElse(Long.MAX_VALUE), buffer.first(), "first");
            watermark += random.nextInt(4) == 0 ? 0 : random.nextInt(8);
            int spread = random.nextInt(10) == 0 ? 1 : 12;
            List<Waiting> added = new ArrayList<>();
            for (int i = random.nextInt(3) == 0 ? 0 : random.nextInt(120); i > 0; i--) {
                long time = watermark - 3 + random.nextInt(spread);
                added.add(new Waiting(time, 0, rows.row(time)));
            }
            added.sort(Comparator.comparingLong(Waiting::time));
            for (Waiting row : added) {
                model.add(new Waiting(row.time, number++, row.row));
            }
            model.sort(Comparator.comparingLong(Waiting::time).thenComparingInt(Waiting::arrival));
            long until = watermark;
            List<UnsafeRow> expected = model.stream()
                    .filter(w -> w.time <= until)
                    .map(Waiting::row)
                    .toList();
            same(
                    expected,
                    RandomRows.copies(buffer.due(
                            RandomRows.shared(added.stream().map(Waiting::row).toList()), until)),
                    "due");
            model.removeIf(w -> w.time <= until);
            if (model.isEmpty() && arrived == 0) {
                head = NOTHING;
                same(0, state.size(), "entries of the state");
            } else if (buffer.changed()) {
                ByteBuffer into = ByteBuffer.allocate(buffer.size()).order(ByteOrder.nativeOrder());
                buffer.store(into);
                same(0, into.remaining(), "bytes left over");
                head = into.array();
            }
        }
    }

    /** A row with its time and mark. */
    private static final class Timed {
        private final long time;
        private final UnsafeRow row;
        private boolean marked;

        private Timed(long time, UnsafeRow row, boolean marked) {
            this.time = time;
            this.row = row;
            this.marked = marked;
        }

        @Override
        public String toString() {
            return time + (marked ? "!" : "") + row.getSizeInBytes() + ":" + row.hashCode();
        }
    }

    private static void joinBuffer(Random random, boolean whole) {
        MemoryState state = new MemoryState();
        RandomRows rows = new RandomRows(random);
        List<Timed> model = new ArrayList<>();
        byte[] head = NOTHING;
        long watermark = 0;
        // Each row is another: which of equal ones are shown is open.
        int number = 0;
        for (int batch = 0; batch < 60; batch++) {
            JoinBuffer buffer = new JoinBuffer(state, "rows", RandomRows.WIDTH, whole);
            buffer.load(reader(head));
            same(model.isEmpty(), buffer.isEmpty(), "empty");
            long earliest = model.stream().mapToLong(t -> t.time).min().orElse(Long.MAX_VALUE);
            if (whole ? buffer.next() < earliest : buffer.next() != earliest) {
                throw new AssertionError("next: " + buffer.next() + " of rows from " + earliest);
            }
            watermark += random.nextInt(5);
            long from = watermark - 10 + random.nextInt(20);
            long until = from + random.nextInt(10) - 1;
            long passed = random.nextInt(3) == 0 ? Long.MIN_VALUE : watermark - 8;
            boolean drops = passed >= buffer.next();
            int before = model.size();
            JoinBuffer.Cursor cursor = buffer.rows(from, until, passed);
            List<Timed> kept = new ArrayList<>();
            int place = 0;
            while (cursor.next()) {
                // What is not shown stays, in its order.
                while (!model.get(place).row.equals(cursor.row()) || model.get(place).time != cursor.time()) {
                    sameHidden(model.get(place), from, until, whole ? Long.MIN_VALUE : passed);
                    kept.add(model.get(place++));
                }
                Timed row = model.get(place++);
                if (random.nextInt(6) == 0) {
                    cursor.mark();
                    row.marked = true;
                }
                same(row.marked, cursor.isMarked(), "mark");
                if (cursor.expires()) {
                    same(true, row.time <= passed, "a row whose time has passed");
                } else {
                    same(true, whole || row.time > passed, "a row that stays");
                    kept.add(row);
                }
            }
            for (; place < model.size(); place++) {
                sameHidden(model.get(place), from, until, whole ? Long.MIN_VALUE : passed);
                kept.add(model.get(place));
            }
            model = kept;
            same(drops, model.size() < before, "rows that are dropped");
            for (int i = random.nextInt(3) == 0 ? 0 : random.nextInt(80); i > 0; i--) {
                long time = watermark - 5 + random.nextInt(15);
                Timed row = new Timed(time, rows.row(number++), random.nextBoolean());
                model.add(row);
                buffer.add(time, row.row, row.marked);
            }
            if (model.isEmpty()) {
                head = NOTHING;
                same(0, state.size(), "entries of the state");
            } else if (buffer.changed()) {
                ByteBuffer into = ByteBuffer.allocate(buffer.size()).order(ByteOrder.nativeOrder());
                buffer.store(into);
                same(0, into.remaining(), "bytes left over");
                head = into.array();
            }
            sameRows(model, state, head, whole);
        }
    }

    private static void sameHidden(Timed row, long from, long until, long passed) {
        same(
                false,
                row.time >= from && row.time <= until || row.time <= passed,
                "a row that is asked for is not shown");
    }

    private static void sameRows(List<Timed> model, MemoryState state, byte[] head, boolean whole) {
        JoinBuffer buffer = new JoinBuffer(state, "rows", RandomRows.WIDTH, whole);
        buffer.load(reader(head));
        List<String> found = new ArrayList<>();
        JoinBuffer.Cursor cursor = buffer.rows(Long.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE);
        while (cursor.next()) {
            found.add(new Timed(cursor.time(), cursor.row().copy(), cursor.isMarked()).toString());
        }
        same(model.stream().map(Timed::toString).toList(), found, "rows kept");
        same(false, buffer.changed(), "changed by reading");
    }

    private static void numberedRows(Random random) {
        MemoryState state = new MemoryState();
        RandomRows rows = new RandomRows(random);
        List<UnsafeRow> model = new ArrayList<>();
        int first = 0;
        byte[] kept = NOTHING;
        for (int batch = 0; batch < 40; batch++) {
            NumberedRows numbered = new NumberedRows(state, RandomRows.WIDTH);
            numbered.load(reader(kept));
            for (int i = random.nextInt(8) == 0 ? 900 : random.nextInt(200); i > 0; i--) {
                int choice = random.nextInt(300);
                if (choice == 0) {
                    numbered.clear();
                    model.clear();
                    first = 0;
                    same(0, state.size(), "entries of the state");
                } else if (choice < 10) {
                    first += random.nextInt(model.size() - first + 1);
                    numbered.forget(first);
                } else if (choice < 100 && first < model.size()) {
                    int number = first + random.nextInt(model.size() - first);
                    same(model.get(number), numbered.get(number), "row " + number);
                } else {
                    UnsafeRow row = rows.row();
                    model.add(row);
                    numbered.add(row);
                }
                same((long) model.size(), numbered.next(), "next");
            }
            kept = numbered.store();
            same(Math.max(0, model.size() / 256 - first / 256), state.size(), "chunks");
        }
    }

    private static void slidingFrame(Random random, int rowsOfBatch, int batches) {
        Attribute number = Scala.attribute("number", DataTypes.LongType);
        Attribute value = Scala.attribute("value", DataTypes.IntegerType);
        Attribute text = Scala.attribute("text", DataTypes.StringType);
        Aggregates aggregates = new Aggregates(List.of(number, value, text));
        List<Expression> results = List.of(
                Scala.bound(aggregates.add(new Sum(value).toAggregateExpression()), aggregates.shown()),
                Scala.bound(aggregates.add(new Max(number).toAggregateExpression()), aggregates.shown()),
                Scala.bound(
                        aggregates.add(new Count(Scala.seq(List.<Expression>of(text, number))).toAggregateExpression()),
                        aggregates.shown()));
        MemoryState state = new MemoryState();
        RandomRows rows = new RandomRows(random);
        ArrayList<UnsafeRow> model = new ArrayList<>();
        int gone = 0;
        byte[] kept = NOTHING;
        for (int batch = 0; batch < batches; batch++) {
            SlidingFrame frame = new SlidingFrame(state, aggregates, RandomRows.WIDTH);
            frame.load(RowBytes.reader(kept));
            int size = random.nextInt(4) == 0 ? 0 : random.nextInt(3) * rowsOfBatch / 2;
            for (int i = random.nextInt(rowsOfBatch); i > 0; i--) {
                UnsafeRow row = rows.row(random.nextInt(1000));
                model.add(row);
                frame.add(row);
                for (int out = 0; frame.size() > size && out < 3; out++) {
                    same(model.get(gone), frame.first(), "first");
                    frame.removeFirst();
                    gone++;
                }
                same(model.size() - gone, frame.size(), "size");
                if (i % (rowsOfBatch / 30) == 0) {
                    sameResults(model.subList(gone, model.size()), frame.results(), results);
                }
            }
            RowBytes bytes = new RowBytes();
            frame.store(bytes);
            kept = bytes.all();
        }
        SlidingFrame frame = new SlidingFrame(state, aggregates, RandomRows.WIDTH);
        frame.load(RowBytes.reader(kept));
        frame.clear();
        same(0, state.size(), "entries of the state");
    }

    private static void sameResults(List<UnsafeRow> rows, InternalRow found, List<Expression> results) {
        Long sum = rows.stream().allMatch(r -> r.isNullAt(1))
                ? null
                : (Long) rows.stream()
                        .filter(r -> !r.isNullAt(1))
                        .mapToLong(r -> r.getInt(1))
                        .sum();
        Long greatest = rows.isEmpty()
                ? null
                : (Long) rows.stream().mapToLong(r -> r.getLong(0)).max().getAsLong();
        same(sum, results.get(0).eval(found), "sum");
        same(greatest, results.get(1).eval(found), "maximum");
        same(rows.stream().filter(r -> !r.isNullAt(2)).count(), results.get(2).eval(found), "number");
    }

    private static void valueCounts(Random random) {
        for (ValueCounts.Counting counting : ValueCounts.Counting.values()) {
            List<Attribute> input = List.of(
                    Scala.attribute("n", DataTypes.LongType),
                    Scala.attribute("i", DataTypes.IntegerType),
                    Scala.attribute("s", DataTypes.StringType));
            ValueCounts counts = new ValueCounts(
                    List.of(input.get(1), input.get(2)),
                    new GreaterThan(input.get(0), new Literal(1L, DataTypes.LongType)));
            RandomRows rows = new RandomRows(random);
            MemoryState state = new MemoryState();
            Map<List<Object>, Integer> model = new HashMap<>();
            boolean known = false;
            List<UnsafeRow> seen = new ArrayList<>();
            for (int batch = 0; batch < 20; batch++) {
                ValueCounts.Work work = counts.new Work(state, "values", input, counting);
                work.begin(known);
                if (random.nextInt(10) == 0) {
                    work.clear();
                    model.clear();
                    same(0, state.size(), "entries of the state");
                }
                for (int i = random.nextInt(60); i > 0; i--) {
                    UnsafeRow row = seen.isEmpty() || random.nextInt(3) == 0
                            ? rows.row()
                            : seen.get(random.nextInt(seen.size()));
                    seen.add(row);
                    int sign = counting == ValueCounts.Counting.PRESENCE || random.nextInt(5) < 3 ? 1 : -1;
                    int change = 0;
                    if (row.getLong(0) > 1) {
                        List<Object> value = new ArrayList<>();
                        value.add(row.isNullAt(1) ? null : row.getInt(1));
                        value.add(row.isNullAt(2) ? null : row.getUTF8String(2).toString());
                        int was = model.getOrDefault(value, 0);
                        int is = switch (counting) {
                            case PRESENCE -> 1;
                            case DIFFERENCE -> was + sign;
                            case NUMBER -> Math.max(0, was + sign);
                        };
                        model.put(value, is);
                        change = (is > 0 ? 1 : 0) - (was > 0 ? 1 : 0);
                    }
                    same(change, work.add(row, sign), "change");
                }
                work.store();
                known = true;
                model.values().removeIf(n -> n == 0);
                List<List<Object>> present = new ArrayList<>();
                Iterator<InternalRow> values = work.present();
                while (values.hasNext()) {
                    UnsafeRow value = (UnsafeRow) values.next();
                    List<Object> cells = new ArrayList<>();
                    cells.add(value.isNullAt(0) ? null : value.getInt(0));
                    cells.add(value.isNullAt(1) ? null : value.getUTF8String(1).toString());
                    present.add(cells);
                }
                same(model.keySet(), new java.util.HashSet<>(present), "values kept");
                same(model.size(), present.size(), "number of values kept");
            }
        }
    }

    /** More values of a key than are held. */
    private static void manyValues() {
        List<Attribute> input = List.of(
                Scala.attribute("n", DataTypes.LongType),
                Scala.attribute("i", DataTypes.IntegerType),
                Scala.attribute("s", DataTypes.StringType));
        ValueCounts counts = new ValueCounts(List.of(input.get(0)), null);
        MemoryState state = new MemoryState();
        ValueCounts.Work work = counts.new Work(state, "values", input, ValueCounts.Counting.NUMBER);
        work.begin(false);
        RandomRows rows = new RandomRows(new Random(1));
        int many = (1 << 18) + 1000;
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < many; i++) {
                same(round == 0 ? 1 : 0, work.add(rows.row(i), 1), "change");
            }
        }
        for (int i = 0; i < many; i += 1000) {
            UnsafeRow row = rows.row(i);
            same(0, work.add(row, -1), "change");
            same(-1, work.add(row, -1), "change");
        }
        work.store();
        same(many - (many + 999) / 1000, state.maps.get("values").size(), "values kept");
    }

    private static final class Reading extends KeyedOperator {
        private static final long serialVersionUID = 1;

        private static final Layout OWN = new Layout("Reading", 2);

        @Override
        public List<Layout> layouts() {
            return List.of(OWN, Layout.ROW_LISTS);
        }

        @Override
        public void describe(StateTable table, org.apache.spark.sql.types.StructType rows) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void init(
                org.apache.spark.sql.streaming.OutputMode output, org.apache.spark.sql.streaming.TimeMode time) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Iterator<InternalRow> handleInputRows(
                InternalRow key, Iterator<InternalRow> rows, org.apache.spark.sql.streaming.TimerValues times) {
            throw new UnsupportedOperationException();
        }
    }

    /** Which versions an operator reads, whose own layout has a second one. */
    private static void layouts() {
        String rows = " by (a by (b, c) of struct<x, y 3 by (int>";
        String now = "Reading 2, KeptRows 1" + rows;
        same(Map.of("Reading", 2, "KeptRows", 1), StateSchema.versions(now, now, "/state"), "its own");
        same(
                Map.of("Reading", 1, "KeptRows", 1),
                StateSchema.versions(now, "Reading 1" + rows, "/state"),
                "of before containers had versions");
        Reading operator = new Reading();
        same(2, operator.version(Reading.OWN), "version of a new state");
        operator.reads(StateSchema.versions(now, "Reading 1, KeptRows 1" + rows, "/state"));
        same(1, operator.version(Reading.OWN), "version of an old state");
        same(1, operator.version(Layout.ROW_LISTS), "version of a container");
        refused(
                now,
                "Reading 3, KeptRows 1" + rows,
                "The state of Reading in /state has version 3 of the layout Reading, of which this release reads"
                        + " versions 1 to 2.");
        refused(
                now,
                "Reading 2, KeptRows 2" + rows,
                "The state of Reading in /state has version 2 of the layout KeptRows, of which this release reads"
                        + " version 1.");
        refused(
                now,
                "Reading 2, KeptRows 0" + rows,
                "The state of Reading in /state has version 0 of the layout KeptRows, of which this release reads"
                        + " version 1.");
        refused(
                now,
                "Reading 2, KeptRows 1, Other 1" + rows,
                "The state of Reading in /state has version 1 of the layout Other, of which this release reads none.");
        for (String other : List.of(
                "Writing 2, KeptRows 1" + rows,
                "Reading 2, KeptRows 1 by (z)",
                "Reading two" + rows,
                "Reading 99999999999" + rows,
                "unknown",
                "")) {
            refused(
                    now,
                    other,
                    "The state in /state is another operator's. It is: " + other + ". This one's is: " + now + ".");
        }
    }

    private static void refused(String now, String found, String message) {
        try {
            StateSchema.versions(now, found, "/state");
        } catch (IllegalStateException error) {
            same(message, error.getMessage(), "message");
            return;
        }
        throw new AssertionError("not refused: " + found);
    }
}
