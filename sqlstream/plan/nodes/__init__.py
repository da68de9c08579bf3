"""Logical nodes. Each is a frozen value; its columns, changelog mode and other properties are functions of it in ``plan/properties``.

Column names are unique within a node's output; expressions refer to the input's columns by name.
"""

from __future__ import annotations

from sqlstream.plan.nodes.aggregates import GroupAggregate as GroupAggregate
from sqlstream.plan.nodes.aggregates import NamedAggregate as NamedAggregate
from sqlstream.plan.nodes.aggregates import Over as Over
from sqlstream.plan.nodes.aggregates import Rank as Rank
from sqlstream.plan.nodes.aggregates import WindowAggregate as WindowAggregate
from sqlstream.plan.nodes.aggregates import WindowRank as WindowRank
from sqlstream.plan.nodes.joins import NO_HINTS as NO_HINTS
from sqlstream.plan.nodes.joins import SIDE as SIDE
from sqlstream.plan.nodes.joins import CoGroup as CoGroup
from sqlstream.plan.nodes.joins import Collected as Collected
from sqlstream.plan.nodes.joins import IntervalJoin as IntervalJoin
from sqlstream.plan.nodes.joins import Join as Join
from sqlstream.plan.nodes.joins import JoinHints as JoinHints
from sqlstream.plan.nodes.joins import JoinKind as JoinKind
from sqlstream.plan.nodes.joins import JoinSide as JoinSide
from sqlstream.plan.nodes.joins import KeyedJoin as KeyedJoin
from sqlstream.plan.nodes.joins import LookupJoin as LookupJoin
from sqlstream.plan.nodes.joins import Retry as Retry
from sqlstream.plan.nodes.joins import Snapshot as Snapshot
from sqlstream.plan.nodes.joins import TemporalJoin as TemporalJoin
from sqlstream.plan.nodes.joins import WindowJoin as WindowJoin
from sqlstream.plan.nodes.patterns import Match as Match
from sqlstream.plan.nodes.patterns import MatchValue as MatchValue
from sqlstream.plan.nodes.patterns import PatternVariable as PatternVariable
from sqlstream.plan.nodes.patterns import RowsValue as RowsValue
from sqlstream.plan.nodes.patterns import RowValue as RowValue
from sqlstream.plan.nodes.patterns import Skip as Skip
from sqlstream.plan.nodes.rows import ChangelogNormalize as ChangelogNormalize
from sqlstream.plan.nodes.rows import Correlate as Correlate
from sqlstream.plan.nodes.rows import Expand as Expand
from sqlstream.plan.nodes.rows import Field as Field
from sqlstream.plan.nodes.rows import Filter as Filter
from sqlstream.plan.nodes.rows import Limit as Limit
from sqlstream.plan.nodes.rows import Named as Named
from sqlstream.plan.nodes.rows import Node as Node
from sqlstream.plan.nodes.rows import Project as Project
from sqlstream.plan.nodes.rows import Scan as Scan
from sqlstream.plan.nodes.rows import Sink as Sink
from sqlstream.plan.nodes.rows import Sort as Sort
from sqlstream.plan.nodes.rows import SortKey as SortKey
from sqlstream.plan.nodes.rows import TimeAttribute as TimeAttribute
from sqlstream.plan.nodes.rows import Unary as Unary
from sqlstream.plan.nodes.rows import Union as Union
from sqlstream.plan.nodes.rows import Values as Values
from sqlstream.plan.nodes.rows import Watermark as Watermark
from sqlstream.plan.nodes.windows import WINDOW_COLUMNS as WINDOW_COLUMNS
from sqlstream.plan.nodes.windows import WINDOW_END as WINDOW_END
from sqlstream.plan.nodes.windows import WINDOW_START as WINDOW_START
from sqlstream.plan.nodes.windows import WINDOW_TIME as WINDOW_TIME
from sqlstream.plan.nodes.windows import Window as Window
from sqlstream.plan.nodes.windows import WindowTvf as WindowTvf

# The operators that give rows as windows close, which they learn from a watermark. After rewriting no WindowJoin is left.
CLOSES_WINDOWS = (WindowAggregate, WindowRank, CoGroup)

# All operators that wait for a watermark.
AWAITS_TIME = (*CLOSES_WINDOWS, IntervalJoin, TemporalJoin, Match)
