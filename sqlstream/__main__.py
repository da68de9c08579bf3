"""``python -m sqlstream`` is ``sqlstream``."""

import sys

from sqlstream.cli.main import main

sys.exit(main())
