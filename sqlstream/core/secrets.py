"""Which values must never be printed, by their names, and where in a value a secret is. It runs in Spark's workers too."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# The class that provides credentials is none itself, nor is where a keystore lies.
SECRET = re.compile(
    r"pass?w|passowrd|passphrase|passcode|pwd|secret|token|credential(?!s?[-_.]?provider)|jaas|auth[-_.]params|basic[-_.]?auth|authorization|user[-_.]?info"
    r"|http[-_.]headers|alert\.to|(?<![a-z])sas(?![a-z])|(?<![a-z])sig(?![a-z])|amz[-_.]signature"
    r"|(?:service|api|access|private|account|encryption|signing|shared|storage|sas)[-_.]?key|keystore[-_.]key|ssl[-_.]?key(?!store)",
    re.I,
)
# Each of them contains one of these, so most texts are ruled out without the pattern.
_WORDS = ("pas", "pwd", "secret", "token", "credential", "jaas", "auth", "info", "header", "sas", "sig", "key", "alert")
MASK = "******"
_REFERENCE = r"\$\{env:\w+\}"
_QUOTED = r"""\\?"(?:[^"\\]|\\.)*+(?:"|\Z)|'(?:[^']|'')*+(?:'|\Z)"""
_KEY = r"(?<![\w.$%-])(?P<key>[\w.$%-]++)"
# Each has the secret as its group, and the key where that tells whether it is one. A value may hold pairs of its own: it is only looked at.
_PAIRS = tuple(
    re.compile(pattern, re.S)
    for pattern in (
        # ?key=.. of an address, whatever is escaped in the key: up to the end of the string that it is in.
        r"[?&;](?P<key>[\w.$%-]++)=(?=(?P<secret>(?:[^&;\s\"']|'(?![\s,;)]|\Z)){1,512}))",
        # password="..", (password=..), and with blanks around the sign where the value is quoted.
        rf"{_KEY}['\"`]?=>?(?=(?P<secret>{_QUOTED}|(?:{_REFERENCE}|[^\s,;)&\]}}'\"`>]){{1,512}}))",
        rf"{_KEY}['\"`]?\s*=>?\s*(?=(?P<secret>{_QUOTED}))",
        # {"password": ".."}.
        rf"{_KEY}\\?['\"]\s*:\s*(?=(?P<secret>{_QUOTED}|(?:{_REFERENCE}|[^\s,;)\]}}'\"]){{1,512}}))",
    )
)
_PORT = r"(?!\d+(?:[/?#,;\s]|\Z))"
_ADDRESSES = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        # s3a://KEY:SECRET@bucket, https://TOKEN@host: all of it is a key.
        rf"\b(?:s3[an]?|https?)://(?P<secret>[^\s'\"/?#@:]{{1,512}}(?::{_PORT}[^\s\"@]{{1,512}})?)@",
        # scheme://user:password@host, several of them; after a host the same place has a port.
        rf"://[^\s/?#:@'\"]*:{_PORT}(?P<secret>[^\s\"]{{1,512}})@",
        rf",[^\s/?#:@'\",]+:{_PORT}(?P<secret>[^\s\"@,]{{1,512}})@",
        # jdbc:oracle:thin:user/password@host.
        r"\bjdbc:oracle:\w+:[^\s/@]{0,512}/(?P<secret>[^\s@]{1,512})@",
    )
)
_PEM = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?P<secret>.*?)(?:-----END|\Z)", re.S)
# name_of_a_secret:.. among the pairs of a MAP.
_IN_MAP = re.compile(r"(?:^|,)(?P<key>[\w .-]+):(?P<secret>[^,]+)")


def is_secret(key: str) -> bool:
    """Whether the value of ``key`` must never be printed."""
    lower = key.lower()
    return any(word in lower for word in _WORDS) and SECRET.search(key) is not None


def places(text: str, *, pairs: bool = False) -> list[tuple[int, int]]:
    """Where secrets stand in a text: passwords of addresses, ``password=..``; in order. ``pairs``: it may be a MAP's. References are none."""
    spans: list[tuple[int, int]] = []
    named = "%" in text or is_secret(text)
    asked = ((named, _PAIRS), (named and pairs, (_IN_MAP,)), ("@" in text, _ADDRESSES), ("-----" in text, (_PEM,)))
    for pattern in (p for wanted, patterns in asked if wanted for p in patterns):
        for match in pattern.finditer(text):
            key = match.groupdict().get("key")
            if key is not None and not is_secret(unquote(key)):
                continue
            begin, end = match.span("secret")
            while text[begin : begin + 1] in ("'", '"', "\\") and begin < end:
                begin += 1
            while text[end - 1 : end] in ("'", '"', "\\") and begin < end:
                end -= 1
            spans += [(begin + b, begin + e) for b, e in _spelled(text[begin:end])]
    return _merged(spans)


def _spelled(value: str) -> Iterator[tuple[int, int]]:
    """The parts of a secret that are not references ``${env:NAME}``; none if it consists of such, or of a kind of authorization before one."""
    if re.search(_REFERENCE, value) and re.fullmatch(r"(?i)(?:basic |bearer )?", re.sub(_REFERENCE, "", value)):
        return
    end = 0
    for match in re.finditer(_REFERENCE, value):
        if match.start() > end:
            yield end, match.start()
        end = match.end()
    if end < len(value):
        yield end, len(value)


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if merged and begin < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged


def masked_value(text: str, *, pairs: bool = False) -> str:
    """``text`` with the mask in the place of each secret in it (see ``places``)."""
    for begin, end in reversed(places(text, pairs=pairs)):
        text = f"{text[:begin]}{MASK}{text[end:]}"
    return text


def masked_option(key: str, value: str) -> str:
    """The value of the option ``key``, or the mask where the key is a secret's, or for the secrets in it; a reference ``${env:NAME}`` is none."""
    inside = masked_value(value, pairs=True)
    if not is_secret(key) or (re.search(_REFERENCE, value) and _only_references(key, value, inside)):
        return inside
    return MASK


def is_masked(key: str, value: str) -> bool:
    """Whether the value of ``key`` has asterisks where its secret was shown masked."""
    if is_secret(key) and re.fullmatch(r"\*+", value):
        return True
    return any(set(value[begin:end]) == {"*"} for begin, end in places(value, pairs=True))


def _only_references(key: str, value: str, inside: str) -> bool:
    """Whether all that is secret in the value of a secret's ``key`` is referred to: it is nothing else, or a line of JAAS with references in it."""
    return not list(_spelled(value)) or ("jaas" in key.lower() and inside == value)


def starred(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """``text`` with stars in the place of ``spans``, a character each, quotes and line breaks excepted: every offset stays."""
    for begin, end in spans:
        text = text[:begin] + re.sub(r"[^'\n]", "*", text[begin:end]) + text[end:]
    return text


def without(text: str, values: Iterable[str]) -> str:
    """``text`` with the mask in the place of each of ``values``, the longest first."""
    for value in sorted(filter(None, set(values)), key=len, reverse=True):
        text = text.replace(value, MASK)
    return text
