"""A link to the daemon of one host."""
