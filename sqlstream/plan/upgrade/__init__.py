"""What becomes of a job whose statement has changed: the plan of before and that of now are recorded, compared, and judged part by part.

Nothing here needs Spark. Records are kept with each version of a job, so that a later one can be judged against it.
"""

from sqlstream.plan.upgrade.judge import Fate, Judged, SinkMatch, Verdict, judge
from sqlstream.plan.upgrade.record import NodeRecord, PlanRecord, SinkRecord, SourceRecord, node_ids, record
from sqlstream.plan.upgrade.table import table

__all__ = ["Fate", "Judged", "NodeRecord", "PlanRecord", "SinkMatch", "SinkRecord", "SourceRecord", "Verdict", "judge", "node_ids", "record", "table"]
