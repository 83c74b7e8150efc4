"""Golden values for src/format/dequantize_test.cc: random blocks of every type that qwick reads, and
what the Python package gguf makes of them.

    python tools/goldens/dequantize.py        (gguf 0.19.0, numpy; writes tests/golden/dequantize/)

TYPE.bin: uint32 n_blocks, the blocks, then the values as f32, all little-endian. The scales of the
blocks cover zero, subnormals, the largest finite value, infinity and NaN in both signs.
"""

import pathlib
import struct

import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType as Type
from gguf.quants import dequantize

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/dequantize"

# Where a block's 16-bit scales are.
SCALES = {
    Type.Q8_0: [0], Type.Q4_0: [0], Type.Q4_1: [0, 2], Type.Q5_0: [0], Type.Q5_1: [0, 2],
    Type.Q4_K: [0, 2], Type.Q5_K: [0, 2], Type.Q6_K: [208],
}
F16_EDGES = [0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x3C00, 0xBC00, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00]
F32_EDGES = [0x00000000, 0x80000000, 0x00000001, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000, 0xFF800000]
BF16_EDGES = [0x0000, 0x8000, 0x0001, 0x007F, 0x0080, 0x7F7F, 0x7F80, 0xFF80, 0x7FC0]


def blocks_of(kind, rng):
    size, n_bytes = GGML_QUANT_SIZES[kind]
    if size == 1:
        edges = {Type.F32: F32_EDGES, Type.F16: F16_EDGES, Type.BF16: BF16_EDGES}[kind]
        word = {2: np.uint16, 4: np.uint32}[n_bytes]
        return np.concatenate([np.array(edges, word), rng.integers(0, 1 << (8 * n_bytes), 48, word)]).view(np.uint8)
    n = len(F16_EDGES) if size == 32 else 4
    blocks = rng.integers(0, 256, (n, n_bytes), np.uint8)
    for position, at in enumerate(SCALES[kind]):
        scales = rng.normal(0, 0.02, n).astype(np.float16).view(np.uint16)
        edges = np.roll(F16_EDGES, 5 * position)
        chosen = range(n) if size == 32 else range(0, n, 2)  # the big blocks: half of them ordinary
        for i in chosen:
            scales[i] = rng.choice(edges) if size != 32 else edges[i]
        blocks[:, at:at + 2] = scales.view(np.uint8).reshape(n, 2)
    return blocks


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(7)
    for kind in [Type.F32, Type.F16, Type.BF16, *SCALES]:
        blocks = blocks_of(kind, rng)
        with np.errstate(all="ignore"):
            values = dequantize(blocks, kind).astype(np.float32).reshape(-1)
        n_blocks = values.size // GGML_QUANT_SIZES[kind][0]
        data = struct.pack("<I", n_blocks) + blocks.tobytes() + values.astype("<f4").tobytes()
        (OUT / f"{kind.name}.bin").write_bytes(data)
        print(f"{kind.name}: {n_blocks} blocks, {len(data)} bytes")


if __name__ == "__main__":
    main()
