"""What jobs are called on a screen."""

import pytest

from sqlstream.core.job_names import short_name, short_names


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("insert-into_default_catalog.default_database.totals", "totals"),
        ("insert-into_c.d.a,c.d.b", "a,b"),
        ("insert-into_c.d.totals-2", "totals-2"),
        ("per minute", "per minute"),
        ("it's\n[ERROR] not so\x1b[2J", "it's [ERROR] not so [2J"),
        ("insert-into_c.d.a\tb", "a b"),
    ],
)
def test_a_name_is_short_and_on_one_line(name, shown):
    assert short_name(name) == shown


def test_names_that_would_be_alike_are_longer():
    names = ["insert-into_c.d.t", "insert-into_c.e.t", "insert-into_c.d.u", "own"]
    assert short_names(names) == ["d.t", "e.t", "u", "own"]
