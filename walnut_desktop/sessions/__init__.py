"""Session use cases, one module per verb."""
