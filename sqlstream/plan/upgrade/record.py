"""A plan as it is kept with a version of a job: its nodes by stable ids, what they keep, what is read and written."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlstream.connectors import find_connector, lasting_options
from sqlstream.core.errors import ValidationError
from sqlstream.plan.explain import describe
from sqlstream.plan.identity import below, nodes_of, own_fields, user_functions
from sqlstream.plan.nodes import (
    CoGroup,
    GroupAggregate,
    Join,
    KeyedJoin,
    Project,
    Scan,
    Union,
    WindowAggregate,
    scans,
)
from sqlstream.plan.properties import changelog_mode, fields, state_ttl, static
from sqlstream.sql.bind import to_text
from sqlstream.sql.expressions import ColumnRef
from sqlstream.sql.generated_names import reserved, shown
from sqlstream.udf.declarations.code import codes
from sqlstream.udf.declarations.functions import calls_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sqlstream.plan.nodes import Node, Sink
    from sqlstream.sql.expressions import Expr
    from sqlstream.sql.tables import Table

# Of what PlanRecord.to_json gives. A record without one is of a release that had only the first.
SCHEMA = 1
# A column of the planner, as EXPLAIN calls it.
_OF_PLAN = re.compile(r"(?<!\w)\$\w+")
# Of fields that say how rows are looked at, and not what is kept.
_NOT_KEPT = ("condition",)


@dataclass(frozen=True)
class NodeRecord:
    """A node. ``id``: the hash of all of its sub-tree; ``own``: of itself above columns of these types, whatever makes them; ``layout``: the same
    without conditions, which change what comes out and not what is kept. ``text`` is its line in EXPLAIN, where it keeps state.

    ``layout`` is empty where what has come out would have to be taken back by the condition by which it came. ``takes``: the hashes of what makes the
    rows of its inputs that can be taken back, each down to what holds them: it finds them by all of their values.
    ``holders``: the ids of what holds them, ``functions``: the functions in Python that make them, on the way down.

    Of what keeps state: ``places`` has for each of its inputs the hashes of where it reads.

    Of aggregates: ``groups`` is the hash of what they group by, ``aggregates`` those of the calls, each with its text.
    """

    id: str
    own: str
    layout: str
    text: str
    keeps_state: bool
    groups: str = ""
    aggregates: tuple[tuple[str, str], ...] = ()
    takes: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    places: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class SourceRecord:
    """A table that is read as a stream. ``name``: the source's in the checkpoint; ``places``: where it is read, whatever it is called
    (Connector.places); ``branch``: the hash of what is made of its rows alone; ``connector``: which says whether places go on. ``options``: the
    hashes of what its options are set to, without secrets and those that only tune; None where that is not known.
    """

    table: str
    name: str
    places: tuple[str, ...]
    branch: str
    connector: str = ""
    options: Mapping[str, str] | None = None


@dataclass(frozen=True)
class SinkRecord:
    """An INSERT: the nodes below it, inputs first. ``appends``: what is written again is there twice. ``statics``: the ids of inputs that are kept as
    they were when the job began. ``place``: where it writes; empty where nothing is kept. ``key``: the columns of its PRIMARY KEY; None where that is
    not known. ``options``: as of SourceRecord.
    """

    table: str
    appends: bool
    nodes: tuple[NodeRecord, ...]
    sources: tuple[SourceRecord, ...]
    statics: tuple[str, ...]
    columns: tuple[str, ...]
    place: str = ""
    key: tuple[str, ...] | None = None
    options: Mapping[str, str] | None = None


class Known(Enum):
    """By what records know where tables are read and written."""

    PLACE = "place"
    # Records of earlier releases: by the hash of the options of a table, by that of these and its name.
    OPTIONS = "options"
    TABLE = "table"


@dataclass(frozen=True)
class PlanRecord:
    """The plan of a job in the time zone ``zone``, and the hashes of the code of its ``functions`` in Python; both empty in records of earlier
    releases."""

    sinks: tuple[SinkRecord, ...]
    zone: str = ""
    functions: Mapping[str, str] = field(default_factory=dict)
    known: Known = Known.PLACE

    def to_json(self, masked: Callable[[str], str] = str) -> dict[str, Any]:
        """As JSON has it; ``masked`` takes secrets out of the texts of nodes."""
        kept = {"schema": SCHEMA, **asdict(self), "known": self.known.value}
        for sink in kept["sinks"]:
            for node in sink["nodes"]:
                node["text"] = masked(node["text"])
        return kept

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> PlanRecord:
        """The record that ``to_json`` gave, in this release or an earlier one.

        Raises ValidationError for one of a later release, TypeError or KeyError for anything else.
        """
        if (schema := kept.get("schema", SCHEMA)) > SCHEMA:
            raise ValidationError(
                f"The record of the job's plan has schema {schema}, of a newer release: this one reads schemas up to {SCHEMA}.",
                hint="Continue the job with the release that it ran with last.",
            )
        of_options = all(source.get("place") for sink in kept["sinks"] for source in sink["sources"])
        known = Known(kept.get("known", "options" if of_options else "table"))
        return cls(tuple(_sink_of(sink, known) for sink in kept["sinks"]), kept.get("zone", ""), kept.get("functions", {}), known)


def _sink_of(kept: dict[str, Any], known: Known) -> SinkRecord:
    lists = {"statics": tuple(kept["statics"]), "columns": tuple(kept["columns"]), "key": None if kept.get("key") is None else tuple(kept["key"])}
    return SinkRecord(
        **{**kept, **lists, "nodes": tuple(map(_node_of, kept["nodes"])), "sources": tuple(_source_of(source, known) for source in kept["sources"])}
    )


def _source_of(kept: dict[str, Any], known: Known) -> SourceRecord:
    match known:
        case Known.PLACE:
            return SourceRecord(**{**kept, "places": tuple(kept["places"])})
        case Known.OPTIONS:
            return SourceRecord(kept["table"], kept["name"], (kept["place"],), kept["branch"])
    return SourceRecord(kept["table"], kept["name"], (kept["reads"],), kept["branch"])


def _node_of(kept: dict[str, Any]) -> NodeRecord:
    aggregates = tuple((call, text) for call, text in kept.get("aggregates", ()))
    lists = {name: tuple(kept.get(name, ())) for name in ("takes", "holders", "functions")}
    return NodeRecord(**{**kept, **lists, "aggregates": aggregates, "places": tuple(map(tuple, kept.get("places", ())))})


def record(sinks: Iterable[Sink], zone: str, known: Known = Known.PLACE) -> PlanRecord:
    """The record of the plan of a job in this time zone, as it is compared with one that knows places so."""
    sinks = tuple(sinks)
    called = (function for sink in sinks for node in nodes_of(sink) for function in user_functions(node))
    return PlanRecord(tuple(_sink(sink, known) for sink in sinks), zone, codes(called), known)


def other_code(old: PlanRecord, new: PlanRecord) -> tuple[str, ...]:
    """The names of the user's functions that both plans call, and whose code is another."""
    return tuple(name for name, code in new.functions.items() if old.functions.get(name, code) != code)


def node_ids(sink: Sink) -> dict[int, str]:
    """The stable ids of the nodes below ``sink``, by Python's ``id``: hashes of their sub-trees."""
    ids: dict[int, str] = {}
    for node in nodes_of(sink):
        ids[id(node)] = _hash([own_fields(node), *(ids[id(part)] for part in below(node))])
    return ids


def _sink(sink: Sink, known: Known) -> SinkRecord:
    ids = node_ids(sink)
    nodes = []
    taken_back: dict[int, tuple[_Taken, ...]] = {}
    places: dict[int, frozenset[str]] = {}
    # Records of earlier releases know nodes and sinks by the hash of options in any case.
    by = known if known is Known.PLACE else Known.OPTIONS
    for node in nodes_of(sink):
        here = _places(node.table, by) if isinstance(node, Scan) else ()
        places[id(node)] = frozenset(here).union(*(places[id(part)] for part in below(node)))
        inputs = [[own_fields(i, columns_only=True), changelog_mode(i).value] for i in node.inputs]
        meant = _meant(node)
        own = _expiring(own_fields(meant))
        keeps = node.keeps_state and not static(node)
        takes = tuple(row for i in node.inputs for row in taken_back[id(i)])
        called = frozenset(function.name for function in user_functions(node))
        taken_back[id(node)] = _taken_back(node, own, called, ids[id(node)], takes, keeps=keeps)
        made = NodeRecord(
            ids[id(node)], _hash([own, inputs]), _hash([_without_conditions(own), inputs]) if _lasts(node) else "", "", keeps, *_aggregation(meant)
        )
        if keeps:
            functions = tuple(sorted(frozenset().union(*(row.functions for row in takes))))
            text = _explained(describe(node), node)
            made = replace(made, text=text, takes=tuple(row.made for row in takes), holders=tuple(row.holder for row in takes), functions=functions)
            made = replace(made, places=tuple(tuple(sorted(places[id(i)])) for i in _sides(node)))
        nodes.append(made)
    appends = sink.table.primary_key is None
    columns = tuple(c.name for c in sink.table.persisted)
    place = " ".join(_places(sink.table, by, written=True))
    key = () if sink.table.primary_key is None else sink.table.primary_key.columns
    return SinkRecord(
        str(sink.table.path), appends, tuple(nodes), _sources(sink, ids, known), _statics(sink, ids), columns, place, tuple(key), _hashes(sink.table)
    )


def _places(table: Table, known: Known, *, written: bool = False) -> tuple[str, ...]:
    match known:
        case Known.PLACE:
            return find_connector(table.connector).places(table, written=written)
        case Known.OPTIONS:
            return (_hash(_options(table)),)
    return (_hash([str(table.path), _options(table)]),)


def _sides(node: Node) -> tuple[Node, ...]:
    """The inputs of ``node``, of what runs a join those of the join."""
    return node.input.inputs if isinstance(node, KeyedJoin | CoGroup) else node.inputs


class _Taken(NamedTuple):
    """What makes rows that can be taken back: the hash of all that does, the id of what holds them, the functions in Python that are called."""

    made: str
    holder: str
    functions: frozenset[str]


def _taken_back(node: Node, own: Any, called: frozenset[str], node_id: str, takes: tuple[_Taken, ...], *, keeps: bool) -> tuple[_Taken, ...]:
    """What makes the rows of ``node`` that can be taken back, of an input whose rows ``takes`` make. What holds rows takes back what it has given."""
    if not changelog_mode(node).retracts:
        return ()
    if keeps or not node.inputs:
        return (_Taken(_hash(own), node_id, called),)
    return takes if isinstance(node, Union) else tuple(_Taken(_hash([own, row.made]), row.holder, row.functions | called) for row in takes)


def _lasts(node: Node) -> bool:
    """Whether what ``node`` gives stays what it is, whatever comes."""
    join = node.join if isinstance(node, KeyedJoin) else node
    return not changelog_mode(node).retracts and not (isinstance(join, Join) and join.kind.left_only)


def _sources(sink: Sink, ids: dict[int, str], known: Known) -> tuple[SourceRecord, ...]:
    branches = _branches(sink, ids, known)
    numbers: Counter[str] = Counter()
    sources: list[SourceRecord] = []
    for scan in scans(sink):
        # As the lowering names them.
        safe = re.sub(r"\W", "_", scan.table.path.name, flags=re.ASCII)
        numbers[safe] += 1
        if not scan.static:
            name = safe if numbers[safe] == 1 else f"{safe}_{numbers[safe]}"
            places, branch = _places(scan.table, known), branches[len(sources)]
            sources.append(SourceRecord(str(scan.table.path), name, places, branch, scan.table.connector, _hashes(scan.table)))
    return tuple(sources)


def _options(table: Table) -> dict[str, str]:
    return dict(sorted(lasting_options(table).items()))


def _hashes(table: Table) -> dict[str, str]:
    return {key: _hash(value) for key, value in _options(table).items()}


def _branches(sink: Sink, ids: dict[int, str], known: Known) -> list[str]:
    """Of each scan of a stream, from left to right, what is made of its rows up to the highest node that has no other input: the hash of that, and of
    the places; in records of earlier releases the node's id."""
    found: list[str] = []
    waiting: list[tuple[Node, tuple[Node, ...]]] = [(sink.input, ())]
    while waiting:
        node, above = waiting.pop()
        if isinstance(node, Scan) and not node.static:
            made = [own_fields(each) for each in above]
            found.append(_hash([_places(node.table, known), *made]) if known is Known.PLACE else ids[id((*above, node)[0])])
        waiting += [(part, (*above, node) if len(node.inputs) == 1 else ()) for part in reversed(node.inputs)]
    return found


def _statics(sink: Sink, ids: dict[int, str]) -> tuple[str, ...]:
    if static(sink):
        return ()
    return tuple(ids[id(i)] for node in nodes_of(sink) if not static(node) for i in node.inputs if static(i))


def _meant(node: Node) -> Node:
    """``node``; an aggregate with what its arguments stand for in the place of columns that have no name of the user's, and without how its rows are
    taken where it keeps the same either way."""
    if isinstance(node, GroupAggregate) and (changelog_mode(node.input).updates or any(a.call.distinct for a in node.aggregates)):
        node = replace(node, upserts=False)
    if not isinstance(node, GroupAggregate | WindowAggregate) or not isinstance(node.input, Project):
        return node
    made = {c.name: c.expr for c in node.input.columns if reserved(c.name)}

    def stands_for(expr: Expr) -> Expr | None:
        return made.get(expr.name) if isinstance(expr, ColumnRef) else None

    calls = (a.call.with_children(tuple(c.transform(stands_for) for c in a.call.children)) for a in node.aggregates)
    return replace(node, aggregates=tuple(replace(a, call=call) for a, call in zip(node.aggregates, calls, strict=True)))


def _explained(text: str, node: Node) -> str:
    """``text``, about ``node``, with what the planner's columns stand for instead of their names."""
    if _OF_PLAN.search(text) is None:
        return text
    made: dict[str, str] = {}
    # Nearer ones come later.
    for project in nodes_of(node):
        if isinstance(project, Project) and project is not node:
            made |= {shown(c.name): shown(to_text(c.expr)) for c in project.columns if reserved(c.name) and to_text(c.expr) != c.name}
    for _ in range(len(made)):
        before, text = text, _OF_PLAN.sub(lambda match: made.get(match[0], match[0]), text)
        if text == before:
            break
    return text


def _aggregation(node: Node) -> tuple[str, tuple[tuple[str, str], ...]]:
    """What an aggregate groups by, and its calls: as NodeRecord has them."""
    if not isinstance(node, GroupAggregate | WindowAggregate) or not _told_apart(node):
        return "", ()
    types = {f.name: f.type for f in fields(node.input)}
    of = node.input.columns if isinstance(node.input, Project) else ()
    made = {c.name: to_text(c.expr) for c in of if reserved(c.name)}
    keys = [[made.get(key, key), str(types[key])] for key in node.keys]
    ((kind, own),) = _expiring(own_fields(replace(node, aggregates=()))).items()
    groups = {kind: {name: value for name, value in own.items() if name not in ("keys", "aggregates", "input")}}
    calls = [a.call for a in node.aggregates]
    hashes = [_hash([own_fields(replace(node, aggregates=(replace(a, name=""),))), str(a.call.type)]) for a in node.aggregates]
    return _hash([groups, keys, changelog_mode(node.input).value]), tuple(zip(hashes, map(to_text, calls), strict=True))


def _told_apart(node: GroupAggregate | WindowAggregate) -> bool:
    """Whether what each of its aggregates keeps is told from that of the others: not where rows are taken back, values are counted, or state
    expires.
    """
    counted = any(a.call.distinct or calls_python(a.call) for a in node.aggregates)
    return not counted and not changelog_mode(node.input).updates and not state_ttl(node)


def _expiring(own: Any) -> Any:
    """``own``, in which a time to live says only whether there is one, and aggregates have no names."""
    match own:
        case {"NamedAggregate": {"call": call, **others}}:
            return {"NamedAggregate": {"call": _expiring(call), **{k: v for k, v in others.items() if k != "name"}}}
        case dict():
            return {k: _any(v) if k == "ttl" else _expiring(v) for k, v in own.items()}
        case list():
            return [_expiring(v) for v in own]
    return own


def _any(ttl: Any) -> bool:
    return any(map(_any, ttl)) if isinstance(ttl, list) else bool(ttl)


def _without_conditions(own: Any) -> Any:
    match own:
        case dict():
            return {k: _without_conditions(v) for k, v in own.items() if k not in _NOT_KEPT}
        case list():
            return [_without_conditions(v) for v in own]
    return own


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
