"""The kernels, run by triton's interpreter, do what torch does in several steps; and triton can
compile them for a GPU, which needs none."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import torch
from parataxis.run.gpu import kernels

torch.manual_seed(0)
step = float(torch.tensor(1 / 127))
rows = torch.randn(3, 5, 384)
rows[0, 0] = 0.0
found, scales = kernels.quantised_rows(rows, 1e-12, step)
largest = rows.abs().amax(-1, keepdim=True).clamp(min=1e-12)
assert torch.equal(scales, largest)
assert torch.equal(found.float(), torch.round(rows / largest / step))

products = torch.randint(-99, 99, (3, 5, 20)).float()
columns, bias, row_scales = torch.rand(20), torch.randn(20), torch.rand(3, 5, 1)
scaled = kernels.scaled(products, step, columns, row_scales, bias)
assert torch.equal(scaled, products * (step * columns) * row_scales + bias)
assert torch.equal(kernels.scaled(products, step, columns, None, None), products * (step * columns))

scores = torch.randn(2, 3, 4, 11)
for bias in (torch.randn(2, 1, 1, 11), torch.randn(2, 11, 4, 3).permute(0, 3, 2, 1)):
    wanted = (scores / 8.0 + bias).softmax(-1)
    assert torch.allclose(kernels.attention(scores, 8.0, bias), wanted, atol=1e-6)

scale = torch.tensor(0.037)
rows = torch.randn(3, 50) * 9
wanted = torch.round(rows / scale).clamp(-128, 127)
assert wanted.min() == -128 and torch.equal(kernels.quantised(rows, scale).float(), wanted)

for steps, words in ((1, 32), (4, 11)):
    queries = torch.randn(2, steps, 3, 64).transpose(1, 2)
    keys = torch.randn(2, 3, words, 64).transpose(2, 3)
    values = torch.randn(2, 3, words, 64)
    bias = torch.randn(2, 1, 1, words)
    wanted = (queries @ keys / 8.0 + bias).softmax(-1) @ values
    found = kernels.attended(queries, keys, values, 8.0, bias)
    assert torch.allclose(found, wanted, atol=1e-5)
print("all the same")
"""

COMPILING = """
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from parataxis.run.gpu import kernels

FLOATS = {"divisor", "step", "tiniest"}
NUMBERS = {"count", "heads", "width"}
CONSTANTS = {"BLOCK": 32, "HAS_BIAS": True, "HAS_ROWS": True, "ROWS": 16, "SIZE": 64, "STEPS": 4}

def kind(kernel, name):
    if name in CONSTANTS:
        return "constexpr"
    if name in NUMBERS or "_" in name or name == "steps" and kernel.__name__ == "_soften":
        return "i32"
    if name in FLOATS:
        return "fp32"
    return "*bf16" if name == "steps" else "*fp32"

for name in ("_quantise", "_quantise_by", "_scale", "_soften", "_attend"):
    kernel = getattr(kernels, name)
    names = kernel.arg_names
    source = ASTSource(
        kernel,
        {each: kind(kernel, each) for each in names},
        {(names.index(each),): CONSTANTS[each] for each in names if each in CONSTANTS},
    )
    assert "ptx" in triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm
print("all compiled")
"""


def run(program: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": "", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_kernels_compute_what_torch_computes() -> None:
    done = run(PROGRAM, TRITON_INTERPRET="1")
    assert done.stdout == "all the same\n", done.stderr


def test_kernels_can_be_compiled_for_a_gpu(tmp_path: Path) -> None:
    done = run(COMPILING, TRITON_CACHE_DIR=str(tmp_path))
    assert done.stdout == "all compiled\n", done.stderr
