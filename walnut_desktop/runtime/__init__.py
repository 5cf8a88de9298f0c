"""Plumbing that knows nothing of the product: clock, spawner, bus, paths, settings, logs."""
