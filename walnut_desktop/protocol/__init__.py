"""What core and daemon say to each other."""
