"""The machine and the versions that figures were measured with."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

__all__ = ["machine"]

PACKAGES = (
    "parataxis",
    "onnxruntime",
    "numpy",
    "tokenizers",
    "torch",
    "transformers",
    "ctranslate2",
    "spacy",
)


def machine() -> dict[str, object]:
    """Processor, cores, memory, system and versions."""
    return {
        "processor": _processor(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "int8": [name for name in ("avx512_vnni", "avx_vnni", "amx_int8") if name in _flags()],
        "gigabytes": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": {name: found for name in PACKAGES if (found := _version(name))},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cpu_info() -> str:
    path = Path("/proc/cpuinfo")
    return path.read_text() if path.exists() else ""


def _flags() -> set[str]:
    lines = [line for line in _cpu_info().splitlines() if line.startswith("flags")]
    return set(lines[0].split()) if lines else set()


def _processor() -> str:
    lines = [line for line in _cpu_info().splitlines() if line.startswith("model name")]
    return lines[0].partition(":")[2].strip() if lines else platform.processor()
