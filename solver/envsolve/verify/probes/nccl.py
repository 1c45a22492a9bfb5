"""An all-reduce over all GPUs by NCCL: torchrun starts one process a GPU."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from .protocol import Context, Facts, Skip, release


def all_reduce(context: Context) -> Facts:
    """Start the processes and collect what each measured. `options`: the device numbers and a limit in seconds."""
    distributed = context.torch.distributed
    if not distributed.is_available() or not distributed.is_nccl_available():
        raise Skip("this torch is built without NCCL")
    numbers = context.options["numbers"]
    with tempfile.TemporaryDirectory() as folder:
        # A script's own folder is the first on its path: it must hold nothing that torch could import by mistake.
        worker = shutil.copy(str(Path(__file__).resolve().with_name("nccl_worker.py")), folder)
        seed = str(int.from_bytes(os.urandom(3), "big"))
        command = [*torchrun(release(context.torch), len(numbers)), worker, folder, ",".join(map(str, numbers)), seed]
        output = run(command, folder, context.options["limit_s"])
        results = [json.loads(file.read_text()) for file in sorted(Path(folder).glob("*.json"))]
    if len(results) != len(numbers):
        raise RuntimeError(f"{len(results)} of {len(numbers)} processes came through: {output}")
    return {"errors": results}


def torchrun(torch_release: Any, count: int) -> Any:
    """The command that starts `count` processes on this host, in the form of this torch."""
    module = ["torch.distributed.run"] if torch_release >= (1, 9) else ["torch.distributed.launch", "--use_env"]
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    where = ["--nnodes=1", f"--nproc_per_node={count}", "--master_addr=127.0.0.1", f"--master_port={port}"]
    return [sys.executable, "-m", *module, *where]


def run(command: Any, folder: str, limit_s: float) -> str:
    """Run it; the first line that tells of an error. Raises RuntimeError when it takes too long."""
    process = subprocess.Popen(
        command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    try:
        output = process.communicate(timeout=limit_s)[0]
    except subprocess.TimeoutExpired:
        process.terminate()  # torchrun ends its own processes, which are in sessions of their own
        try:
            process.communicate(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
        raise RuntimeError(f"no answer within {limit_s:g} s") from None
    lines = [line.strip() for line in output.decode("utf-8", "replace").splitlines() if "Error" in line]
    return lines[0][:400] if lines else f"exit code {process.returncode}"
