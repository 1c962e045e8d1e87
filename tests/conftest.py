"""Settings of all tests."""

import os

# Before numpy is imported: several processes test at once, and threads of linear algebra on small
# matrices would only get in each other's way.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

from hypothesis import settings  # noqa: E402

# How long an example takes depends on what else the machine does; tests never assert on time.
settings.register_profile("causalveil", deadline=None)
settings.load_profile("causalveil")
