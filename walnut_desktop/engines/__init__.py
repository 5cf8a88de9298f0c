"""How each kind of agent is launched and driven, as data and small pure adapters."""
