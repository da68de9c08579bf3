package sqlstream.patterns;

import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * A pattern of rows as an automaton, which Python builds ({@code plan/builder/row_pattern.py} says what it is).
 * Variables and states are numbers.
 */
final class RowPattern implements Serializable {
    static final int END = 0;

    /**
     * A way out of a state. It is open if the row is one of {@code when}, where that is not null, and of none in
     * {@code unless}. One that takes the row takes it for {@code when}.
     */
    record Edge(boolean takes, int target, Integer when, List<Integer> unless) implements Serializable {}

    /** Whether the row that is looked at is one of a variable. */
    interface Definitions {
        boolean hold(int variable);
    }

    private final List<List<Edge>> states;

    /** {@code states}: for each its edges. */
    RowPattern(List<List<Edge>> states) {
        this.states = states;
    }

    int start() {
        return states.size() - 1;
    }

    /** The edges by which the row can be taken in {@code state}. */
    List<Edge> taking(int state, Definitions definitions) {
        List<Edge> found = new ArrayList<>(2);
        Deque<Integer> open = new ArrayDeque<>();
        open.push(state);
        while (!open.isEmpty()) {
            for (Edge edge : states.get(open.pop())) {
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
            for (Edge edge : states.get(next)) {
                if (!edge.takes && isThere(edge, definitions)) {
                    open.push(edge.target);
                }
            }
        }
        return false;
    }

    private static boolean isThere(Edge edge, Definitions definitions) {
        if (edge.when != null && !definitions.hold(edge.when)) {
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
