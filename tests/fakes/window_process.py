"""A whole app in a process of its own, to be killed: opens the window, starts a session, says when it works.

`python -m tests.fakes.window_process HOME FOLDER ENGINE PROMPT WORD` prints `ready SID` once WORD shows.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.gui.rig import Rig, eventually
from walnut_desktop.gui import application


def main() -> int:
    home, folder, engine, prompt, word = sys.argv[1:]
    app = application.Application([sys.argv[0]])

    async def work(stopping: application.Stopping) -> int:
        rig = Rig(app, Path(home), Path(folder), engine)
        await rig.open()
        await rig.add_task("Killed window")
        await rig.start(prompt)
        await eventually(lambda: word in rig.shown(), word)
        sys.stdout.write(f"ready {rig.session().sid}\n")
        sys.stdout.flush()
        await stopping.wait()
        await asyncio.sleep(0)
        return 0

    return application.run(app, work)


if __name__ == "__main__":
    sys.exit(main())
