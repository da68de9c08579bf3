"""What is no character, though a text of Python's may hold it."""

from __future__ import annotations

import re

# Half of a surrogate pair: a JSON may escape one alone, and Python has bytes so that are not UTF-8. Nothing can write it.
HALF = re.compile("[\ud800-\udfff]")
# In its place where a text is shown.
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
