"""The topics of Kafka brokers, for completion: asked for in the background, kept for a while; who asks waits for a blink at most."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from sqlstream.connectors.kafka.client import KafkaClient
from sqlstream.core.errors import SqlStreamError

if TYPE_CHECKING:
    from collections.abc import Mapping

KEPT_S = 30.0
ANSWER_S = 2.0
BLINK_S = 0.2
_Key = tuple[tuple[str, str], ...]


class TopicNames:
    """What brokers answered."""

    def __init__(self) -> None:
        self._known: dict[_Key, tuple[str, ...]] = {}
        self._asked: dict[_Key, tuple[float, threading.Thread]] = {}

    def __call__(self, properties: Mapping[str, str]) -> tuple[str, ...]:
        """The topics of the cluster that a client's properties lead to, as far as they are known."""
        key = tuple(sorted(properties.items()))
        when, asking = self._asked.get(key, (0.0, None))
        if asking is None or time.monotonic() - when > KEPT_S:
            asking = threading.Thread(target=self._ask, args=(key,), name="topics", daemon=True)
            self._asked[key] = time.monotonic(), asking
            asking.start()
        asking.join(BLINK_S)
        return self._known.get(key, ())

    def _ask(self, key: _Key) -> None:
        try:
            self._known[key] = tuple(KafkaClient(dict(key), ANSWER_S).topics())
        except SqlStreamError:
            self._known[key] = ()
