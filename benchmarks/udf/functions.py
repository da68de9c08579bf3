"""What is measured: each function as plain Python, for both sides. The SQL side decorates it; PySpark's side wraps it by hand."""

from __future__ import annotations

import pandas  # noqa: TC002  (PySpark reads the annotations)

from sqlstream.udf import DataTypes, udf


def total_of(price: pandas.Series, count: pandas.Series) -> pandas.Series:
    return price * count * 1.21


def initial_of(name: pandas.Series) -> pandas.Series:
    return name.str.slice(0, 3).str.upper()


def margin_of(price: float, count: int) -> float:
    return price * count * 1.21


def tag_of(name: str, count: int) -> str:
    return f"{name[:3].upper()}-{count}"


total = udf(total_of, input_types=[DataTypes.DOUBLE(), DataTypes.BIGINT()], result_type=DataTypes.DOUBLE(), func_type="pandas")
initial = udf(initial_of, input_types=[DataTypes.STRING()], result_type=DataTypes.STRING(), func_type="pandas")
margin = udf(margin_of, input_types=[DataTypes.DOUBLE(), DataTypes.BIGINT()], result_type=DataTypes.DOUBLE())
tag = udf(tag_of, input_types=[DataTypes.STRING(), DataTypes.BIGINT()], result_type=DataTypes.STRING())
