"""One process of the all-reduce: started by torchrun as a script, with a folder, the device numbers and a seed."""

import importlib
import json
import os
import sys
from pathlib import Path

SIZE = 1 << 16


def work(folder: str, numbers: str, seed: str) -> None:
    """Reduce, compare with the sum of the inputs of all processes, write the error down."""
    torch = importlib.import_module("torch")
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.cuda.set_device(int(numbers.split(",")[rank]))
    torch.distributed.init_process_group("nccl")
    inputs = []
    for one in range(world):
        torch.manual_seed(int(seed) + one)
        inputs.append(torch.randn(SIZE))
    there = inputs[rank].cuda()
    torch.distributed.all_reduce(there)
    torch.cuda.synchronize()
    want = sum(x.double() for x in inputs)
    error = ((there.cpu().double() - want).norm() / want.norm()).item()
    result = {"what": f"all-reduce, rank {rank}", "error": error, "tolerance": 1e-5}
    (Path(folder) / f"{rank:03}.json").write_text(json.dumps(result))
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    work(*sys.argv[1:])
