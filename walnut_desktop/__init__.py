"""Walnut Desktop: run coding agents on many tasks at once."""

__version__ = "0.1.0"
