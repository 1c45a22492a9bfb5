"""What torch, CUDA and its libraries say about kernels, drivers and devices."""

from __future__ import annotations

from envsolve.doctor.symptom_table import table

_GPU = r"(?P<gpu>[^\n]{2,80}?)"

CUDA = table(
    ("no-kernel-image", r"no kernel image is available|cudaErrorNoKernelImageForDevice|hipErrorNoBinaryForGpu"),
    ("invalid-device-function", r"invalid device function|(?:cuda|hip)ErrorInvalidDeviceFunction"),
    ("bad-image", r"device kernel image is invalid|cudaErrorInvalidKernelImage"),
    (
        "not-compatible",
        rf"{_GPU} with CUDA capability sm_(?P<capability>\d{{2,3}}) is not compatible with the current PyTorch install",
    ),
    (
        "supported-list",
        r"current PyTorch install(?:ation)? supports (?:the following )?CUDA capabilities "
        r"(?P<targets>(?:(?:sm|compute)_\d+\w?\s*)+)",
    ),
    (
        "gpu-too-old",
        rf"Found GPU(?P<index>\d+) {_GPU} which is of (?:cuda|compute) capability (?P<capability>\d+\.\d+)\.?"
        r" (?:PyTorch no longer supports this GPU|The minimum cuda capability)",
    ),
    (
        "capability-range",
        rf"Found GPU(?P<index>\d+) {_GPU} which is of (?:cuda|compute) capability (?P<capability>\d+\.\d+)\.?"
        r" Minimum and Maximum cuda capability supported by this version of PyTorch is"
        r" \(?(?P<low>\d+\.\d+)\)?\s*-\s*\(?(?P<high>\d+\.\d+)",
    ),
    ("requires-cuda", rf"Found GPU\d+ {_GPU} which requires CUDA_VERSION\s*>=\s*(?P<need>\d+)"),
    ("arch-mismatch", r"(?:CUBLAS|CUDNN|CUSOLVER|CUSPARSE)_STATUS_(?:\w+_)?ARCH_MISMATCH"),
    ("rocblas-target", r"rocBLAS error: (?:Cannot read|Could not)[^\n]*TensileLibrary"),
    ("no-sdpa-kernel", r"cutlassF:? no kernel found to launch|No available kernel\. Aborting execution"),
    (
        "triton-gpu-old",
        r"Triton only supports devices of CUDA Capability\s*>=\s*(?P<low>\d+\.\d+),? but your device is of CUDA"
        r" capability (?P<capability>\d+\.\d+)|is too old to be supported by the triton GPU compiler",
    ),
    ("ptxas-target", r"ptxas(?:-blackwell)? fatal\s*: Value '(?P<target>sm_\w+)' is not defined for option"),
    ("nvrtc-target", r"nvrtc: error: invalid value for --gpu-architecture|NVRTC_ERROR_INVALID_OPTION"),
    ("nvcc-target", r"nvcc fatal\s*: (?:Unsupported gpu architecture|Value) '(?P<target>(?:compute|sm)_\w+)'"),
    (
        "library-failed",
        r"(?P<status>CUBLAS_STATUS_(?:EXECUTION_FAILED|NOT_SUPPORTED|INVALID_VALUE|NOT_INITIALIZED|INTERNAL_ERROR"
        r"|ALLOC_FAILED)|CUDNN_STATUS_(?:EXECUTION_FAILED\w*|NOT_INITIALIZED|MAPPING_ERROR|NOT_SUPPORTED"
        r"|INTERNAL_ERROR\w*))",
    ),
    (
        "not-compiled",
        r"Torch not compiled with CUDA enabled|not compiled with CUDA support|PyTorch was not built with CUDA"
        r"|not linked with support for cuda devices|Torch not compiled with XPU enabled",
    ),
    (
        "cuda-unavailable",
        r"(?:torch\.cuda\.)?is_available(?:\(\))?`?'? (?:is|returns?|gives|says|prints|==|=|:|->)? ?(?:always "
        r"|still )?`?False"
        r"|CUDA is (?:still )?(?:not |un)available|(?:CUDA|GPU)(?:[ _-](?:available|enabled|detected"
        r"|support))?\s*[:=]\s*(?:False|no\b)"
        r"|Could not access a GPU|GPU (?:is )?(?:not |un)available|no GPU (?:was )?(?:found|detected)|GPU "
        r"(?:was )?not (?:found|detected)"
        r"|'cuda' is not available|Torch is not able to use GPU|no CUDA\b",
    ),
    (
        "cuda-state-dict",
        r"Attempting to deserialize object on a CUDA device but torch\.cuda\.is_available\(\) is False",
    ),
    (
        "no-gpus",
        r"No (?:CUDA|HIP) GPUs are available|no CUDA-capable device is detected|(?:cuda|CUDA_)Error_?NoDevice"
        r"|CUDA_ERROR_NO_DEVICE",
    ),
    (
        "bad-ordinal",
        r"invalid device ordinal|Invalid device id|Attempting to deserialize object on CUDA device \d+ but"
        r"|invalid device argument",
    ),
    ("no-driver", r"Found no NVIDIA driver on your system"),
    (
        "driver-old",
        r"NVIDIA driver on your system is too old \(found version (?P<found>\d+)\)|cudaErrorInsufficientDriver"
        r"|CUDA driver version is insufficient for CUDA runtime version|driver is too old for this CUDA",
    ),
    (
        "ptx-toolchain",
        r"unsupported toolchain|(?:cudaErrorUnsupportedPtxVersion|CUDA_ERROR_UNSUPPORTED_PTX_VERSION)"
        r"|Unsupported \.version (?P<ptx>\d\.\d); current version is",
    ),
    ("stub-library", r"CUDA driver is a stub library|Error 34\b|cudaErrorStubLibrary"),
    ("init-failed", r"CUDA driver initialization failed, you might not have a CUDA gpu"),
    ("no-jit-compiler", r"PTX JIT compiler library not found|libnvidia-ptxjitcompiler\S* (?:not found|cannot open)"),
    ("error-500", r"Error 500: named symbol not found|CUDA_ERROR_NOT_FOUND\b[^\n]*named symbol not found"),
    ("error-802", r"system not yet initialized|CUDA_ERROR_SYSTEM_NOT_READY|Error 802\b"),
    ("error-803", r"unsupported display driver\s*/\s*cuda driver combination|Error 803\b"),
    (
        "error-804",
        r"forward compatibility was attempted on non[- ]supported HW|cudaErrorCompatNotSupportedOnDevice|Error 804\b",
    ),
    (
        "error-999",
        r"CUDA unknown error - this may be due to|cudaErrorUnknown|returned 999\b|Error 999\b"
        r"|cuInit\S* (?:failed|returned)\S* ?(?:with )?(?:error )?(?:code )?999",
    ),
    ("error-304", r"Error 304\b|OS call failed or operation not supported on this OS"),
    (
        "all-busy",
        r"all CUDA-capable devices are busy or unavailable|CUDA-capable device\(s\) is/are busy or unavailable",
    ),
    (
        "launch-failure",
        r"CUDA error: (?:an illegal memory access|device-side assert|unspecified launch failure|misaligned address)",
    ),
    ("cublas-alloc", r"CUBLAS_STATUS_ALLOC_FAILED"),
    ("out-of-memory", r"CUDA out of memory|CUDA error: out of memory|OutOfMemoryError"),
    ("xpu-unavailable", r"torch\.xpu\.is_available(?:\(\))?`?\s*(?:==|=|:|->|is|returns?|gives|says)?\s*False"),
    ("ecc", r"uncorrectable ECC error|Xid[^\n]{0,30}: (?:48|94|95),"),
    ("hipblaslt", r"hipBLASLt on an unsupported architecture"),
    ("nvml-init", r"Can't initialize NVML|NVMLError_LibraryNotFound"),
    (
        "nccl",
        r"NCCL error|caught collective operation timeout|ncclUnhandledCudaError"
        r"|ncclSystemError|ncclInvalidUsage|ncclInternalError",
    ),
    ("hang", r"\bhangs?\b|\bstuck\b|\bfreezes?\b|(?:for|takes?|after|about|some|several) (?:\w+ )?minutes\b"),
    (
        "on-cpu",
        r"as slow as (?:on )?(?:the )?cpu|runs? (?:\w+ ){0,3}on (?:the )?cpu|(?:using|uses) (?:only )?(?:the )?cpu\b"
        r"|gpu idles?|gpu (?:is |stays )?(?:not used|idle|unused)|fall(?:s|ing)? back to (?:the )?cpu|switching to cpu"
        r"|not (?:use|using) (?:the |my )?gpu|doesn'?t use (?:the |my )?gpu",
    ),
)
