"""The ``nexmark`` source: the auction site's persons, auctions and bids, made up by Spark itself.

In: the options of a table. Out: the events as a frame. Every value is a Spark expression over the event's number, its
randomness a hash of that number, so event n is the same in every run, on every machine and after every restart, and no
Python ever sees a row. ``stages`` gives these expressions as text; ``events`` puts them over a frame of event numbers.

Ids, proportions, hot ratios, the power law of prices and the channels are those of the public Nexmark definition. Time
starts when a job first reads the table; the job's state folder keeps that moment.
"""

from __future__ import annotations

import functools
import math
import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlstream.connectors.base import Connector, Read, SourceFrame, once
from sqlstream.core import options
from sqlstream.core.errors import ValidationError
from sqlstream.core.options import Option, OptionKind, Support
from sqlstream.sql.quoting import spark_string
from sqlstream.sql.types import BIGINT, INT, STRING, Type, row, timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from sqlstream.sql.tables import Table

_OPTIONS = (
    Option("first-event.rate", OptionKind.INT, "10000", "Events a second of event time, at the start of each rate period."),
    Option("next-event.rate", OptionKind.INT, "10000", "Events a second of event time, later in each rate period."),
    Option("events.num", OptionKind.LONG, "0", "How many events; 0: without end."),
    Option("person.proportion", OptionKind.INT, "1", "Persons in each block of events."),
    Option("auction.proportion", OptionKind.INT, "3", "Auctions in each block of events."),
    Option("bid.proportion", OptionKind.INT, "46", "Bids in each block of events."),
    Option("rate.shape", OptionKind.ENUM, "square", "How the rate goes from first to next.", values=("square", "sine")),
    Option("rate.period", OptionKind.DURATION, "600 s", "How long one cycle of the rate lasts."),
    Option(
        "rate.limited", OptionKind.BOOLEAN, "false", "Published with the source, which does not read it.",
        use=Support.NOTICE, why="'max-emit-speed' = 'false' keeps to the event rate.",
    ),
    Option("person.avg-size", OptionKind.MEMORY, "200b", "Average bytes of a person."),
    Option("auction.avg-size", OptionKind.MEMORY, "500b", "Average bytes of an auction."),
    Option("bid.avg-size", OptionKind.MEMORY, "100b", "Average bytes of a bid."),
    Option("bid.hot-ratio.auctions", OptionKind.INT, "2", "Of this many bids, all but one go to a hot auction."),
    Option("bid.hot-ratio.bidders", OptionKind.INT, "4", "Of this many bids, all but one come from a hot bidder."),
    Option("auction.hot-ratio.sellers", OptionKind.INT, "4", "Of this many auctions, all but one come from a hot seller."),
    Option("keep-alive", OptionKind.BOOLEAN, "false", "Whether the job continues after the last event."),
    Option("stop-at", OptionKind.LONG, "-1", "Stop before this event number; -1: never."),
    Option("max-emit-speed", OptionKind.BOOLEAN, "true", "Whether events come as fast as possible; else at the event rate."),
)  # fmt: skip

_TIME = timestamp(3)
_PERSON = {
    "id": BIGINT, "name": STRING, "emailAddress": STRING, "creditCard": STRING, "city": STRING, "state": STRING,
    "dateTime": _TIME, "extra": STRING,
}  # fmt: skip
_AUCTION = {
    "id": BIGINT, "itemName": STRING, "description": STRING, "initialBid": BIGINT, "reserve": BIGINT,
    "dateTime": _TIME, "expires": _TIME, "seller": BIGINT, "category": BIGINT, "extra": STRING,
}  # fmt: skip
_BID = {
    "auction": BIGINT, "bidder": BIGINT, "price": BIGINT, "channel": STRING, "url": STRING,
    "dateTime": _TIME, "extra": STRING,
}  # fmt: skip
SCHEMA: tuple[tuple[str, Type], ...] = (
    ("event_type", INT),
    ("person", row(tuple(_PERSON), tuple(_PERSON.values()))),
    ("auction", row(tuple(_AUCTION), tuple(_AUCTION.values()))),
    ("bid", row(tuple(_BID), tuple(_BID.values()))),
)

FIRST_ID = 1000  # of persons and of auctions
_FIRST_CATEGORY, _CATEGORIES = 10, 5
_ACTIVE_PEOPLE, _PEOPLE_AHEAD = 1000, 10
_OPEN_AUCTIONS, _AUCTIONS_AHEAD = 100, 10
_HOT_EVERY = 100  # one id in so many is hot: a seller's, a bidder's, an auction's
_CHANNELS = 10_000
_HOT_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
_CITIES = (
    "Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle", "Kent", "Cheyenne",
)  # fmt: skip
_STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")
_FIRST_NAMES = ("Ada", "Ben", "Clara", "David", "Eva", "Frank", "Greta", "Hugo", "Ida", "Jakob", "Klara")
_LAST_NAMES = ("Adler", "Brook", "Carter", "Dvorak", "Engel", "Fisher", "Gruber", "Horak", "Ivanov")
_POOL = 2048  # letters that texts are cut from
_FOLDERS = 128
_ROWS_A_BATCH = 200_000  # of an endless stream at full speed


@dataclass(frozen=True)
class EventSettings:
    """What decides the events, from a table's options."""

    first_rate: int = 10_000
    next_rate: int = 10_000
    persons: int = 1
    auctions: int = 3
    bids: int = 46
    sine: bool = False
    period_ms: int = 600_000
    person_size: int = 200
    auction_size: int = 500
    bid_size: int = 100
    hot_auctions: int = 2
    hot_bidders: int = 4
    hot_sellers: int = 4

    @property
    def block(self) -> int:
        """Events in a block of persons, auctions and bids."""
        return self.persons + self.auctions + self.bids

    @classmethod
    def of(cls, given: Mapping[str, str]) -> EventSettings:
        """The shape that ``given`` options declare. Raises ValidationError for numbers that make no events."""
        shape = cls(
            first_rate=_value(given, "first-event.rate"),
            next_rate=_value(given, "next-event.rate"),
            persons=_value(given, "person.proportion"),
            auctions=_value(given, "auction.proportion"),
            bids=_value(given, "bid.proportion"),
            sine=_value(given, "rate.shape") == "sine",
            period_ms=_value(given, "rate.period"),
            person_size=_value(given, "person.avg-size"),
            auction_size=_value(given, "auction.avg-size"),
            bid_size=_value(given, "bid.avg-size"),
            hot_auctions=_value(given, "bid.hot-ratio.auctions"),
            hot_bidders=_value(given, "bid.hot-ratio.bidders"),
            hot_sellers=_value(given, "auction.hot-ratio.sellers"),
        )
        if min(shape.persons, shape.auctions, shape.bids) < 0 or shape.block == 0:
            raise ValidationError("The proportions of persons, auctions and bids must not be negative, nor all zero.")
        if min(shape.first_rate, shape.next_rate, shape.hot_auctions, shape.hot_bidders, shape.hot_sellers) < 1:
            raise ValidationError("Event rates and hot ratios must be at least 1.")
        if shape.period_ms < 10_000:
            raise ValidationError("'rate.period' must be at least 10 s.")
        return shape


class Nexmark(Connector):
    """See the module."""

    name = "nexmark"
    summary = "Persons, auctions and bids of the Nexmark benchmark."
    example = (
        "CREATE TABLE events (event_type INT, bid ROW<auction BIGINT, bidder BIGINT, price BIGINT>)\n"
        "WITH ('connector' = 'nexmark', 'events.num' = '1000');"
    )
    options = _OPTIONS
    is_source = True

    def check(self, table: Table) -> list[str]:
        given = _given(table)
        notices = options.check_options(self.name, given, _OPTIONS)
        EventSettings.of(given)
        declared = tuple((c.name, c.type.null()) for c in table.physical)
        if declared != SCHEMA:
            wanted = ",\n".join(f"  {name} {type_}" for name, type_ in SCHEMA)
            raise ValidationError(
                f"The physical columns of a 'nexmark' table are fixed, and those of '{table.path.name}' differ.",
                hint=f"Declare\n{wanted}",
            )
        if table.metadata:
            raise ValidationError("The 'nexmark' connector has no metadata columns.")
        if self.bounded(table) and not _value(given, "max-emit-speed"):
            why = "with 'events.num' all events come at once."
            notices.append(f"Option 'max-emit-speed' of '{self.name}' has no effect: {why}")
        return notices

    def bounded(self, table: Table) -> bool:
        return _last(_given(table)) is not None and not _value(_given(table), "keep-alive")

    def static(self, table: Table) -> bool:
        return self.bounded(table)

    def read(self, request: Read) -> SourceFrame:
        given = _given(request.table)
        shape, last = EventSettings.of(given), _last(given)
        if not request.streaming or self.static(request.table):
            if last is None:
                raise ValidationError(
                    "A 'nexmark' table without end can't be read in batch mode.",
                    hint="Set 'events.num' to the number of events.",
                )
            numbers = request.spark.range(0, last)
        else:
            numbers = _endless(request, shape, paced=not _value(given, "max-emit-speed"))
            numbers = numbers if last is None else numbers.where(f"id < {last}")
        return SourceFrame(events(numbers, shape, _start(request)))


def events(numbers: DataFrame, shape: EventSettings, start_ms: int) -> DataFrame:
    """The events whose numbers stand in column ``id`` of ``numbers``, from 0; event time starts at ``start_ms``."""
    for stage in stages(shape, start_ms):
        numbers = numbers.selectExpr(*stage)
    return numbers


def stages(shape: EventSettings, start_ms: int) -> tuple[tuple[str, ...], ...]:
    """Projections in Spark SQL, each over the columns of the one before, the first over ``id``; SCHEMA comes last."""
    rest = f"id % {shape.block}"
    kind = f"CASE WHEN {rest} < {shape.persons} THEN 0 WHEN {rest} < {shape.persons + shape.auctions} THEN 1 ELSE 2 END"
    numbers = (
        "id",
        f"{kind} AS kind",
        f"{_millis(shape, 'id')} + {start_ms}L AS ms",
        f"{_last_person(shape)} AS people",
        f"{_last_auction(shape)} AS items",
    )
    rows = (
        "kind AS event_type",
        f"IF(kind = 0, {_person(shape)}, NULL) AS person",
        f"IF(kind = 1, {_auction(shape, start_ms)}, NULL) AS auction",
        f"IF(kind = 2, {_bid(shape)}, NULL) AS bid",
    )
    return numbers, rows


def _given(table: Table) -> dict[str, str]:
    return {k: v for k, v in table.options.items() if k != "connector"}


def _value(given: Mapping[str, str], key: str) -> Any:
    return options.value(given, _OPTIONS, key)


def _last(given: Mapping[str, str]) -> int | None:
    """The number before which events end; None where they don't."""
    ends = [n for n in (_value(given, "events.num"), _value(given, "stop-at")) if n > 0]
    return min(ends, default=None)


def _endless(request: Read, shape: EventSettings, *, paced: bool) -> DataFrame:
    """A stream of event numbers in column ``id``."""
    reader = request.spark.readStream.name(f"{request.name}_0")
    if paced:
        reader = reader.format("rate").option("rowsPerSecond", shape.next_rate)
    else:
        # Spark's own time column is not used; both options are required to be there all the same.
        reader = reader.format("rate-micro-batch").option("rowsPerBatch", _ROWS_A_BATCH).option("startTimestamp", 0)
        reader = reader.option("advanceMillisPerBatch", 1000)
    return reader.load().selectExpr("value AS id")


def _start(request: Read) -> int:
    """The event time of event 0, in milliseconds: kept in the job's state, so that a restarted job has it again."""
    return int(once(request, "start", lambda: str(int(time.time() * 1000))))


def _below(limit: int | str, salt: int) -> str:
    """A number from 0 up to ``limit``, which belongs to event ``id`` and ``salt``."""
    return f"pmod(xxhash64(id, {salt}), {limit})"


def _hot(ratio: int, salt: int) -> str:
    return f"{_below(ratio, salt)} > 0"


def _hundreds(number: str) -> str:
    """The hot id at or below ``number``."""
    return f"{number} div {_HOT_EVERY} * {_HOT_EVERY}"


def _pick(values: tuple[str, ...], salt: int) -> str:
    return f"element_at(array({', '.join(map(spark_string, values))}), CAST({_below(len(values), salt)} + 1 AS INT))"


def _price(salt: int) -> str:
    """Cents between 100 and 100,000,000, by a power law."""
    return f"CAST(round(pow(10, {_below(1 << 30, salt)} / {1 << 30}D * 6) * 100) AS BIGINT)"


@functools.cache
def _pool(size: int, blanks: bool) -> str:
    """``size`` letters, always the same; with ``blanks`` one in thirteen is a blank."""
    alphabet = "abcdefghijklmnopqrstuvwxyz" + "  " * blanks
    return "".join(random.Random(size).choices(alphabet, k=size))


@functools.cache
def _folders() -> str:
    """Folders of pages, of 18 letters each, as ``abcde/fghij/klmno/``."""
    letters = _pool(15 * _FOLDERS, False)
    return "".join(letters[i : i + 5] + "/" for i in range(0, len(letters), 5))


def _cut(text: str, length: str, begin: str) -> str:
    """``length`` letters of ``text`` from place ``begin``, which counts from 1.

    Cutting a BINARY takes the same time wherever the piece begins; letters made from hashes took half of all time.
    """
    return f"CAST(substring(X'{text.encode().hex()}', CAST({begin} AS INT), {length}) AS STRING)"


def _letters(length: str, longest: int, salt: int, *, blanks: bool = False) -> str:
    """Text of ``length`` letters, at most ``longest``, which belongs to event ``id`` and ``salt``."""
    size = max(_POOL, 2 * longest)
    return _cut(_pool(size, blanks), length, f"1 + {_below(size - longest, salt)}")


def _words(longest: int, salt: int) -> str:
    """3 to ``longest`` letters and blanks."""
    length = f"CAST(3 + {_below(longest - 2, salt)} AS INT)"
    return f"trim({_letters(length, longest, salt + 50, blanks=True)})"


def _extra(used: int, size: int, salt: int) -> str:
    """Letters that bring a record of ``used`` bytes to ``size``, 20 % more or less; none where it is longer already."""
    wanted = max(size - used, 0)
    spread = round(wanted * 0.2)
    length = f"CAST({wanted - spread} + {_below(2 * spread + 1, salt)} AS INT)"
    return _letters(length, wanted + spread, salt + 50)


def _steps(shape: EventSettings) -> list[float]:
    """Events a second in each equal part of the rate period."""
    first, later = shape.first_rate, shape.next_rate
    if first == later:
        return [float(first)]
    if not shape.sine:
        return [float(first), float(later)]
    return [(first + later) / 2 + (first - later) / 2 * math.cos(2 * math.pi * i / 10) for i in range(10)]


def _millis(shape: EventSettings, number: str) -> str:
    """Milliseconds from the start to event ``number``."""
    rates = _steps(shape)
    if len(rates) == 1:
        return f"CAST(({number}) * {1000 / rates[0]!r}D AS BIGINT)"
    part_ms = shape.period_ms // len(rates)
    counts = [max(int(rate * part_ms / 1000), 1) for rate in rates]
    rest = f"(({number}) % {sum(counts)})"
    whens, begin = [], 0
    for i, (rate, count) in enumerate(zip(rates, counts, strict=True)):
        whens.append(f"WHEN {rest} < {begin + count} THEN {i * part_ms} + ({rest} - {begin}) * {1000 / rate!r}D")
        begin += count
    return f"(({number}) div {sum(counts)}) * {part_ms * len(rates)}L + CAST(CASE {' '.join(whens)} END AS BIGINT)"


def _last_person(shape: EventSettings) -> str:
    """The person made last, from 0, when event ``id`` comes."""
    return f"greatest(id div {shape.block} * {shape.persons} + least(id % {shape.block}, {shape.persons - 1}), 0L)"


def _last_auction(shape: EventSettings) -> str:
    """The auction made last, from 0; 0 also before the first one."""
    inside = f"id % {shape.block} - {shape.persons}"
    place = f"CASE WHEN {inside} < 0 THEN -1 ELSE least({inside}, {shape.auctions - 1}) END"
    return f"greatest(id div {shape.block} * {shape.auctions} + {place}, 0L)"


def _any_person(salt: int) -> str:
    """One of the active people, or one soon to come."""
    active = f"least(people + 1, {_ACTIVE_PEOPLE}L)"
    return f"people + 1 - {active} + {_below(f'{active} + {_PEOPLE_AHEAD}', salt)}"


def _any_auction(salt: int) -> str:
    """One of the open auctions, or one soon to come."""
    first = f"greatest(items - {_OPEN_AUCTIONS}, 0L)"
    return f"{first} + {_below(f'items - {first} + 1 + {_AUCTIONS_AHEAD}', salt)}"


def _struct(**fields: str) -> str:
    return f"named_struct({', '.join(f'{name!r}, {value}' for name, value in fields.items())})"


def _person(shape: EventSettings) -> str:
    card = f"lpad(CAST({_below(10**16, 105)} AS STRING), 16, '0')"
    return _struct(
        id=f"people + {FIRST_ID}",
        name=f"concat({_pick(_FIRST_NAMES, 101)}, ' ', {_pick(_LAST_NAMES, 102)})",
        emailAddress=f"concat({_letters('7', 7, 103)}, '@', {_letters('5', 5, 104)}, '.com')",
        creditCard=f"regexp_replace({card}, '(?<=.)(?=(.{{4}})+$)', ' ')",
        city=_pick(_CITIES, 106),
        state=_pick(_STATES, 107),
        dateTime="timestamp_millis(ms)",
        extra=_extra(8 + 12 + 17 + 19 + 8 + 2 + 8, shape.person_size, 108),
    )


def _auction(shape: EventSettings, start_ms: int) -> str:
    open_events = _OPEN_AUCTIONS * shape.block // max(shape.auctions, 1)
    horizon = f"({_millis(shape, f'id + {open_events}')} + {start_ms}L - ms)"
    return _struct(
        id=f"items + {FIRST_ID}",
        itemName=_words(20, 201),
        description=_words(100, 202),
        initialBid=_price(204),
        reserve=f"{_price(204)} + {_price(205)}",
        dateTime="timestamp_millis(ms)",
        expires=f"timestamp_millis(ms + 1 + {_below(f'greatest({horizon} * 2, 1L)', 206)})",
        seller=f"{FIRST_ID} + IF({_hot(shape.hot_sellers, 207)}, {_hundreds('people')}, {_any_person(208)})",
        category=f"{_FIRST_CATEGORY} + {_below(_CATEGORIES, 209)}",
        extra=_extra(8 + 11 + 50 + 8 * 6, shape.auction_size, 210),
    )


def _bid(shape: EventSettings) -> str:
    # A channel's page depends on the channel alone; the four hot ones are numbered after the others.
    hot, which = _hot(2, 301), _below(len(_HOT_CHANNELS), 302)
    number = f"IF({hot}, {_CHANNELS} + {which}, {_below(_CHANNELS, 303)})"
    folders = _cut(_folders(), "18", f"1 + 18 * pmod(xxhash64({number}, 304), {_FOLDERS})")
    identified = f"NOT {hot} AND pmod(xxhash64({number}, 305), 10) > 0"
    query = f"IF({identified}, concat('&channel_id=', pmod(xxhash64({number}, 306), {1 << 31})), '')"
    return _struct(
        auction=f"{FIRST_ID} + IF({_hot(shape.hot_auctions, 307)}, {_hundreds('items')}, {_any_auction(308)})",
        bidder=f"{FIRST_ID} + IF({_hot(shape.hot_bidders, 309)}, {_hundreds('people')} + 1, {_any_person(310)})",
        price=_price(311),
        channel=f"IF({hot}, {_pick(_HOT_CHANNELS, 302)}, concat('channel-', {_below(_CHANNELS, 303)}))",
        url=f"concat('https://www.nexmark.com/', {folders}, 'item.htm?query=1', {query})",
        dateTime="timestamp_millis(ms)",
        extra=_extra(8 * 4, shape.bid_size, 312),
    )
