"""``python -m sqlstream`` is ``sqlstream``."""

import sys

from sqlstream.cli import main

sys.exit(main())
