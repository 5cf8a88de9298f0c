"""The helper process that owns the agents' processes. Standard library only, runnable alone."""
