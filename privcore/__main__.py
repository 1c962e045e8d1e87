"""`python -m privcore`."""

import sys

from privcore.cli import main

sys.exit(main())
