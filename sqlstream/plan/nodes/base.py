"""What every node is and answers. A node's module has all that it is: its fields and the answers, which are computed from those of its inputs.

``plan/properties`` asks, and computes each answer once. An abstract method is what each node has to say for itself; the others have an answer that is
right for a node that adds nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, is_dataclass, replace
from dataclasses import fields as dataclass_fields
from typing import TYPE_CHECKING, Any, ClassVar

from sqlstream.core.changelog import ChangelogMode
from sqlstream.plan import properties
from sqlstream.sql.expressions import Expr

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sqlglot import exp

    from sqlstream.plan.lineage import Lineage
    from sqlstream.plan.nodes.columns import Field
    from sqlstream.plan.nodes.windows import Windowing


@dataclass(frozen=True)
class Node(ABC):
    """Base of logical nodes.

    ``keeps_state``: over a stream it keeps something from one micro-batch to the next, which a later version of a job goes on with.
    ``recorded``: what records of plans call it, and each of its fields, in the order of the class; what is compared is in it. It stays when the class
    or a field gets another name. ``by_time``: its rows go by event time, or by windows of the clock. ``real_time``: Spark gives each row on
    at once, without a micro-batch; where it keeps state, in the releases that can. ``waiting``: the sentence about rows that it holds back until the
    watermark, up to where that is; empty where it holds none, or does so for a window. ``at``: its clause in the statement, see ``plan/places``.
    """

    recorded: ClassVar[tuple[str, ...]]
    keeps_state: ClassVar[bool]
    by_time: ClassVar[bool] = False
    real_time: ClassVar[bool] = False
    waiting: ClassVar[str] = ""

    at: exp.Expr | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The nodes whose rows it takes."""
        return ()

    @property
    def tables(self) -> tuple[Node, ...]:
        """Nodes whose rows it looks up."""
        return ()

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        """The same over other inputs."""
        assert not inputs
        return self

    def expressions(self) -> Iterator[Expr]:
        """The outermost expressions of the node itself, not of those that it is made of."""
        for each in dataclass_fields(self):
            yield from _expressions(getattr(self, each.name))

    # --- what each says -----------------------------------------------------------------------------------------------

    @abstractmethod
    def output(self) -> tuple[Field, ...]:
        """Its columns: see ``fields``."""

    @abstractmethod
    def explain(self) -> tuple[str, ...]:
        """Its line in EXPLAIN: a name, then ``attribute=[value]``."""

    @abstractmethod
    def reads(self) -> set[str]:
        """The columns of its inputs that it looks at, beside passing them on."""

    @abstractmethod
    def lineage(self) -> Lineage:
        """See ``plan/lineage``."""

    @abstractmethod
    def trusted(self) -> Mapping[str, bool]:
        """See ``unchecked``; also for columns whose type allows NULL."""

    # --- what most don't change ---------------------------------------------------------------------------------------

    def changelog(self) -> ChangelogMode:
        """See ``changelog_mode``; of a stream. With several inputs no key says which row replaces which, so all have to retract."""
        modes = [properties.changelog_mode(i) for i in self.inputs]
        updating = [m for m in modes if m.updates]
        if len(modes) <= 1 or not updating:
            return updating[0] if updating else ChangelogMode.APPEND
        return ChangelogMode.RETRACT_DELETE if any(m.deletes for m in updating) else ChangelogMode.RETRACT

    def key(self) -> tuple[str, ...] | None:
        """See ``upsert_key``."""
        return None

    def task_keys(self) -> tuple[frozenset[str], ...] | None:
        """See ``task_keys``."""
        return None

    def windowing(self) -> Windowing | None:
        """See ``windowing``."""
        return None

    def is_bounded(self) -> bool:
        """See ``bounded``."""
        return all(properties.bounded(i) for i in self.inputs)

    def is_static(self) -> bool:
        """See ``static``."""
        return all(properties.static(i) for i in self.inputs)

    def awaits_watermark(self) -> bool:
        """See ``awaits_watermark``."""
        return False

    def lag(self) -> int:
        """By how many milliseconds more than those of its inputs its rows can be behind the watermark."""
        return 0

    def ttl_ms(self) -> int:
        """See ``state_ttl``."""
        return 0

    def with_default_ttl(self, _ms: int) -> Node:
        """The same, whose state expires after so many milliseconds where no hint says when."""
        return self

    def bound(self) -> str | None:
        """What would bound its state, which grows for as long as a stream runs; None where it does not."""
        return None

    def lost_time(self, _name: str) -> str | None:
        """Where its column ``name`` has lost its time attribute, as a sentence; None where it never had one."""
        return None


@dataclass(frozen=True)
class Unary(Node):
    """Base of nodes with one input."""

    input: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return self if inputs[0] is self.input else replace(self, input=inputs[0])

    def key(self) -> tuple[str, ...] | None:
        return properties.upsert_key(self.input)

    def trusted(self) -> Mapping[str, bool]:
        return properties.unchecked(self.input)

    def passed_time(self, name: str) -> str | None:
        """``lost_time`` of what passes the columns of its input on."""
        return self.input.lost_time(name) if name in {f.name for f in properties.fields(self.input)} else None


@dataclass(frozen=True)
class OneByOne(Unary):
    """Base of nodes of which each row is one of the input's, at once: they compute columns, or leave rows out. Whoever looks for windows, keys, time
    attributes, the numbers of a Top-N or the versions of a temporal join looks through them.

    ``leaves_out``: not every row of the input comes out.
    """

    keeps_state: ClassVar = False
    leaves_out: ClassVar[bool] = False

    @property
    def sources(self) -> Mapping[str, str]:
        """The names of its columns that are columns of its input, with the names that these have there; in the order of its columns."""
        return {f.name: f.name for f in properties.fields(self.input)}

    @property
    def distinct(self) -> Mapping[str, str]:
        """``sources``, and what is computed of one column and has as many values as that."""
        return self.sources

    def carrying(self, source: Node, name: str, new: str) -> tuple[OneByOne, str]:
        """The same over ``source``, the input with one column more, ``name``, which it passes on: as ``new`` where it lists its columns. The second
        is what it calls it.
        """
        return replace(self, input=source), name

    def key(self) -> tuple[str, ...] | None:
        below = properties.upsert_key(self.input)
        return None if below is None else names_of(below, self.distinct)

    def task_keys(self) -> tuple[frozenset[str], ...] | None:
        below = properties.task_keys(self.input)
        return below and tuple(frozenset(name for name, source in self.distinct.items() if source in key) for key in below)

    def windowing(self) -> Windowing | None:
        below = properties.windowing(self.input)
        return below and below.passed(self.sources)

    def lost_time(self, name: str) -> str | None:
        return self.input.lost_time(self.sources[name]) if name in self.sources else None


def names_of(columns: tuple[str, ...], sources: Mapping[str, str]) -> tuple[str, ...] | None:
    """What ``columns`` of an input are called above it, by names with their sources: the first of each. None where one is left out."""
    names: dict[str, str] = {}
    for name, source in sources.items():
        names.setdefault(source, name)
    return tuple(names[c] for c in columns) if names.keys() >= set(columns) else None


def _expressions(value: Any) -> Iterator[Expr]:
    if isinstance(value, Expr):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _expressions(item)
    elif is_dataclass(value) and not isinstance(value, Node):
        for each in dataclass_fields(value):
            yield from _expressions(getattr(value, each.name))
