"""Examples are the same in every run, and a slow machine is no failure."""

from hypothesis import settings

settings.register_profile("unit", max_examples=100, deadline=None, derandomize=True, database=None)
settings.load_profile("unit")
