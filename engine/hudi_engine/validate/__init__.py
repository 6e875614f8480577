"""Compares every index of a table with what its committed data files and logs really hold."""
