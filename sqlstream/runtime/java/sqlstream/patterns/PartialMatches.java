package sqlstream.patterns;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.function.Predicate;

/**
 * The matches of one key that rows have begun, and those that are complete but may still be skipped by an earlier one.
 * What becomes of them as rows come is what Flink's automaton makes of them.
 *
 * <p>Where a row can go on with a match in one way at most, matches of which all conditions see the same are one
 * {@link Run}, which takes a row in one step however many they are. Else each match is a run, in the order of Flink's
 * queue: which of several matches that begin at one row is emitted depends on it.
 */
final class PartialMatches {
    /** Where a match may begin after one: behind it, behind its first row, or at a row of one of its variables. */
    enum Skip {
        PAST_LAST_ROW,
        TO_NEXT_ROW,
        TO_FIRST,
        TO_LAST
    }

    /** What is asked about the rows of matches, and where matches go. */
    interface Rows {
        /** Whether the current row can be taken for {@code variable} in {@code match}. */
        boolean holds(int variable, Match match);

        /**
         * What conditions see of {@code match}, whose last row is the current one: equal for matches that the same rows
         * complete.
         */
        List<Long> seen(Match match);

        /**
         * {@code match} is emitted at {@code moment}: that of its last row, or later where an earlier one could have
         * skipped it until then.
         */
        void emit(Match match, long moment);
    }

    /**
     * A match as numbers of rows: {@code begins} has the first of each variable, or NONE; rows are next to each other.
     */
    static final class Match implements Comparable<Match> {
        static final long NONE = -1;
        private final long[] begins;
        private final long start;
        private final long time;
        private final long last;

        private Match(long[] begins, long start, long time, long last) {
            this.begins = begins;
            this.start = start;
            this.time = time;
            this.last = last;
        }

        /** The first row of {@code variable}, or of the match for -1; NONE without one. */
        long first(int variable) {
            return variable >= 0 ? begins[variable] : start == Long.MAX_VALUE ? NONE : start;
        }

        /** The last row of {@code variable}, or of the match for -1, which has one; {@code row} is the last of all. */
        long last(int variable, long row) {
            for (int i = variable + 1; variable >= 0 && i < begins.length; i++) {
                if (begins[i] != NONE) {
                    return begins[i] - 1;
                }
            }
            return row;
        }

        /** The last row, of a match that is complete. */
        long last() {
            return last;
        }

        private Match with(int variable, long row, long at) {
            long[] firsts = begins.clone();
            if (firsts[variable] == NONE) {
                firsts[variable] = row;
            }
            boolean begun = start != Long.MAX_VALUE;
            return new Match(firsts, begun ? start : row, begun ? time : at, row);
        }

        @Override
        public int compareTo(Match other) {
            return Long.compare(start, other.start);
        }
    }

    /** Matches in one state of which all conditions see the same, earlier ones first. */
    private record Run(int state, List<Match> matches) implements Comparable<Run> {
        private Match first() {
            return matches.get(0);
        }

        @Override
        public int compareTo(Run other) {
            return first().compareTo(other.first());
        }

        /** This run without its matches before the first that is {@code late} enough; null where there is none. */
        private Run from(Predicate<Match> late) {
            int gone = 0;
            while (gone < matches.size() && !late.test(matches.get(gone))) {
                gone++;
            }
            if (gone == 0) {
                return this;
            }
            return gone == matches.size()
                    ? null
                    : new Run(state, new ArrayList<>(matches.subList(gone, matches.size())));
        }

        /** Takes in the matches of another, of which some may be earlier. */
        private void unite(Run other) {
            boolean later = matches.get(matches.size() - 1).start < other.first().start;
            matches.addAll(other.matches);
            if (!later) {
                matches.sort(null);
            }
        }
    }

    private record Key(int state, List<Long> seen) {}

    private final RowPattern pattern;
    private final int variables;
    private final Skip skip;
    private final int target;
    private final long within;
    private final boolean together;
    private final Rows rows;
    private final Match fresh;

    private PriorityQueue<Run> runs;
    private PriorityQueue<Match> complete;

    /**
     * @param target the variable to a row of which is skipped
     * @param within how much later than its first row a match may not end, in microseconds; 0 for no bound
     * @param together whether a row can go on with a match in one way at most
     */
    PartialMatches(RowPattern pattern, int variables, Skip skip, int target, long within, boolean together, Rows rows) {
        this.pattern = pattern;
        this.variables = variables;
        this.skip = skip;
        this.target = target;
        this.within = within;
        this.together = together;
        this.rows = rows;
        long[] none = new long[variables];
        Arrays.fill(none, Match.NONE);
        fresh = new Match(none, Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);
    }

    /** Look at row number {@code row}, whose time is {@code at}. */
    void take(long row, long at) {
        PriorityQueue<Run> next = new PriorityQueue<>();
        PriorityQueue<Match> completed = new PriorityQueue<>();
        Map<Key, Run> merged = new HashMap<>();
        for (Run run : runs) {
            RowPattern.Definitions definitions = variable -> rows.holds(variable, run.first());
            List<RowPattern.Edge> edges = pattern.taking(run.state, definitions);
            for (RowPattern.Edge edge : edges) {
                boolean ends = edge.target() == RowPattern.END;
                boolean completes = ends || pattern.ends(edge.target(), definitions);
                List<Match> matches = run.matches;
                // A further row of its variable changes nothing in a match that continues.
                if (completes || edges.size() > 1 || run.first().first(edge.when()) == Match.NONE) {
                    matches = new ArrayList<>(run.matches.size());
                    for (Match match : run.matches) {
                        matches.add(match.with(edge.when(), row, at));
                    }
                }
                if (completes) {
                    completed.addAll(matches);
                }
                if (!ends) {
                    add(new Run(edge.target(), matches), next, merged);
                }
            }
            if (run.first() == fresh) {
                next.add(run);
            }
        }
        next.addAll(merged.values());
        complete.addAll(completed);
        emitCompleted(next, at);
    }

    private void add(Run made, PriorityQueue<Run> next, Map<Key, Run> merged) {
        if (!together) {
            next.add(made);
            return;
        }
        Run known = merged.putIfAbsent(new Key(made.state, rows.seen(made.first())), made);
        if (known != null) {
            known.unite(made);
        }
    }

    /** Give up matches that {@code now} is too late for. */
    void advance(long now) {
        if (expires() > now || within == 0) {
            return;
        }
        for (long moment = free(); moment <= now; moment = free()) {
            giveUp(moment);
        }
        giveUp(now);
    }

    /**
     * When the first complete match can be skipped no more, because all that began before it are given up;
     * Long.MAX_VALUE for none.
     */
    private long free() {
        long latest = Long.MIN_VALUE;
        for (Run run : complete.isEmpty() ? List.<Run>of() : runs) {
            for (Match match : run.matches) {
                latest = match.start < complete.peek().start ? Math.max(latest, match.time) : latest;
            }
        }
        return latest == Long.MIN_VALUE ? Long.MAX_VALUE : latest + within;
    }

    private void giveUp(long now) {
        PriorityQueue<Run> next = new PriorityQueue<>();
        for (Run run : runs) {
            Run left = run.first() == fresh ? run : run.from(match -> now - match.time < within);
            if (left != null) {
                next.add(left);
            }
        }
        emitCompleted(next, now);
    }

    /** Gives the complete matches that no earlier one can skip any more, each of which skips others. */
    private void emitCompleted(PriorityQueue<Run> next, long moment) {
        runs = next;
        while (!complete.isEmpty() && complete.peek().start <= runs.peek().first().start) {
            Match match = complete.poll();
            long until = skipped(match);
            if (together) {
                while (!complete.isEmpty() && complete.peek().start <= until) {
                    complete.poll();
                }
                PriorityQueue<Run> left = new PriorityQueue<>();
                runs.stream()
                        .map(run -> run.from(m -> m.start > until))
                        .filter(Objects::nonNull)
                        .forEach(left::add);
                runs = left;
            } else {
                runs.removeIf(run -> run.first().start <= until);
                complete.removeIf(m -> m.start <= until);
            }
            rows.emit(match, moment);
        }
        if (together && skip == Skip.PAST_LAST_ROW && within == 0 && complete.isEmpty()) {
            // Of matches that the same rows complete the first skips all others.
            runs.forEach(run -> run.matches.subList(1, run.matches.size()).clear());
        }
    }

    /** The last row at which no match may begin after {@code match}. */
    private long skipped(Match match) {
        switch (skip) {
            case PAST_LAST_ROW:
                return match.last;
            case TO_NEXT_ROW:
                return match.start;
            default:
                long first = match.first(target);
                if (first == Match.NONE) {
                    throw new IllegalStateException(
                            "Could not skip to a variable of the pattern. No such element in the found match.");
                }
                long to = skip == Skip.TO_FIRST ? first : match.last(target, match.last);
                if (to == match.start) {
                    throw new IllegalStateException("Could not skip to first element of a match.");
                }
                return to - 1;
        }
    }

    /** The first row of any match; Long.MAX_VALUE without one. */
    long earliest() {
        return Math.min(
                complete.isEmpty() ? Long.MAX_VALUE : complete.peek().start,
                runs.peek().first().start);
    }

    /** When the first match will be given up, if no row comes; Long.MAX_VALUE for never. */
    long expires() {
        long time = runs.peek().first().time;
        return within == 0 || time == Long.MAX_VALUE ? Long.MAX_VALUE : time + within;
    }

    /** Begin with what {@link #store} wrote, or nothing. */
    void load(ByteBuffer buffer) {
        runs = new PriorityQueue<>();
        complete = new PriorityQueue<>();
        if (!buffer.hasRemaining()) {
            runs.add(new Run(pattern.start(), new ArrayList<>(List.of(fresh))));
            return;
        }
        int size = buffer.getInt();
        for (int i = 0; i < size; i++) {
            int state = buffer.getInt();
            List<Match> matches = read(buffer);
            runs.add(new Run(state, matches.isEmpty() ? new ArrayList<>(List.of(fresh)) : matches));
        }
        complete.addAll(read(buffer));
    }

    /** The first row of any match that {@link #store} wrote. */
    static long earliest(ByteBuffer buffer, int variables) {
        long earliest = Long.MAX_VALUE;
        int runs = buffer.getInt();
        // Behind the runs are the complete ones.
        for (int i = 0; i <= runs; i++) {
            if (i < runs) {
                buffer.getInt();
            }
            for (Match match : read(buffer, variables)) {
                earliest = Math.min(earliest, match.start);
            }
        }
        return earliest;
    }

    private List<Match> read(ByteBuffer buffer) {
        return read(buffer, variables);
    }

    private static List<Match> read(ByteBuffer buffer, int variables) {
        int size = buffer.getInt();
        List<Match> found = new ArrayList<>(size);
        for (int i = 0; i < size; i++) {
            long[] begins = new long[variables];
            for (int j = 0; j < variables; j++) {
                begins[j] = buffer.getLong();
            }
            found.add(new Match(begins, buffer.getLong(), buffer.getLong(), buffer.getLong()));
        }
        return found;
    }

    /** How many bytes {@link #store} writes. */
    int size() {
        int matches = complete.size()
                + runs.stream()
                        .mapToInt(run -> run.first() == fresh ? 0 : run.matches.size())
                        .sum();
        return 8 + 8 * runs.size() + 8 * (variables + 3) * matches;
    }

    void store(ByteBuffer buffer) {
        buffer.putInt(runs.size());
        for (Run run : runs) {
            buffer.putInt(run.state);
            write(run.first() == fresh ? List.of() : run.matches, buffer);
        }
        write(complete, buffer);
    }

    private void write(Iterable<Match> matches, ByteBuffer buffer) {
        int place = buffer.position();
        buffer.putInt(0);
        int size = 0;
        for (Match match : matches) {
            for (long begin : match.begins) {
                buffer.putLong(begin);
            }
            buffer.putLong(match.start).putLong(match.time).putLong(match.last);
            size++;
        }
        buffer.putInt(place, size);
    }
}
