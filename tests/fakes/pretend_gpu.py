"""A real torch that is told to have CUDA devices: everything "on the GPU" is computed on the CPU.

The text of SITECUSTOMIZE goes into an environment's sitecustomize.py; it patches torch as soon as torch is imported.
"""

SITECUSTOMIZE = """
import importlib.abc, importlib.machinery, os, sys

CAPABILITIES = {capabilities!r}
TARGETS = {targets!r}


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "torch":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        load = spec.loader.exec_module
        def exec_module(module):
            load(module)
            pretend(module)
        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Finder())


def pretend(torch):
    to = torch.Tensor.to
    def moved(self, target, *args, **kwargs):
        if isinstance(target, str) and target.startswith("cuda"):
            return to(self, "cpu").clone()
        return to(self, target, *args)
    torch.Tensor.to = moved
    torch.Tensor.cuda = torch.Tensor.pin_memory = torch.Tensor.clone
    torch.version.cuda = "13.0"
    torch._C._cuda_getArchFlags = lambda: TARGETS
    torch.backends.cudnn.is_available = lambda: True
    cuda = torch.cuda
    cuda.is_available = lambda: True
    cuda.device_count = lambda: len(CAPABILITIES)
    cuda.get_device_name = lambda n: "NVIDIA Pretence %d%d" % CAPABILITIES[n]
    cuda.get_device_capability = lambda d: CAPABILITIES[int(str(d).split(":")[-1])]
    cuda.synchronize = cuda.set_device = lambda *device: None
    ones = torch.ones
    torch.ones = lambda *size, device=None, **kwargs: ones(*size, **kwargs)
    if {only_ptx} and os.environ.get("CUDA_DISABLE_PTX_JIT"):
        def refused(*args, **kwargs):
            raise RuntimeError("CUDA error: no kernel image is available for execution on the device")
        torch.Tensor.index_select = refused
    distributed = torch.distributed
    distributed.is_nccl_available = lambda: True
    start = distributed.init_process_group
    distributed.init_process_group = lambda backend: start("gloo")
    {more}
"""


def sitecustomize(
    *capabilities: tuple[int, int], targets: str = "sm_80 sm_90 compute_90", only_ptx: bool = False, more: str = ""
) -> str:
    """The text for GPUs of these capabilities; with `only_ptx` their own kernels need JIT; `more` patches `torch`."""
    return SITECUSTOMIZE.format(capabilities=capabilities, targets=targets, only_ptx=only_ptx, more=more)
