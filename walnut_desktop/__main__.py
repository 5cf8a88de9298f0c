"""`python -m walnut_desktop` is `walnut-desktop`."""

import sys

from walnut_desktop.main import main

sys.exit(main())
