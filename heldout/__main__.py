"""``python -m heldout``: the same as the ``heldout`` command, for ``accelerate launch -m heldout``."""

from heldout.cli import main

raise SystemExit(main())
