"""Settings of all tests."""

from hypothesis import settings

# How long an example takes depends on what else the machine does; tests never assert on time.
settings.register_profile("causalveil", deadline=None)
settings.load_profile("causalveil")
