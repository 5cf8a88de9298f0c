"""Builds the core and wires events to use cases. No Qt."""
