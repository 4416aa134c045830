"""The command ``parataxis``, also as ``python -m parataxis``."""

import signal
import sys


def main() -> int:
    """Run the command line. SIGTERM and SIGHUP end ``split`` and ``claims`` as Ctrl-C does, even
    while modules are imported, unless they are ignored, as under nohup."""
    if sys.argv[1:2] in (["split"], ["claims"]):
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, signal.default_int_handler)
    try:
        from parataxis.cli.main import main as run
    except KeyboardInterrupt:
        return 130
    return run()


if __name__ == "__main__":
    sys.exit(main())
