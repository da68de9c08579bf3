"""Properties of a node, one a file. They are computed from the node and are not part of it."""

from __future__ import annotations

from sqlstream.plan.properties.changelog_mode import changelog_mode as changelog_mode
from sqlstream.plan.properties.changelog_mode import updating_node as updating_node
from sqlstream.plan.properties.fields import field as field
from sqlstream.plan.properties.fields import fields as fields
from sqlstream.plan.properties.idle_timeout import idle_timeout as idle_timeout
from sqlstream.plan.properties.match_columns import match_columns as match_columns
from sqlstream.plan.properties.origin import looked_up as looked_up
from sqlstream.plan.properties.origin import origin as origin
from sqlstream.plan.properties.state_ttl import state_ttl as state_ttl
from sqlstream.plan.properties.static import bounded as bounded
from sqlstream.plan.properties.static import of_static as of_static
from sqlstream.plan.properties.static import static as static
from sqlstream.plan.properties.tree import scans as scans
from sqlstream.plan.properties.tree import walk as walk
from sqlstream.plan.properties.unchecked import unchecked as unchecked
from sqlstream.plan.properties.upsert_key import upsert_key as upsert_key
from sqlstream.plan.properties.watermark import awaits_watermark as awaits_watermark
from sqlstream.plan.properties.watermark import on_time as on_time
from sqlstream.plan.properties.watermark import watermark_lag as watermark_lag
from sqlstream.plan.properties.window_column import window_column as window_column
from sqlstream.plan.properties.windowing import Windowing as Windowing
from sqlstream.plan.properties.windowing import windowing as windowing
