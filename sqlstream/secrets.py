"""What must never be printed, told by its name. It runs in Spark's workers too."""

from __future__ import annotations

import re

SECRET = re.compile(r"password|secret|token|credential|jaas|auth[-_]params|passphrase|(?:service|api|access|private)[-_]?key", re.I)
MASK = "******"


def is_secret(key: str) -> bool:
    """Whether the value of ``key`` must never be printed."""
    return SECRET.search(key) is not None
