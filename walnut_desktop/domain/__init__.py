"""Values and rules of the product: no IO, no clock, no loop. Standard library only."""
