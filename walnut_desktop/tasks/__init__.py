"""Task use cases."""
