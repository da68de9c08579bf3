"""What becomes of a job whose statement has changed: the plan of before and that of now are recorded, compared, and judged part by part.

Nothing here needs Spark. Records are kept with each version of a job, so that a later one can be judged against it.
"""

from sqlstream.plan.upgrade.judge import Fate, Judged, SinkMatch, Verdict, differences, judge, verdict_on
from sqlstream.plan.upgrade.record import Known, NodeRecord, PlanRecord, SinkRecord, SourceRecord, node_ids, other_code, record
from sqlstream.plan.upgrade.table import rows, table

__all__ = [
    "Fate", "Judged", "Known", "NodeRecord", "PlanRecord", "SinkMatch", "SinkRecord", "SourceRecord", "Verdict", "differences", "judge", "node_ids",
    "other_code", "record", "rows", "table", "verdict_on",
]  # fmt: skip
