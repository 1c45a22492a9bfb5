"""Common false beliefs: each is put right where a report shows it, and nowhere else."""

from __future__ import annotations

import pytest

from envsolve.doctor.beliefs import signed
from envsolve.doctor.diagnose import diagnose
from envsolve.doctor.facts import load_facts
from envsolve.doctor.finding import Finding
from envsolve.doctor.report import read_report
from envsolve.rulebook.load import load, load_document

RULEBOOK, FACTS = load(), load_facts()

# Belief -> (a report that shows it, the code of the finding beside which it is put right).
SHOWN = {
    "arch_list_at_run": (
        """\
RTX 5090, Linux, driver 570.86.16, torch 2.5.1+cu121. I did export TORCH_CUDA_ARCH_LIST="12.0" but still
RuntimeError: CUDA error: no kernel image is available for execution on the device
""",
        "no-kernels",
    ),
    "tuple_in_arch_list": (
        """\
Linux RTX 3080 driver 550.54.14, torch 2.5.1+cu121
>>> (8, 6) in torch.cuda.get_arch_list()
False
>>> torch.cuda.get_device_capability() in torch.cuda.get_arch_list()
False
>>> torch.cuda.is_available()
True
so my card is not supported?
""",
        "ok",
    ),
    "rtx50_is_8x": (
        """\
RTX 5080 Linux driver 570.86.16: it is sm_89, and torch 2.6.0+cu124 has sm_90, so it should work
>>> torch.cuda.get_arch_list()
['sm_50', 'sm_60', 'sm_70', 'sm_75', 'sm_80', 'sm_86', 'sm_90']
RuntimeError: CUDA error: no kernel image is available for execution on the device
""",
        "no-kernels",
    ),
    "sm89_missing": (
        """\
RTX 4090, Linux, driver 550.54.14, torch 2.5.1+cu121
>>> torch.cuda.get_arch_list()
['sm_50', 'sm_60', 'sm_70', 'sm_75', 'sm_80', 'sm_86', 'sm_90']
>>> torch.cuda.is_available()
True
sm_89 is missing from the list. Do I need another build?
""",
        "ok",
    ),
    "ptx_future": (
        """\
RTX 5090, Linux, driver 580.65.06, torch 2.5.1+cu124. PTX should make it forward compatible
RuntimeError: CUDA error: no kernel image is available for execution on the device
""",
        "no-kernels",
    ),
    "newest_cuda_wheel": (
        """\
GTX 1080 Ti, Linux, driver 580.65.06. I took the newest: torch 2.9.1+cu130
>>> torch.cuda.is_available()
True
UserWarning: Found GPU0 NVIDIA GeForce GTX 1080 Ti which is of cuda capability 6.1.
RuntimeError: CUDA error: no kernel image is available for execution on the device
""",
        "no-kernels",
    ),
    "smi_cuda_is_toolkit": (
        """\
RTX 3090 on Linux. nvidia-smi says CUDA Version: 12.4 so CUDA 12.4 is installed, but nvcc says command not found.
| NVIDIA-SMI 550.54.14    Driver Version: 550.54.14    CUDA Version: 12.4 |
>>> torch.__version__
'2.5.1+cpu'
>>> torch.cuda.is_available()
False
""",
        "cpu-build",
    ),
    "wheel_must_match": (
        """\
Linux RTX 3090 driver 550.54.14 CUDA Version: 12.4, torch 2.5.1+cu121
>>> torch.cuda.is_available()
True
nvidia-smi says 12.4 but torch.version.cuda is 12.1, they have to match, which torch is for 12.4?
""",
        "ok",
    ),
    "cuda127": (
        """\
nvidia-smi says CUDA Version: 12.7, driver 565.57.01, RTX 3090, Linux
$ pip install torch --index-url https://download.pytorch.org/whl/cu127
ERROR: Could not find a version that satisfies the requirement torch (from versions: none)
ERROR: No matching distribution found for torch
""",
        "no-wheel",
    ),
    "conda_cudatoolkit": (
        """\
Linux RTX 3090 driver 550.54.14. I ran conda install cudatoolkit=11.8 and then pip install torch
>>> torch.__version__, torch.version.cuda, torch.cuda.is_available()
('2.5.1+cu124', '12.4', True)
torch uses 12.4 and not my cudatoolkit 11.8, how do I fix the mismatch?
""",
        "ok",
    ),
    "toolkit_for_wheels": (
        """\
Linux, RTX 4070, driver 550.54.14. I installed the CUDA toolkit 12.4 (nvcc --version says 12.4), then
$ pip install torch --index-url https://download.pytorch.org/whl/cpu
>>> torch.__version__, torch.cuda.is_available()
('2.5.1+cpu', False)
""",
        "cpu-build",
    ),
    "system_cudnn": (
        """\
Linux RTX 3080 driver 535.104.05. I installed cuDNN 8.9 from NVIDIA's tar file to /usr/local/cuda and torch says
>>> torch.__version__, torch.backends.cudnn.version()
('2.5.1+cu121', 90100)
the versions of cuDNN don't match. torch.cuda.is_available() is True. Do I have to install cuDNN 9.1?
""",
        "ok",
    ),
    "extra_index": (
        """\
$ pip install torch --extra-index-url https://download.pytorch.org/whl/cu118
Looking in indexes: https://index.example/simple, https://download.pytorch.org/whl/cu118
Collecting torch
  Downloading torch-2.6.0-cp311-cp311-manylinux1_x86_64.whl (766.7 MB)
Successfully installed torch-2.6.0
>>> torch.version.cuda
'12.4'
I wanted cu118. Linux, GTX 1080, driver 470.161.03
>>> torch.cuda.is_available()
UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found version 11040).
False
""",
        "driver-too-old",
    ),
    "conda_channel": (
        """\
Linux RTX 4090 driver 580.65.06
$ conda install pytorch -c pytorch
>>> torch.__version__, torch.cuda.is_available()
('2.5.1', True)
why don't I get 2.9?
""",
        "ok",
    ),
    "latest_driver": (
        """\
GTX 1080 Ti, I updated to the newest driver 590.44.01 on Linux.
NVRM: The NVIDIA GeForce GTX 1080 Ti GPU installed in this system is supported through the NVIDIA 580.xx Legacy drivers.
nvidia-smi: No devices were found
""",
        "driver-too-new",
    ),
    "smi_query_cuda": (
        """\
$ nvidia-smi --query-gpu=cuda_version --format=csv
Field "cuda_version" is not a valid field to query.
""",
        "unknown",
    ),
    "flash_attn_wheel": (
        """\
$ pip install flash-attn
Building wheel for flash-attn (setup.py): still running...
""",
        "unknown",
    ),
    "vllm_index": (
        """\
RTX 3090 Linux driver 550.54.14. uv pip install vllm --torch-backend=cu124
ImportError: libcudart.so.13: cannot open shared object file: No such file or directory
  File "/venv/lib/python3.12/site-packages/vllm/_C.abi3.so"
torch 2.6.0+cu124
""",
        "foreign-extension",
    ),
    "compat_geforce": (
        """\
RTX 3090, Linux, driver 470.161.03, I installed cuda-compat-12-4 and set
LD_LIBRARY_PATH=/usr/local/cuda-12.4/compat. torch 2.5.1+cu124
Error 804: forward compatibility was attempted on non supported HW
>>> torch.cuda.is_available()
False
""",
        "driver-library-mismatch",
    ),
    "arch_list_rocm": (
        """\
Linux AMD Radeon VII (gfx906) torch 2.9.1+rocm6.4
>>> torch.cuda.get_arch_list()
['gfx900', 'gfx906', 'gfx908', 'gfx90a', 'gfx942', 'gfx1030', 'gfx1100', 'gfx1101', 'gfx1200', 'gfx1201']
rocBLAS error: Cannot read TensileLibrary.dat: No such file or directory for GPU arch : gfx906
""",
        "no-kernels",
    ),
}
# What the causes say in their own words: the report, and a piece of it.
SAID = {
    "is_available_enough": (
        """\
Linux. GTX 1080, driver 580.65.06, torch 2.9.1+cu128
>>> torch.cuda.is_available()
True
>>> torch.ones(2).cuda()
RuntimeError: CUDA error: no kernel image is available for execution on the device
but is_available() is True!
""",
        "proves nothing about kernels",
    ),
    "container_toolkit": (
        """\
docker run --gpus all pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime nvidia-smi
docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].
Do I have to install CUDA 12.4 on the host? RTX 3090, driver 550.54.14
""",
        "Container Toolkit, nothing more",
    ),
    "wsl_linux_driver": (
        """\
WSL2 Ubuntu 22.04, RTX 4070. I ran sudo apt install nvidia-driver-550
nvidia-smi: Failed to initialize NVML: GPU access blocked by the operating system
>>> torch.__version__, torch.cuda.is_available()
('2.5.1+cu124', False)
""",
        "the Windows driver is passed in",
    ),
    "pip_windows_cuda": (
        """\
Windows 11, RTX 4060, driver 566.36. pip install torch
>>> torch.__version__, torch.cuda.is_available()
('2.7.1+cpu', False)
""",
        "on Windows the default Python index has no other",
    ),
    "hsa_override": (
        """\
Linux, AMD Radeon RX 6600 (gfx1032), torch 2.9.1+rocm6.4, HSA_OVERRIDE_GFX_VERSION=10.3.0
Memory access fault by GPU node-1 (Agent handle: 0x55) on address 0x7f.
""",
        "only pretends another target",
    ),
    "ld_library_path": (
        """\
RTX 3090 Linux driver 550.54.14 torch 2.5.1+cu124
$ export LD_LIBRARY_PATH=/usr/local/cuda-11.8/lib64
cuDNN version incompatibility: PyTorch was compiled against (9, 1, 0) but found runtime version (8, 9, 7)
""",
        "a wheel brings its own CUDA, cuDNN",
    ),
    "ngc_pip": (
        """\
In nvcr.io/nvidia/pytorch:25.03-py3 on H100
$ pip install torchaudio
  Found existing installation: torch 2.7.0a0+7c8ec84dab.nv25.3
    Uninstalling torch-2.7.0a0+7c8ec84dab.nv25.3:
      Successfully uninstalled torch-2.7.0a0+7c8ec84dab.nv25.3
Successfully installed torch-2.9.1 torchaudio-2.9.1
ImportError: /usr/local/lib/python3.12/dist-packages/transformer_engine_torch.so: undefined symbol: _ZN3c104cuda
""",
        "it is on no index",
    ),
}


def find(text: str) -> Finding:
    return diagnose(read_report(text, RULEBOOK, FACTS), RULEBOOK, FACTS)


def test_every_belief_of_the_rules_has_its_place() -> None:
    known = {row["id"] for row in load_document("ways")["beliefs"]["beliefs"]}
    assert set(SHOWN) == set(signed()) and not set(SHOWN) & set(SAID)
    assert set(SHOWN) | set(SAID) == known


@pytest.mark.parametrize("belief", SHOWN)
def test_it_is_put_right_where_it_matters(belief: str) -> None:
    report, code = SHOWN[belief]
    found = find(report)
    truth = FACTS.belief(belief)[1]
    assert found.code == code
    assert any(line.startswith("not so: ") and line.endswith(truth) for line in found.fine)


@pytest.mark.parametrize("belief", SAID)
def test_it_is_said_by_the_cause(belief: str) -> None:
    report, piece = SAID[belief]
    found = find(report)
    ways = [piece for fix in found.fixes for piece in (fix.text, *fix.commands)]
    assert any(piece in line for line in (found.headline, *found.fine, *ways))


def test_a_report_that_believes_nothing_wrong_is_told_nothing() -> None:
    found = find("""\
Linux, RTX 3080
| NVIDIA-SMI 550.54.14    Driver Version: 550.54.14    CUDA Version: 12.4 |
>>> torch.__version__, torch.cuda.is_available()
('2.5.1+cu121', True)
""")
    assert found.code == "ok" and not any("not so" in line for line in found.fine)


def test_what_matters_when_code_is_compiled_is_not_called_wrong() -> None:
    found = find("""\
Linux, RTX 3080, driver 550.54.14, torch 2.5.1+cu121, nvcc 12.4, TORCH_CUDA_ARCH_LIST=8.6
RuntimeError: The detected CUDA version (11.8) mismatches the version that was used to compile PyTorch (12.1).
""")
    assert not any("not so" in line for line in found.fine)
