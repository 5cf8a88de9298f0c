"""The practice agent: a program of its own that speaks the Claude CLI's protocol without an account."""
