"""``parataxis diagnose``: diagnostics that expose a splitter which cheats."""

from parataxis.cli.diagnose_attention import attention
from parataxis.cli.diagnose_errors import errors, table
from parataxis.cli.diagnose_memorisation import memorisation, probes
from parataxis.cli.group import make_group

__all__ = ["diagnose"]

diagnose = make_group(
    "diagnose",
    (memorisation, probes, attention, errors, table),
    summary="See whether a splitter cheats: what it recites, where it looks, what it gets wrong.",
)
