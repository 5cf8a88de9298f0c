"""The task panel: list, delegate, adding and editing."""
