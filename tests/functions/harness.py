"""The records of this folder as sqlstream sees them: parsed, bound over the columns of rows.json, rendered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlstream.core.errors import SqlStreamError
from sqlstream.sql.bind import Scope, ScopeColumn, bind
from sqlstream.sql.casts import cast_sql
from sqlstream.sql.expressions import ColumnRef, Expr
from sqlstream.sql.quoting import quote, spark_string
from sqlstream.sql.spark_sql import render
from sqlstream.sql.statements.parsing import parse
from sqlstream.sql.syntax.data_types import flink_type
from sqlstream.sql.types import STRING, Type

from .recorder import COLUMNS, ZONE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HERE = Path(__file__).parent
REFUSALS = (SqlStreamError,)


def expression(text: str) -> exp.Expression:
    """The syntax of one expression."""
    found = parse(f"SELECT {text}").expressions[0]
    assert isinstance(found, exp.Expression)
    return found


def type_of(text: str) -> Type:
    """A type as SQL writes it."""
    return flink_type(expression(f"CAST(NULL AS {text})").args["to"])


TYPES = {name: type_of(text) for name, text in COLUMNS.items()}
SCOPE = Scope(tuple(ScopeColumn("t", name, ColumnRef(type_, name)) for name, type_ in TYPES.items()), zone=ZONE, database="default_database")


def bound(text: str) -> Expr:
    """The typed expression over the table ``t``."""
    return bind(expression(text), SCOPE)


def shown(expr: Expr) -> str:
    """Spark SQL for CAST(expr AS STRING)."""
    return cast_sql(render(expr, ZONE), expr.type, STRING, ZONE)


def rows(spark: SparkSession, *, local: bool = False) -> DataFrame:
    """The table ``t``; a ``local`` one is computed with while a query is planned, without a job."""
    # Spark reads no TIME from JSON.
    schema = ", ".join(f"{quote(n)} {'STRING' if t.root == 'TIME' else t.spark}" for n, t in TYPES.items())
    lines = (HERE / "rows.json").read_text().splitlines()
    if local:
        frame = spark.sql(f"VALUES {', '.join(f'({spark_string(line)})' for line in lines)} AS t (line)")
    else:
        # Nothing is folded into constants.
        frame = spark.createDataFrame([(line,) for line in lines], "line STRING")
    read = frame.selectExpr(f"from_json(line, '{schema}') AS t").select("t.*")
    return read.selectExpr(*[f"CAST({quote(n)} AS {t.spark}) AS {quote(n)}" if t.root == "TIME" else quote(n) for n, t in TYPES.items()])
