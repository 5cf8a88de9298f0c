"""`python -m tests.fakes.messages_api PORT`: the scripted API as a program; port 0 takes a free one."""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress

from tests.fakes.messages_api.api import MessagesApi
from tests.fakes.messages_api.script import __doc__ as language


def main() -> int:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fakes.messages_api",
        description="A scripted Messages API on loopback.",
        epilog=language,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("port", type=int, help="0 takes a free port")
    parser.add_argument(
        "--default-script", help="directives for prompts that have none; else they are echoed"
    )
    options = parser.parse_args()
    api = MessagesApi(port=options.port, default_script=options.default_script)
    print(f"listening on {api.url}", flush=True)
    with suppress(KeyboardInterrupt):
        api.serve_forever()
    api.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
