"""The pattern of MATCH_RECOGNIZE as Flink's automaton: its states and their order decide which of several matches is emitted.

    A+ B  ->   0: end
               1: B   take to 0 if B and not A
               2: A   proceed to 1; take to 2 if A
               3: A   take to 2 if A                   the start: the last state

The rows of a match are consecutive: each is mapped to a variable, or the match is abandoned.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlstream.core.errors import ValidationError

if TYPE_CHECKING:
    from sqlglot import exp

    from sqlstream.plan.nodes import PatternVariable


@dataclass
class Edge:
    """A way out of a state: with the row mapped to the state's variable, or without looking at it.

    It is open if the definition of ``when``, if there is one, is TRUE, and that of no variable in ``unless``. Variables are numbers.
    """

    takes: bool
    target: int
    when: int | None = None
    unless: list[int] = field(default_factory=list)


@dataclass
class State:
    """``variable`` is the one to which rows are mapped here; None at the end."""

    variable: int | None
    edges: list[Edge] = field(default_factory=list)


def automaton(pattern: tuple[PatternVariable, ...]) -> list[State]:
    """The states of ``pattern``: the first is the end, the last one the start."""
    states = [State(None)]
    sink = 0
    for number in reversed(range(len(pattern))):
        sink = _Builder(states, number, pattern[number]).entry(sink)
    return states


@dataclass
class _Builder:
    """Adds the states of one variable."""

    states: list[State]
    number: int
    variable: PatternVariable

    def entry(self, sink: int) -> int:
        """The state in which the variable begins; ``sink`` comes after it."""
        low, high = max(self.variable.low, 1), self.variable.high
        greedy = self.variable.greedy and self.variable.varies
        if greedy:
            # What comes next takes no row that the variable could take.
            for edge in self.states[sink].edges:
                edge.unless.append(self.number)
        last = sink
        if high is None:
            last = self._state()
            self.states[last].edges = [Edge(False, sink), Edge(True, last, self.number)]
        for _ in range(0 if high is None else high - low):
            last = self._single(last, sink)
        for _ in range(low - 1):
            last = self._single(last, None)
        return self._single(last, sink if self.variable.low == 0 else None)

    def _single(self, after: int, skipped: int | None) -> int:
        """A state that takes one row; ``skipped`` is where it may be left without one."""
        made = self._state()
        self.states[made].edges = [Edge(True, after, self.number), *([] if skipped is None else [Edge(False, skipped)])]
        return made

    def _state(self) -> int:
        self.states.append(State(self.number))
        return len(self.states) - 1


def one_way(pattern: tuple[PatternVariable, ...]) -> bool:
    """Whether a row can continue a match in at most one way, so that at most one match begins at a row: everything that varies is greedy."""
    return all(v.greedy for v in pattern if v.varies)


def refuse(pattern: tuple[PatternVariable, ...], at: exp.Expr) -> None:
    """Raises ValidationError for a pattern that Flink refuses."""
    names = [v.name for v in pattern]
    if len(set(names)) < len(names):
        raise ValidationError("Pattern variables must be unique. That might change in the future.", at=at)
    for before, variable in zip((None, *pattern), pattern, strict=False):
        least = max(variable.low, 1)
        if variable.high is not None and variable.high < least:
            raise ValidationError(f"The to should be a number greater than or equal to from: {least}.", at=at)
        if variable.low == 0 and variable.high in (1, None) and before is not None and before.greedy:
            raise ValidationError(
                "Optional pattern cannot be preceded by greedy pattern", at=at, hint=f"Write {before.name} with a reluctant quantifier."
            )
    if all(v.low == 0 for v in pattern):
        raise ValidationError("Patterns that can produce empty matches are not supported. There must be at least one non-optional state.", at=at)
    if pattern[-1].greedy:
        raise ValidationError(
            "Greedy quantifiers are not allowed as the last element of a Pattern yet. Finish your pattern with either a simple variable or "
            "reluctant quantifier.",
            at=at,
        )
