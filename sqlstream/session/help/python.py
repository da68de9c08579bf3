"""HELP PYTHON: how functions of one's own are written. ``MODULE`` and ``QUERY`` are what it shows, which work as they are."""

from __future__ import annotations

import textwrap

MODULE = '''\
from sqlstream.udf import AggregateFunction, DataTypes, ScalarFunction, udaf, udf, udtf   # or from pyflink.table.udf, pyflink.table


@udf
def mask(account: str, keep: int = 4) -> str:
    """Hides all but the last digits of an account.

    >>> mask('12345678')
    '****5678'
    """
    return None if account is None else "*" * (len(account) - keep) + account[-keep:]


@udf(input_types=["DOUBLE"], result_type="DOUBLE", func_type="pandas")   # whole columns: the fastest
def rounded(amount):
    return amount.round(-2)


class Score(ScalarFunction):
    """How unusual an amount is."""

    def open(self, function_context):                 # once a worker: load a model here
        self.usual = float(function_context.get_job_parameter("usual", "100"))

    def eval(self, amount: float) -> float:
        return amount / self.usual


score = udf(Score())


@udtf(result_types=["STRING", "INT"])
def words(line: str):
    for word in (line or "").split():
        yield word, len(word)


class WeightedAverage(AggregateFunction):             # or func_type="pandas": a function of columns that gives a value
    """An average.

    >>> weighted([1.0, 3.0, None], [1, 3, 5])
    2.5
    """

    def create_accumulator(self):
        return [0.0, 0]

    def accumulate(self, total, amount: float, weight: int):
        if amount is not None:
            total[0] += amount * weight
            total[1] += weight

    def get_value(self, total) -> float:
        return total[0] / total[1] if total[1] else None


weighted = udaf(WeightedAverage())
'''

QUERY = """\
SELECT mask(account), rounded(amount), score(amount) FROM (VALUES ('12345678', 234.5e0)) AS t (account, amount);
SELECT w, n FROM (VALUES ('to be')) AS t (line) LEFT JOIN LATERAL TABLE(words(line)) AS u (w, n) ON TRUE;
SELECT k, weighted(x, n) FROM (VALUES ('a', 1.5e0, 2)) AS t (k, x, n) GROUP BY k;
"""

TEXT = "\n".join([
    "Functions in Python: a file in udfs/, or one of 'python.files' (-pyfs), whose decorated functions can be called by their names.",
    "",
    textwrap.indent(MODULE.rstrip(), "    "),
    "",
    textwrap.indent(QUERY.rstrip(), "    "),
    "",
    "Types are DataTypes, Flink's names of types, or annotations. NULL is None. A TIMESTAMP is a naive datetime, a TIMESTAMP_LTZ one in the "
        "session's zone, a ROW a Row. A file that changes is loaded before the next statement; a job keeps the functions of its start.",
    "",
    "An aggregate function can be used where SUM can: in groups, windows and OVER, with DISTINCT and FILTER. Of a stream's group its "
        "accumulator is kept, pickled, with at most 1000 rows that are not in it yet; retract takes a row out of it. All rows of a group are kept "
        "in windows, OVER and batch mode, of a pandas function, and where rows are retracted and there is no retract. merge is never called.",
    "",
    "An async def, or an AsyncScalarFunction, waits for many rows at the same time: table.exec.async-scalar.max-concurrent-operations (10), "
        "timeout (3 min), retry-strategy (FIXED_DELAY), retry-delay (100 ms), max-attempts (3).",
    "",
    "SET 'pipeline.global-job-parameters' = 'key:value,..'   what get_job_parameter gives",
    "SHOW USER FUNCTIONS; HELP FUNCTION name; DESCRIBE FUNCTION EXTENDED name;",
    "CREATE FUNCTION name AS 'module.attribute' LANGUAGE PYTHON   another name, or a function of an installed package",
    "print(..) in a function goes to .sqlstream/log/jvm.log, on a cluster to the executors' logs",
    "sqlstream test-udf FILE   runs the examples in the docstrings, through SQL's types",
])  # fmt: skip
