"""What jobs were like in the last hour."""

from __future__ import annotations

from dataclasses import replace

from sqlstream.runtime.monitor.history import SECONDS, History, Point, point
from sqlstream.runtime.monitor.metrics import Input, Partition, QueryMetrics, StateOperator
from tests.runtime.monitor.recordings import job, recorded


def test_a_point_of_a_real_job() -> None:
    metrics = job(recorded("skewed")[-1])
    taken = point(metrics, 7.0)
    assert taken.at == 7.0 and taken.lag == 0 and taken.state == 4272
    assert taken.phases is not None and sum(taken.phases) <= (metrics.batch_ms or 0)
    assert taken.phases[2] == dict(metrics.queries[0].phases)["addBatch"]


def test_a_point_of_several_queries() -> None:
    short = QueryMetrics(phases=(("addBatch", 5), ("triggerExecution", 9)), recent=((0, 0), (1000, 100)), written=((0, 0), (1000, 10)), heap=7)
    long = replace(short, phases=(("walCommit", 1), ("commitOffsets", 2), ("latestOffset", 3), ("getBatch", 4), ("triggerExecution", 11)))
    inputs = (Input("t", 1, (Partition("t-0", 1, 9),)),)
    both = job(short, replace(long, inputs=inputs, states=(StateOperator("dedupe", 0, 42),), rows_out=None))
    assert point(both, 1.0) == Point(1.0, 200.0, 10.0, 8, (0, 7, 0, 3), 42, 7)
    assert point(job(), 1.0) == Point(1.0, 0.0, 0, None, None, None, None)


def test_points_of_an_hour() -> None:
    running = [job(QueryMetrics())]
    history = History(lambda: running)
    for at in range(0, int(SECONDS) + 100, 50):
        history.look(float(at))
    points = history.of(running[0].name)
    assert [p.at for p in points][:2] == [50.0, 100.0] and points[-1].at == SECONDS + 50
    # One that has ended keeps its points, behind which nothing is known, and is forgotten in the end.
    running[:] = [replace(running[0], status="CANCELED")]
    for at in (100, 105, 110):
        history.look(SECONDS + at)
    assert history.of(running[0].name)[-1] == Point(SECONDS + 100, None, None, None, None, None, None)
    assert history.of(running[0].name)[-2].at == SECONDS + 50
    history.look(3 * SECONDS)
    assert history.of(running[0].name) == () and history.of("another") == ()


def test_a_job_that_is_started_again_goes_on_under_its_name() -> None:
    running = [job(QueryMetrics())]
    history = History(lambda: running)
    history.look(1.0)
    # Before it is forgotten that the first has ended, too.
    running[:] = [replace(running[0], id="another"), replace(running[0], status="CANCELED")]
    history.look(2.0)
    assert [p.at for p in history.of(running[0].name)] == [1.0, 2.0]


def test_a_micro_batch_is_drawn_once() -> None:
    first = QueryMetrics(phases=(("addBatch", 5), ("triggerExecution", 9)), batch_ended=1_000)
    running = [job(first)]
    history = History(lambda: running)
    history.look(1.0)
    history.look(6.0)
    running[:] = [job(replace(first, phases=(("addBatch", 7), ("triggerExecution", 9)), batch_ended=8_000))]
    history.look(11.0)
    history.look(16.0)
    assert [p.phases for p in history.of(running[0].name)] == [(0, 0, 5, 0), None, (0, 0, 7, 0), None]
