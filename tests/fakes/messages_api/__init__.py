"""A scripted stand-in for the Messages API: the real CLI runs against it, without an account.

In a test: `with MessagesApi() as api: … api.url …`. By hand: `python -m tests.fakes.messages_api PORT`.
How to script it: `tests/fakes/messages_api/script.py`.
"""

from tests.fakes.messages_api.api import MessagesApi
from tests.fakes.messages_api.state import Request

__all__ = ["MessagesApi", "Request"]
