"""Logical nodes, a module each: a frozen value, and what it answers about itself (``base``).

Column names are unique within a node's output; expressions refer to the input's columns by name.
"""

from __future__ import annotations

from sqlstream.plan.nodes.base import Node as Node
from sqlstream.plan.nodes.base import OneByOne as OneByOne
from sqlstream.plan.nodes.base import Unary as Unary
from sqlstream.plan.nodes.base import names_of as names_of
from sqlstream.plan.nodes.changelog_normalize import ChangelogNormalize as ChangelogNormalize
from sqlstream.plan.nodes.co_group import SIDE as SIDE
from sqlstream.plan.nodes.co_group import CoGroup as CoGroup
from sqlstream.plan.nodes.co_group import Collected as Collected
from sqlstream.plan.nodes.co_group import JoinSide as JoinSide
from sqlstream.plan.nodes.columns import Field as Field
from sqlstream.plan.nodes.columns import Named as Named
from sqlstream.plan.nodes.columns import NamedAggregate as NamedAggregate
from sqlstream.plan.nodes.columns import SortKey as SortKey
from sqlstream.plan.nodes.columns import TimeAttribute as TimeAttribute
from sqlstream.plan.nodes.correlate import Correlate as Correlate
from sqlstream.plan.nodes.expand import Expand as Expand
from sqlstream.plan.nodes.filter import Filter as Filter
from sqlstream.plan.nodes.filter import filtered as filtered
from sqlstream.plan.nodes.group_aggregate import GroupAggregate as GroupAggregate
from sqlstream.plan.nodes.interval_join import IntervalJoin as IntervalJoin
from sqlstream.plan.nodes.join import NO_HINTS as NO_HINTS
from sqlstream.plan.nodes.join import Join as Join
from sqlstream.plan.nodes.join import JoinHints as JoinHints
from sqlstream.plan.nodes.join import JoinKind as JoinKind
from sqlstream.plan.nodes.keyed_join import KeyedJoin as KeyedJoin
from sqlstream.plan.nodes.limit import Limit as Limit
from sqlstream.plan.nodes.lookup_join import LookupJoin as LookupJoin
from sqlstream.plan.nodes.lookup_join import origin as origin
from sqlstream.plan.nodes.match import Match as Match
from sqlstream.plan.nodes.match import MatchValue as MatchValue
from sqlstream.plan.nodes.match import PatternVariable as PatternVariable
from sqlstream.plan.nodes.match import RowsValue as RowsValue
from sqlstream.plan.nodes.match import RowValue as RowValue
from sqlstream.plan.nodes.match import Skip as Skip
from sqlstream.plan.nodes.over import Over as Over
from sqlstream.plan.nodes.project import Project as Project
from sqlstream.plan.nodes.rank import Rank as Rank
from sqlstream.plan.nodes.scan import Scan as Scan
from sqlstream.plan.nodes.scan import scans as scans
from sqlstream.plan.nodes.sink import Conflict as Conflict
from sqlstream.plan.nodes.sink import Sink as Sink
from sqlstream.plan.nodes.snapshot import Retry as Retry
from sqlstream.plan.nodes.snapshot import Snapshot as Snapshot
from sqlstream.plan.nodes.sort import Sort as Sort
from sqlstream.plan.nodes.temporal_join import TemporalJoin as TemporalJoin
from sqlstream.plan.nodes.union import Union as Union
from sqlstream.plan.nodes.values import Values as Values
from sqlstream.plan.nodes.watermark import Watermark as Watermark
from sqlstream.plan.nodes.window_aggregate import WindowAggregate as WindowAggregate
from sqlstream.plan.nodes.window_join import WindowJoin as WindowJoin
from sqlstream.plan.nodes.window_rank import WindowRank as WindowRank
from sqlstream.plan.nodes.window_tvf import WindowTvf as WindowTvf
from sqlstream.plan.nodes.windows import WINDOW_COLUMNS as WINDOW_COLUMNS
from sqlstream.plan.nodes.windows import WINDOW_END as WINDOW_END
from sqlstream.plan.nodes.windows import WINDOW_START as WINDOW_START
from sqlstream.plan.nodes.windows import WINDOW_TIME as WINDOW_TIME
from sqlstream.plan.nodes.windows import Window as Window
from sqlstream.plan.nodes.windows import Windowing as Windowing
