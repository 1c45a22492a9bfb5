"""What third-party extensions say when their binaries do not fit torch or the GPU."""

from __future__ import annotations

from envsolve.doctor.symptom_table import table

EXTENSION = table(
    (
        "xformers-build",
        r"xFormers (?:was built for|can't load C\+\+/CUDA extensions)[^\n]*(?:\n\s*PyTorch (?P<torch>[\w.+]+)"
        r" with CUDA (?P<cuda>\w+)(?: \(you have (?P<have>[\w.+]+)\))?)?",
    ),
    ("xformers-none", r"No operator found for `?memory_efficient_attention|memory_efficient_attention_forward"),
    (
        "triton-missing",
        r"A matching Triton is not available|triton is not (?:available|installed)|Cannot find a working "
        r"triton installation",
    ),
    (
        "flash-old-gpu",
        r"FlashAttention(?:-\d)? only supports Ampere GPUs or newer|flash.?attn\w* requires? (?:an )?Ampere",
    ),
    (
        "flash-missing",
        r"FlashAttention2? (?:has been toggled on, but it cannot be used|is not available)|flash_attn seems to "
        r"be not installed"
        r"|requires? the following packages[^\n]*flash_attn",
    ),
    (
        "bitsandbytes",
        r"CUDA Setup failed despite (?:GPU|CUDA) being available|bitsandbytes was compiled without GPU support"
        r"|libbitsandbytes_(?:cpu|cuda\d+\w*|rocm\d+)\S*|Required library version not found: libbitsandbytes\S+"
        r"|bitsandbytes library load error|Configured CUDA binary not found at|python -m bitsandbytes"
        r"|compiled binary .{0,20}not found.{0,80}bitsandbytes",
    ),
    (
        "deepspeed-cuda",
        r"Installed CUDA version (?P<have>[\d.]+) does not match the version torch was compiled with (?P<torch>[\d.]+)"
        r"|MissingCUDAException|CUDA_HOME does not exist, unable to compile CUDA op",
    ),
    (
        "build-cuda",
        r"The detected CUDA version \((?P<have>[\d.]+)\) mismatches the version that was used to "
        r"compile\s*PyTorch \((?P<torch>[\d.]+)\)"
        r"|Cuda extensions are being compiled with a version of Cuda that does not match[^\n]*Pytorch binaries were "
        r"compiled with Cuda (?P<torch2>\d+\.\d+)",
    ),
    ("extension-build", r"Error building extension '(?P<name>[\w-]+)'"),
    ("host-compiler", r"unsupported GNU version! (?P<why>gcc versions later than (?P<last>\d+) are not supported)"),
    (
        "minor-cuda",
        r"detected CUDA version \((?P<have>[\d.]+)\) has a minor version mismatch with the version that was "
        r"used to compile",
    ),
    (
        "cuda-home",
        r"CUDA_HOME environment variable is not set|nvcc was not found|(?:nvcc|ninja): (?:command )?not found"
        r"|No CUDA runtime is found",
    ),
    ("no-arch-list", r"_get_cuda_arch_flags|arch_list\[-1\] \+= ?'\+PTX'"),
    (
        "build-failed",
        r"Failed(?: to build installable wheels for some pyproject.toml based projects| building wheel for) "
        r"\(?(?P<package>[\w-]+)"
        r"|Building wheel for (?P<package3>[\w.-]+) \([^()\n]*\)[ .]*error\b"
        r"|Getting requirements to build wheel did not run successfully|Failed to build `?(?P<package2>[\w.-]+)"
        r"|Preparing metadata \(setup\.py\)[^\n]*error|metadata-generation-failed|error: subprocess-exited-with-error",
    ),
    ("build-isolation", r"ModuleNotFoundError: No module named 'torch'"),
    ("torchcodec", r"Could not load libtorchcodec"),
    (
        "onnxruntime",
        r"Failed to create CUDAExecutionProvider|onnxruntime_providers_cuda|CUDAExecutionProvider' is not in available",
    ),
    ("ctranslate", r"Library (?:cublas|cudnn|libcublas|libcudnn)\w*\S* is not found or cannot be loaded"),
    (
        "tensorflow",
        r"Could not find cuda drivers on your machine, GPU will not be used|Cannot dlopen some GPU libraries",
    ),
    ("paddle", r"library \(\S+\) that Paddle depends on is not configured"),
    (
        "compiled-other-torch",
        r"(?:was|were) (?:built|compiled) (?:for|with|against) (?:PyTorch|torch) (?P<torch>\d[\w.+]*)",
    ),
    ("tensorrt", r"\bTensorRT\b.{0,60}(?:error|not found|could not)"),
)
