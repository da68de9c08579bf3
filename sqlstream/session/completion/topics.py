"""The topics of Kafka brokers, for completion: asked for in the background, kept for a while; who asks waits for a blink at most."""

from __future__ import annotations

import threading
import time

from sqlstream.connectors.kafka import wire

KEPT_S = 30.0
ANSWER_S = 2.0
BLINK_S = 0.2


class Topics:
    """What brokers answered."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}
        self._asked: dict[str, tuple[float, threading.Thread]] = {}

    def __call__(self, servers: str) -> tuple[str, ...]:
        """The topics of the first broker of ``servers`` that answers, as far as they are known."""
        when, asking = self._asked.get(servers, (0.0, None))
        if asking is None or time.monotonic() - when > KEPT_S:
            asking = threading.Thread(target=self._ask, args=(servers,), name="topics", daemon=True)
            self._asked[servers] = time.monotonic(), asking
            asking.start()
        asking.join(BLINK_S)
        return self._known.get(servers, ())

    def _ask(self, servers: str) -> None:
        for server in servers.split(","):
            try:
                self._known[servers] = tuple(wire.topics(server.strip(), ANSWER_S))
                return
            except wire.WireError:
                continue
        self._known[servers] = ()
