"""Queries of the shapes that recipes have, over tables of the connector faker, each as a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support import sessions
from tests.support.sessions import open_session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlstream.session.session import Session

pytestmark = [pytest.mark.spark, pytest.mark.slow]

# Ended: what waits for the watermark comes out at the end of the rows.
TABLES = """
CREATE TABLE logs (
  client_ip STRING, client_identity STRING, userid STRING, user_agent STRING, log_time TIMESTAMP(3), request_line STRING, status_code STRING,
  size INT, WATERMARK FOR log_time AS log_time - INTERVAL '30' SECOND
) WITH (
  'connector' = 'faker', 'number-of-rows' = '400', 'rows-per-second' = '100',
  'fields.client_ip.expression' = '#{Internet.publicIpV4Address}',
  'fields.client_identity.expression' = '-',
  'fields.userid.expression' = '-',
  'fields.user_agent.expression' = '#{Internet.userAgentAny}',
  'fields.log_time.expression' = '#{date.past ''15'',''5'',''SECONDS''}',
  'fields.request_line.expression' = '#{regexify ''(GET|POST|PUT|PATCH){1}''} #{regexify ''(/search\\.html|/login\\.html|/cart){1}''} HTTP/1.1',
  'fields.status_code.expression' = '#{regexify ''(200|201|204|400|401|403|301){1}''}',
  'fields.size.expression' = '#{number.numberBetween ''100'',''10000000''}'
);
CREATE TABLE bids (bid_id STRING, currency STRING, price DOUBLE, bid_time TIMESTAMP(3), WATERMARK FOR bid_time AS bid_time - INTERVAL '5' SECONDS) WITH (
  'connector' = 'faker', 'number-of-rows' = '300',
  'fields.bid_id.expression' = '#{Internet.UUID}',
  'fields.currency.expression' = '#{regexify ''(EUR|USD|CNY)''}',
  'fields.price.expression' = '#{Number.randomDouble ''2'',''1'',''150''}',
  'fields.bid_time.expression' = '#{date.past ''30'',''SECONDS''}'
);
CREATE TABLE orders (id STRING, ordered TIMESTAMP(3), WATERMARK FOR ordered AS ordered - INTERVAL '5' SECOND) WITH (
  'connector' = 'faker', 'number-of-rows' = '60', 'fields.id.expression' = '#{number.numberBetween ''0'',''40''}',
  'fields.ordered.expression' = '#{date.past ''60'',''30'',''SECONDS''}'
);
CREATE TABLE shipments (id INT, order_id STRING, shipped TIMESTAMP(3), WATERMARK FOR shipped AS shipped - INTERVAL '5' SECOND) WITH (
  'connector' = 'faker', 'number-of-rows' = '60', 'fields.id.expression' = '#{number.numberBetween ''0'',''900000''}',
  'fields.order_id.expression' = '#{number.numberBetween ''0'',''40''}', 'fields.shipped.expression' = '#{date.past ''30'',''SECONDS''}'
);
CREATE TABLE spells_cast (wizard STRING, spell STRING, proc AS PROCTIME()) WITH (
  'connector' = 'faker', 'number-of-rows' = '400', 'fields.wizard.expression' = '#{harry_potter.characters}',
  'fields.spell.expression' = '#{harry_potter.spells}'
);
CREATE TABLE wizards (name STRING, spells ARRAY<STRING>, points ROW<house STRING, n INT>) WITH (
  'connector' = 'faker', 'number-of-rows' = '50', 'fields.name.expression' = '#{harry_potter.character}',
  'fields.spells.expression' = '#{harry_potter.spell}', 'fields.spells.length' = '3', 'fields.points.house.expression' = '#{harry_potter.house}',
  'fields.points.n.expression' = '#{number.numberBetween ''0'',''100''}'
);
CREATE TABLE languages (spell STRING, spoken STRING) WITH (
  'connector' = 'faker', 'fields.spell.expression' = '#{harry_potter.spell}', 'fields.spoken.expression' = '#{regexify ''(Rune|Troll|English)''}'
);
CREATE TABLE subscriptions (id STRING, user_id INT, type STRING, began TIMESTAMP(3), price DECIMAL(6, 2), WATERMARK FOR began AS began) WITH (
  'connector' = 'faker', 'number-of-rows' = '300', 'fields.id.expression' = '#{Internet.uuid}',
  'fields.user_id.expression' = '#{number.numberBetween ''1'',''9''}', 'fields.type.expression' = '#{regexify ''(basic|premium){1}''}',
  'fields.began.expression' = '#{date.past ''30'',''DAYS''}', 'fields.price.expression' = '#{number.randomDouble ''2'',''1'',''99''}'
);
CREATE TEMPORARY VIEW browsers AS SELECT REGEXP_EXTRACT(user_agent, '[^\\/]+') AS browser, status_code, log_time FROM logs;
CREATE TEMPORARY TABLE few WITH ('number-of-rows' = '10') LIKE logs (OVERWRITING OPTIONS);
"""
QUERIES = (
    "SELECT COUNT(DISTINCT client_ip), TUMBLE_START(log_time, INTERVAL '5' SECOND) FROM logs GROUP BY TUMBLE(log_time, INTERVAL '5' SECOND)",
    "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE logs, DESCRIPTOR(log_time), INTERVAL '5' SECOND)) GROUP BY window_start, window_end",
    "SELECT status_code, SESSION_END(log_time, INTERVAL '1' SECOND), COUNT(*) FROM logs GROUP BY status_code, SESSION(log_time, INTERVAL '1' SECOND)",
    "SELECT currency, AVG(price), HOP_END(bid_time, INTERVAL '5' SECOND, INTERVAL '10' SECOND) FROM bids"
    " GROUP BY currency, HOP(bid_time, INTERVAL '5' SECOND, INTERVAL '10' SECOND)",
    "SELECT window_end, SUM(size) FROM TABLE(CUMULATE(TABLE logs, DESCRIPTOR(log_time), INTERVAL '5' SECOND, INTERVAL '10' SECOND))"
    " GROUP BY window_start, window_end",
    "SELECT bid_time, currency, MAX(price) OVER (PARTITION BY currency ORDER BY bid_time RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW) FROM bids",
    "SELECT bid_time, COUNT(*) OVER w, SUM(price) OVER w FROM bids WINDOW w AS (PARTITION BY currency ORDER BY bid_time ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)",
    "SELECT bid_time, price, LAG(price) OVER (PARTITION BY currency ORDER BY bid_time) FROM bids",
    "SELECT wizard, spell, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY wizard ORDER BY n DESC) AS r FROM"
    " (SELECT wizard, spell, COUNT(*) AS n FROM spells_cast GROUP BY wizard, spell)) WHERE r <= 2",
    "SELECT id, ordered FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY ordered) AS r FROM orders) WHERE r = 1",
    "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY price DESC) AS r FROM"
    " TABLE(TUMBLE(TABLE bids, DESCRIPTOR(bid_time), INTERVAL '10' SECOND))) WHERE r <= 3",
    "SELECT TUMBLE_START(t, INTERVAL '10' SECOND), SUM(n) FROM (SELECT TUMBLE_ROWTIME(log_time, INTERVAL '5' SECOND) AS t, COUNT(*) AS n FROM logs"
    " GROUP BY TUMBLE(log_time, INTERVAL '5' SECOND)) GROUP BY TUMBLE(t, INTERVAL '10' SECOND)",
    "SELECT * FROM subscriptions MATCH_RECOGNIZE (PARTITION BY user_id ORDER BY began MEASURES LAST(P.type) AS kind, B.began AS downgraded"
    " AFTER MATCH SKIP PAST LAST ROW PATTERN (P+ B) DEFINE P AS P.type = 'premium', B AS B.type = 'basic')",
    "SELECT log_time, request_line, status_code FROM logs WHERE status_code IN ('401', '403')",
    "SELECT HOUR(log_time), COUNT(*) FROM logs GROUP BY HOUR(log_time) HAVING COUNT(*) > 1",
    "SELECT status_code, COUNT(*) FROM logs GROUP BY status_code",
    "SELECT DISTINCT SPLIT_INDEX(request_line, ' ', 0) FROM logs",
    "SELECT browser, status_code, COUNT(*) FROM browsers GROUP BY browser, status_code",
    "SELECT window_start, COUNT(status_code) AS n FROM TABLE(TUMBLE(TABLE logs, DESCRIPTOR(log_time), INTERVAL '5' SECOND))"
    " GROUP BY window_start, window_end",
    "SELECT o.id, o.ordered, s.shipped FROM orders AS o JOIN shipments AS s ON o.id = s.order_id"
    " WHERE o.ordered BETWEEN s.shipped - INTERVAL '3' DAY AND s.shipped",
    "SELECT o.id, s.id FROM orders AS o LEFT JOIN shipments AS s ON o.id = s.order_id",
    "SELECT id FROM orders WHERE id IN (SELECT order_id FROM shipments)",
    "SELECT name, spell FROM wizards CROSS JOIN UNNEST(spells) AS t (spell)",
    "SELECT w.name, w.points.house, SUM(w.points.n) FROM wizards AS w GROUP BY w.name, w.points.house",
    "SELECT c.wizard, c.spell, l.spoken FROM spells_cast AS c JOIN languages FOR SYSTEM_TIME AS OF c.proc AS l ON c.spell = l.spell",
    "SELECT id, DATE_FORMAT(began, 'yyyyww'), TIMESTAMPDIFF(DAY, began, LOCALTIMESTAMP), YEAR(began) FROM subscriptions",
    "SELECT id, CONVERT_TZ(CAST(began AS STRING), 'UTC', 'Asia/Tokyo') FROM subscriptions",
    "SELECT id, '' AS wizard FROM orders UNION ALL SELECT '', wizard FROM spells_cast",
    "SELECT id, CURRENT_WATERMARK(began) FROM subscriptions WHERE CURRENT_WATERMARK(began) IS NULL OR began > CURRENT_WATERMARK(began)",
    "SELECT client_ip, status_code FROM few /*+ OPTIONS('fields.status_code.expression' = '#{regexify ''(500|502)''}') */",
    "SELECT id, STR_TO_MAP('price:' || CAST(price AS STRING) || ';type:' || type, ';', ':')['type'] FROM subscriptions",
    "SELECT s.id, t.total FROM (SELECT DISTINCT user_id AS id FROM subscriptions) AS s,"
    " LATERAL (SELECT SUM(price) AS total FROM subscriptions WHERE user_id = s.id) AS t",
)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory, engine) -> Iterator[Session]:
    session = open_session(tmp_path_factory.mktemp("recipes"), TABLES, engine=engine)
    yield session
    session.close()


@pytest.mark.parametrize("query", QUERIES)
def test_a_recipe_gives_rows(opened: Session, query: str) -> None:
    found = sessions.rows(opened, query)
    assert found
    assert len({len(row) for row in found}) == 1


def test_a_stream_without_an_end_gives_rows(opened: Session) -> None:
    """As in the recipes: nobody ends the rows but the user."""
    endless = TABLES.replace("'number-of-rows' = '400', ", "").replace("CREATE TABLE logs", "CREATE TEMPORARY TABLE visits").split(";")[0]
    sessions.run(opened, endless)
    (stream,) = opened.run("SELECT status_code, COUNT(*) FROM visits GROUP BY status_code")
    seen = 0
    for change in stream.changes:
        seen = max(seen, int(change.row[1]))
        if seen > 40:
            break
    stream.stop()
    assert seen > 40
