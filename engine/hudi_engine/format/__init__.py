"""Bytes and values: every format of Hudi, both ways. Knows no store and no table."""
