"""Options as declarations: connectors, formats and SET keys are tuples of Option; one checker serves them all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlstream.core.environment import variable
from sqlstream.core.errors import ValidationError, did_you_mean, nearest
from sqlstream.core.secrets import is_secret, masked_option, masked_value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping


class OptionKind(Enum):
    """What the text of an option's value is."""

    STRING = "string"
    INT = "integer"
    LONG = "long"
    DOUBLE = "double"
    BOOLEAN = "boolean"
    DURATION = "duration"
    MEMORY = "memory size"
    LIST = "list, separated by ;"
    NAMES = "list, separated by ,"
    ENUM = "one of"
    MAP = "map, key:value separated by ,"
    PORTS = "port, or range of ports"


class Support(Enum):
    """What sqlstream does with an option."""

    HONOURED = "honoured"
    NOTICE = "accepted, without effect"
    REFUSED = "refused"


class Role(Enum):
    """What the value of a table's option says to a job that reads or writes the table."""

    PLACE = "where rows are read or written: with another value they are others"
    MEANING = "what is read or written there: a job with another value is another, and goes on at the same offsets"
    TUNING = "how that is done: a job with another value is the same"


@dataclass(frozen=True)
class Option:
    """One option. ``key`` may hold ``#`` for one name or dotted path (``fields.#.kind``) and end in ``*`` for a prefix
    (``properties.*``). ``values`` are those of an ENUM, lower case. ``why`` says why it has no effect or is refused, with
    what to do instead. ``role`` is of options of tables. ``unmet``: values that ask for more than is given, which ``why`` says; ``*`` for all.
    ``least``: the least value of a number, in milliseconds and bytes where it is such. ``sample``: a valid value, where not every text is one.
    """

    key: str
    kind: OptionKind = OptionKind.STRING
    default: str | None = None
    summary: str = ""
    required: bool = False
    values: tuple[str, ...] = ()
    use: Support = Support.HONOURED
    why: str = ""
    role: Role = Role.MEANING
    unmet: tuple[str, ...] = ()
    least: int | None = None
    sample: str | None = None

    def given_instead(self, text: str) -> str | None:
        """What is given instead of what the value ``text`` asks for; None where that is given."""
        return self.why if {"*", text.strip().lower()} & {*self.unmet} else None

    def matches(self, key: str) -> bool:
        if "#" in self.key or self.key.endswith("*"):
            pattern = re.escape(self.key).replace(r"\#", "#").replace("#", ".+").replace(r"\*", ".+")
            return re.fullmatch(pattern, key) is not None
        return self.key == key


_UNITS_MS = {
    "d": 86_400_000, "day": 86_400_000, "days": 86_400_000,
    "h": 3_600_000, "hour": 3_600_000, "hours": 3_600_000,
    "min": 60_000, "m": 60_000, "minute": 60_000, "minutes": 60_000,
    "s": 1000, "sec": 1000, "secs": 1000, "second": 1000, "seconds": 1000,
    "ms": 1, "milli": 1, "millis": 1, "millisecond": 1, "milliseconds": 1, "": 1,
}  # fmt: skip
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_UNITS_BYTES = {
    "": 1, "b": 1, "bytes": 1,
    "k": 1 << 10, "kb": 1 << 10, "kibibytes": 1 << 10,
    "m": 1 << 20, "mb": 1 << 20, "mebibytes": 1 << 20,
    "g": 1 << 30, "gb": 1 << 30, "gibibytes": 1 << 30,
    "t": 1 << 40, "tb": 1 << 40, "tebibytes": 1 << 40,
}  # fmt: skip


# How an option refers to a variable of the environment.
OF_ENVIRONMENT = re.compile(r"\$\{env:(\w+)\}")


def resolve_environment(options: Mapping[str, str], of: tuple[str, ...] = ("",)) -> dict[str, str]:
    """``options`` with each ``${env:NAME}`` replaced in keys that begin as one ``of``. Raises ValidationError for a variable that is not set."""

    def value(match: re.Match[str], key: str) -> str:
        found = variable(match[1])
        if found is None:
            raise ValidationError(
                f"Option '{key}' needs the environment variable {match[1]}, which is not set.", hint=f"export {match[1]}=..., then start again."
            )
        return found

    return {k: OF_ENVIRONMENT.sub(partial(value, key=k), v) if k.startswith(of) else v for k, v in options.items()}


# A valid value in place of one that is not known yet, by its option's kind.
_OF_KIND = {
    OptionKind.INT: "1",
    OptionKind.LONG: "1",
    OptionKind.DOUBLE: "1",
    OptionKind.BOOLEAN: "true",
    OptionKind.DURATION: "1 s",
    OptionKind.MEMORY: "1 mb",
    OptionKind.MAP: "key:value",
}


def with_samples(options: Mapping[str, str], declared: tuple[Option, ...]) -> dict[str, str]:
    """``options`` with each ``${env:NAME}`` replaced, by a sample of the option's kind if the variable is not set."""

    def value(key: str, text: str) -> str:
        names = OF_ENVIRONMENT.findall(text)
        if not names or all(variable(name) is not None for name in names):
            return text
        option = find_option(declared, key)
        if OF_ENVIRONMENT.fullmatch(text):
            if option is None:
                return "x"
            return option.sample or (option.values[0] if option.values else _OF_KIND.get(option.kind, "x"))
        return OF_ENVIRONMENT.sub(lambda m: variable(m[1]) or "x", text)

    return resolve_environment({k: value(k, v) for k, v in options.items()})


def parse_duration(text: str) -> int:
    """Milliseconds of ``10 s``, ``5min``, ``100`` (= ms). Raises ValueError."""
    match = re.fullmatch(r"\s*(\d+)\s*([a-z]*)\s*", text.lower(), re.ASCII)
    if not match or match[2] not in _UNITS_MS:
        raise ValueError(f"'{text}' is not a duration such as '10 s' or '5 min'")
    return _long(match[1], _UNITS_MS[match[2]], text)


def parse_memory(text: str) -> int:
    """Bytes of ``128mb``. Raises ValueError."""
    match = re.fullmatch(r"\s*(\d+)\s*([a-z]*)\s*", text.lower(), re.ASCII)
    if not match or match[2] not in _UNITS_BYTES:
        raise ValueError(f"'{text}' is not a memory size such as '128mb'")
    return _long(match[1], _UNITS_BYTES[match[2]], text)


def _long(digits: str, times: int, text: str) -> int:
    """Raises ValueError for what has more than 64 bits, as Flink does."""
    number = int(digits.lstrip("0")[:20] or "0") * times
    if number >= 1 << 63:
        raise ValueError(f"'{text}' does not fit into 64 bits")
    return number


def parse_boolean(text: str) -> bool:
    """``true`` or ``false``, in any case. Raises ValueError."""
    if text.strip().lower() not in ("true", "false"):
        raise ValueError(f"'{text}' is neither true nor false")
    return text.strip().lower() == "true"


def parse_whole(text: str, bits: int = 32) -> int:
    """A whole number of so many bits. Raises ValueError."""
    # More digits than these are not even counted.
    if not re.fullmatch(r"\s*[+-]?\d{1,30}\s*", text, re.ASCII):
        raise ValueError(f"'{text}' is not a whole number")
    number = int(text)
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise ValueError(f"'{text}' is not a whole number of {bits} bits")
    return number


def parse_ports(text: str) -> tuple[int, ...]:
    """The ports of ``9249``, ``9250-9260`` and ``9249,9300-9310``. Raises ValueError."""
    found: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,5})\s*(?:-\s*(\d{1,5})\s*)?", part, re.ASCII)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last < 1 << 16:
            raise ValueError(f"'{text}' is not a port, or a range of ports such as 9250-9260")
        found += range(first, last + 1)
    return tuple(found)


def parse_value(option: Option, text: str) -> Any:
    """The typed value: int for INT, LONG, DURATION (ms) and MEMORY (bytes), tuple for LIST, NAMES and PORTS, dict for MAP. Raises ValueError."""
    found = _parsed(option, text)
    if option.least is not None and found < option.least:
        raise ValueError(f"'{text}' is less than {option.least}")
    return found


def _parsed(option: Option, text: str) -> Any:
    match option.kind:
        case OptionKind.INT | OptionKind.LONG:
            return parse_whole(text, 32 if option.kind is OptionKind.INT else 64)
        case OptionKind.DOUBLE:
            if not _NUMBER.fullmatch(text):
                raise ValueError(f"'{text}' is not a number")
            return float(text)
        case OptionKind.BOOLEAN:
            return parse_boolean(text)
        case OptionKind.DURATION:
            return parse_duration(text)
        case OptionKind.MEMORY:
            return parse_memory(text)
        case OptionKind.LIST:
            return tuple(part.strip() for part in text.split(";") if part.strip())
        case OptionKind.NAMES:
            return tuple(part.strip() for part in text.split(",") if part.strip())
        case OptionKind.MAP:
            if wrong := next((part for part in text.split(",") if part and ":" not in part), None):
                raise ValueError(f"'{wrong}' is not of the form key:value")
            return dict(part.split(":", 1) for part in text.split(",") if part)
        case OptionKind.PORTS:
            return parse_ports(text)
        case OptionKind.ENUM:
            if text.lower() not in option.values:
                raise ValueError(f"'{text}' is not one of {', '.join(option.values)}")
            return text.lower()
    return text


def find_option(declared: Collection[Option], key: str) -> Option | None:
    """The declaration of ``key``: an exact one before a pattern."""
    exact = next((o for o in declared if o.key == key), None)
    return exact if exact is not None else next((o for o in declared if o.matches(key)), None)


def check_options(owner: str, options: Mapping[str, str], declared: tuple[Option, ...], *, at: Any = None) -> list[str]:
    """Check ``options`` against ``declared``; returns the notices for options without effect.

    ``owner`` names the connector or format in messages. Raises ValidationError, with the option's key, for an option that is unknown, missing,
    badly typed or refused.
    """
    notices = []
    unknown = sorted(k for k in options if find_option(declared, k) is None)
    if unknown:
        supported = "\n".join(sorted(o.key for o in declared))
        raise wrong_option(
            unknown[0],
            f"Unsupported options found for '{owner}'.\n\nUnsupported options:\n\n" + "\n".join(unknown) + f"\n\nSupported options:\n\n{supported}",
            at,
            did_you_mean(unknown[0], (o.key for o in declared)),
        )
    for option in declared:
        if option.required and option.key not in options:
            # Of those that a pattern takes, as properties.*, one may be misspelt.
            near = next(iter(get_close_matches(option.key, options.keys() - {o.key for o in declared}, n=1, cutoff=0.85)), None)
            raise wrong_option(
                option.key,
                f"One or more required options are missing.\n\nMissing required options are:\n\n{option.key}",
                at,
                f"Did you mean '{option.key}' where you wrote '{near}'?" if near else option.summary or None,
            )
    for key, text in options.items():
        known = find_option(declared, key)
        assert known is not None
        if known.use is Support.REFUSED:
            raise wrong_option(key, f"Option '{key}' of '{owner}' is not supported.", at, known.why or None)
        if known.use is Support.NOTICE:
            notices.append(f"Option '{key}' of '{owner}' has no effect: {known.why}")
        elif (given := known.given_instead(text)) is not None:
            notices.append(f"Option '{key}' = '{text}' of '{owner}' is not kept: {given}")
        if (wrong := _mistyped(known, key, text)) is not None:
            raise wrong_option(key, wrong, at, did_you_mean(text, known.values))
    return notices


def option_doubts(owner: str, options: Mapping[str, str], declared: tuple[Option, ...]) -> Iterator[str]:
    """The sentences of what ``check_options`` refuses as unknown, missing or badly typed, each by itself: the table may be meant to be altered."""
    for key, text in options.items():
        if (known := find_option(declared, key)) is None:
            yield f"'{key}' is no option of {owner}. {did_you_mean(key, (o.key for o in declared)) or ''}".rstrip()
        elif (wrong := _mistyped(known, key, text)) is not None:
            yield f"{wrong} {did_you_mean(text, known.values) or ''}".rstrip()
    for option in declared:
        if option.required and option.key not in options:
            yield f"The option '{option.key}' of {owner} is missing."


def _mistyped(option: Option, key: str, text: str) -> str | None:
    """What is wrong with the value ``text`` of ``key``; None where it is right, or the environment has it."""
    if "${env:" in text:
        return None
    try:
        parse_value(option, text)
    except ValueError as error:
        shown = masked_option(key, str(error)) if is_secret(key) else masked_value(str(error), pairs=True)
        return f"Invalid value for option '{key}': {shown}."
    return None


def meant(key: str, options: Mapping[str, str]) -> str | None:
    """A hint that names the one of ``options`` that is a misspelt ``key``; None where none is close."""
    near = nearest(key, (k for k in options if "." not in k))
    return f"'{near}' is no option. Did you mean '{key}'?" if near else None


def wrong_option(key: str, message: str, at: Any = None, hint: str | None = None) -> ValidationError:
    """What is wrong with the option ``key``, where ``check`` and the editor show it."""
    error = ValidationError(message, at=at, hint=hint)
    error.option = key
    return error


def value(options: Mapping[str, str], declared: tuple[Option, ...], key: str) -> Any:
    """The typed value of ``key`` in ``options``, or its default; None where there is neither."""
    option = find_option(declared, key)
    assert option is not None, key
    text = options.get(key, option.default)
    return None if text is None else parse_value(option, text)
