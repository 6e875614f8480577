"""Examples are the same in every run of the gate, and a slow machine is no failure. A soak run draws others."""

from hypothesis import settings

from tests.kit.soak import is_soak

settings.register_profile("unit", max_examples=100, deadline=None, derandomize=not is_soak(), database=None)
settings.load_profile("unit")
