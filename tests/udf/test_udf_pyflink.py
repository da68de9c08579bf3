"""Modules written for pyflink, where it is not installed; and what its decorators make, where it is."""

from __future__ import annotations

import importlib.util
from types import SimpleNamespace

import pytest

from sqlstream.core.errors import SqlStreamError
from sqlstream.sql import types as t
from sqlstream.udf import shim
from sqlstream.udf.declarations import foreign
from sqlstream.udf.declarations.signature import signature
from tests.support.sessions import open_session

MODULE = """
from pyflink.common import Configuration, Row
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import DataTypes, EnvironmentSettings, TableEnvironment
from pyflink.table.expressions import call, col
from pyflink.table.types import DataTypes as Types
from pyflink.table.udf import AggregateFunction, FunctionContext, ScalarFunction, TableAggregateFunction, TableFunction, udaf, udf, udtaf, udtf

add = udf(lambda i, j: i + j, [DataTypes.BIGINT(), DataTypes.BIGINT()], DataTypes.BIGINT())


class HashCode(ScalarFunction):
    def open(self, function_context: FunctionContext):
        self.factor = int(function_context.get_job_parameter("hashcode_factor", "12"))

    def eval(self, s: str):
        return hash(s) * self.factor


hash_code = udf(HashCode(), result_type='BIGINT')


@udf(input_types=DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT())]), result_type=Types.STRING(False))
def first(row: Row) -> Row:
    return str(row.a)


class Top2(TableAggregateFunction):
    def create_accumulator(self): return [None, None]
    def accumulate(self, accumulator, value): accumulator[0] = value
    def emit_value(self, accumulator): yield Row(accumulator[0], 1)
    def get_result_type(self): return 'ROW<value BIGINT, place INT>'
    def get_accumulator_type(self): return 'ARRAY<BIGINT>'


top2 = udtaf(Top2())


@udtf(result_types=['BIGINT', 'BIGINT'])
def range_emit(s, e):
    for i in range(e):
        yield s, i


def main():
    table_environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    table_environment.from_path("t").select(call("add", col("a"), col("b")))


if __name__ == '__main__':
    main()
"""


@pytest.fixture
def absent():
    """Needs that there is no pyflink."""
    spec = importlib.util.find_spec("pyflink")
    if spec is not None and spec.origin is not None:
        pytest.skip("pyflink is installed")


def test_a_module_for_pyflink_is_ours_as_it_is(tmp_path, absent) -> None:
    (tmp_path / "udfs").mkdir()
    (tmp_path / "udfs" / "job.py").write_text(MODULE)
    notices: list[str] = []
    session = open_session(tmp_path, notify=notices.append)
    shown = {name: str(signature(found.declared, name).result.full) for name, found in session.planner.modules.functions.items()}
    assert shown == {
        "add": "BIGINT",
        "hash_code": "BIGINT",
        "first": "STRING NOT NULL",
        "top2": "ROW<`value` BIGINT, `place` INT>",
        "range_emit": "ROW<`f0` BIGINT, `f1` BIGINT>",
    }
    assert notices == []
    with pytest.raises(SqlStreamError, match="SQL has no call of table aggregate functions, in Flink either"):
        list(session.run("EXPLAIN SELECT top2(x) FROM (VALUES (1)) AS t (x)"))


@pytest.mark.parametrize("body", ["TableEnvironment.create(1)", "EnvironmentSettings()", "col('a')"])
def test_what_is_no_function_says_so_when_it_is_used(tmp_path, absent, body: str) -> None:
    (tmp_path / "udfs").mkdir()
    (tmp_path / "udfs" / "job.py").write_text(
        f"from pyflink.table import EnvironmentSettings, TableEnvironment\nfrom pyflink.table.expressions import col\n\n{body}\n"
    )
    notices: list[str] = []
    open_session(tmp_path, notify=notices.append)
    (notice,) = notices
    assert notice.startswith("udfs/job.py:4:1: The module 'job' cannot be loaded: ImportError: pyflink.table.")
    assert notice.endswith("needs pyflink, which is not installed: without it only functions are available.")


def test_names_of_the_functions_api_that_are_not_there(absent) -> None:
    shim.install()
    import pyflink.table.udf

    with pytest.raises(AttributeError):
        pyflink.table.udf.udff  # noqa: B018


def pyflink_object(name: str, module: str = "pyflink.table.types", bases: tuple[type, ...] = (), **values):
    made = type(name, bases, {"__module__": module})()
    vars(made).update(values)
    return made


def test_types_of_pyflink() -> None:
    row = pyflink_object("RowType", _nullable=False, fields=[
        SimpleNamespace(name="a", data_type=pyflink_object("DecimalType", _nullable=True, precision=10, scale=2)),
        SimpleNamespace(name="b", data_type=pyflink_object("MapType", _nullable=True, key_type=pyflink_object("VarCharType", _nullable=False, length=t.MAX_LENGTH),
                                                           value_type=pyflink_object("ArrayType", _nullable=True, element_type=pyflink_object("LocalZonedTimestampType", _nullable=True, precision=3)))),
    ])  # fmt: skip
    assert foreign.type_of(row).full == "ROW<`a` DECIMAL(10, 2), `b` MAP<STRING NOT NULL, ARRAY<TIMESTAMP_LTZ(3)>>> NOT NULL"


def test_functions_of_pyflink() -> None:
    base = type("ScalarFunction", (), {"__module__": "pyflink.table.udf"})

    class Upper(base):
        def eval(self, text):
            return text.upper()

    big = pyflink_object("BigIntType", _nullable=True)
    wrapped = pyflink_object(
        "UserDefinedScalarFunctionWrapper",
        "pyflink.table.udf",
        _func=Upper(),
        _input_types=None,
        _result_type="STRING",
        _deterministic=False,
        _func_type="general",
    )
    declared = foreign.from_pyflink(wrapped)
    assert (declared("a"), declared.deterministic, str(signature(declared, "upper").result), declared.__module__) == ("A", False, "STRING", __name__)
    table = pyflink_object(
        "UserDefinedTableFunctionWrapper",
        "pyflink.table.udf",
        _func=lambda x: [x],
        _input_types=[big],
        _result_types=[big, "STRING"],
        _deterministic=True,
        _func_type="general",
    )
    found = signature(foreign.from_pyflink(table), "t")
    assert (str(found.result), found.parameters[0].type) == ("ROW<`f0` BIGINT, `f1` STRING>", t.BIGINT)
    assert foreign.from_pyflink(big) is None
    assert foreign.from_pyflink(len) is None
