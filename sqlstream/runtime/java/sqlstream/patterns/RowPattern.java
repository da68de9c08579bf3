package sqlstream.patterns;

import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * A pattern of rows as an automaton, which Python builds ({@code plan/build/row_pattern.py} says what it is). Variables
 * and states are numbers.
 */
final class RowPattern implements Serializable {
    static final int END = 0;
    static final int NONE = -1;

    /** A way out of a state. One that takes the row takes it for the variable {@code when}. */
    record Edge(boolean takes, int target, int when, int[] unless) implements Serializable {}

    /** Whether the row that is looked at is one of a variable. */
    interface Definitions {
        boolean hold(int variable);
    }

    private final Edge[][] states;

    /** {@code edges}: for each state its edges, each as takes, target, when, unless... */
    RowPattern(List<List<List<Integer>>> edges) {
        states = edges.stream()
                .map(state -> state.stream().map(RowPattern::edge).toArray(Edge[]::new))
                .toArray(Edge[][]::new);
    }

    private static Edge edge(List<Integer> numbers) {
        int[] unless = numbers.stream().skip(3).mapToInt(Integer::intValue).toArray();
        return new Edge(numbers.get(0) == 1, numbers.get(1), numbers.get(2), unless);
    }

    int start() {
        return states.length - 1;
    }

    /** The edges by which the row can be taken in {@code state}. */
    List<Edge> taking(int state, Definitions definitions) {
        List<Edge> found = new ArrayList<>(2);
        Deque<Integer> open = new ArrayDeque<>();
        open.push(state);
        while (!open.isEmpty()) {
            for (Edge edge : states[open.pop()]) {
                if (isThere(edge, definitions)) {
                    if (edge.takes) {
                        found.add(edge);
                    } else {
                        open.push(edge.target);
                    }
                }
            }
        }
        return found;
    }

    /**
     * Whether the end can be reached from {@code state}, which has been reached with the row, without a further one.
     */
    boolean ends(int state, Definitions definitions) {
        Deque<Integer> open = new ArrayDeque<>();
        open.push(state);
        while (!open.isEmpty()) {
            int next = open.pop();
            if (next == END) {
                return true;
            }
            for (Edge edge : states[next]) {
                if (!edge.takes && isThere(edge, definitions)) {
                    open.push(edge.target);
                }
            }
        }
        return false;
    }

    private static boolean isThere(Edge edge, Definitions definitions) {
        if (edge.when != NONE && !definitions.hold(edge.when)) {
            return false;
        }
        for (int variable : edge.unless) {
            if (definitions.hold(variable)) {
                return false;
            }
        }
        return true;
    }
}
