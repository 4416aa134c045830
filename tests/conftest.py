"""Settings for all tests."""

from hypothesis import settings

# How long an example takes depends on how busy the machine is, so it says nothing here.
settings.register_profile("parataxis", deadline=None)
settings.load_profile("parataxis")
