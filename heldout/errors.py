"""The two ways a command ends badly; each is one line that says what is wrong, where, and what to do."""


class HeldoutError(Exception):
    """A failure with a one-line message for the person at the terminal; ``status`` is the command's exit status."""

    status = 1


class Refused(HeldoutError):
    """The call or its data are wrong (exit status 2): nothing was done that would have to be undone."""

    status = 2


class Held(Refused):
    """Another live process is writing in the folder."""


class Failed(HeldoutError):
    """The work itself failed (exit status 1): a full disk, a broken model, a diverged loss."""

    status = 1


class Diverged(Failed):
    """The training came to nothing by its own options (a loss that is no number, a full device), not by the machine.

    A search over options goes on with others; after any other failure it stops, and the trial is continued later.
    """
