"""What drivers, kernels, containers, WSL and virtual machines say."""

from __future__ import annotations

from envsolve.doctor.symptom_table import table

HOST = table(
    ("nvml-mismatch", r"Driver/library version mismatch"),
    ("api-mismatch", r"API mismatch: the client has(?: the)? version"),
    (
        "driver-unreachable",
        r"couldn'?t communicate with the NVIDIA driver|NVML: Driver Not Loaded|NVIDIA driver is not loaded",
    ),
    # nvidia-smi found no libcuda: the CUDA part of the driver is not there.
    ("smi-no-libcuda", r"CUDA (?:UMD )?Version ?: N/A"),
    ("no-devices", r"No devices were found"),
    ("no-handle", r"Unable to determine the device handle for|GPU is lost|fallen off the bus|RmInitAdapter failed"),
    ("smi-err", r"(?m:^)\s*\|[^\n]*\bERR!"),
    ("nvml-unknown", r"Failed to initialize NVML:? *Unknown Error"),
    ("no-permission", r"(?:do not|don't) have (?:sufficient )?permission|Insufficient Permissions"),
    (
        "kfd-permission",
        r"Unable to open /dev/kfd[^\n]*Permission denied|/dev/(?:kfd|dri/render\w*)[^\n]*Permission denied",
    ),
    ("os-blocked", r"GPU access blocked by the operating system"),
    (
        "legacy-driver",
        r"supported through the NVIDIA (?P<branch>\d+)\.xx Legacy|(?P<driver>\d{3})[\d.]* NVIDIA driver will "
        r"ignore this GPU",
    ),
    (
        "unsupported-gpu",
        r"installed in this system is not supported by the(?: NVIDIA)? (?P<driver>\d+)\S*|is not supported by "
        r"(?:the )?open",
    ),
    ("open-needed", r"requires use of the NVIDIA open kernel modules?"),
    ("vgpu-unlicensed", r"\bUnlicensed\b"),
    ("nouveau", r"\bnouveau\b"),
    (
        "module-refused",
        r"could not insert '?nvidia\w*'?:? *(?P<why>[^\n]*)|Module nvidia\w* not found|Key was rejected by "
        r"service|Required key not available"
        r"|Loading of unsigned module is rejected|Bad return status for module build|dkms[^\n]*(?:error"
        r"|failed)|nvidia[^\n]*\(WARNING! Diff"
        r"|modprobe: FATAL: Module nvidia",
    ),
    ("fabric-manager", r"fabric ?manager"),
    (
        "suspend",
        r"\b(?:suspend(?:ed)?|resum(?:e|ed)|hibernat\w+|sleep(?:ing)? (?:mode|state)|woke up|from sleep|after sleep)\b",
    ),
    (
        "docker-no-runtime",
        r"could not select device driver [^\n]{0,20}with capabilities"
        r"|nvidia-container-runtime(?:-hook)?\"?: (?:executable file not found|no such file)"
        r"|unknown or invalid runtime name: nvidia"
        r"|Unknown runtime specified nvidia|unknown flag: --gpus|CDI device injection failed|unresolvable CDI devices",
    ),
    (
        "image-driver",
        r"built for NVIDIA Driver Release (?P<driver>\d+\.\d+(?:\.\d+)?) or later, but\s+version "
        r"(?P<have>\d+\.\d+(?:\.\d+)?) was detected and compatibility mode is UNAVAILABLE",
    ),
    (
        "smi-not-mounted",
        r"executable file [`'\"]?nvidia-smi[`'\"]? not found|\"nvidia-smi\": executable file not found",
    ),
    (
        "container-requirement",
        r"(?:requirement error: )?unsatisfied condition: cuda\s*>=?\s*(?P<cuda>\d+\.\d+)|requirement error: [^\n]*",
    ),
    (
        "container-cli",
        r"nvidia-container-cli:(?: (?P<stage>[\w. ]+) error)?:? ?(?P<why>[^\n]*)|nvidia-container-runtime[^\n]*error",
    ),
    (
        "ngc-no-driver",
        r"The NVIDIA Driver was not detected|GPU functionality will not be available",
    ),
    (
        "ngc-compat",
        r"CUDA Forward Compatibility mode ENABLED|Using CUDA (?P<cuda>[\d.]+) driver version|CUDA Minor "
        r"Version Compatibility mode ENABLED",
    ),
    ("k8s-no-gpu", r"Insufficient nvidia\.com/gpu|nvidia-device-plugin|nvidia\.com/gpu: ?(?P<count>\S+)"),
    ("cgroup", r"daemon-reload|cgroup"),
    ("wsl-link", r"/usr/lib/wsl/lib/libcuda\.so\.1 is not a symbolic link"),
    ("wsl-dxg", r"dxg(?:k|core)?\S*:? [^\n]*(?:fail|error)|/dev/dxg[^\n]*No such file"),
    ("wsl-lib-missing", r"cannot access '?/usr/lib/wsl/lib\b|/usr/lib/wsl/lib\S*: No such file"),
    ("dev-dxg-missing", r"/dev/dxg'?:? No such file"),
    ("dev-nvidia-missing", r"/dev/nvidia[\w*]*'?:? No such file"),
    (
        "linux-driver-in-wsl",
        r"(?:apt(?:-get)?|dnf|yum|ubuntu-drivers)[^\n]*(?:nvidia-driver|cuda-drivers|autoinstall)"
        r"|\bcuda-drivers\b|/usr/lib/x86_64-linux-gnu/libcuda\.so",
    ),
    ("compat-libs", r"cuda(?:-[\d.]+)?/compat|cuda-compat(?:-[\d-]+)?"),
    ("mig", r"\bMIG\b[^\n]{0,40}(?:enabled|mode)|MIG-[0-9a-f]{8}|\bMIG (?:\d+g|device)"),
    (
        "mig-empty",
        r"No GPU instances found|No MIG(?:-enabled)? devices found|no (?:GPU|MIG|compute) instances?(?: were| was)? "
        r"(?:created|configured)|\bMIG (?:mode )?(?:is )?(?:enabled|on)\b[^\n]{0,40}\bno instances?\b",
    ),
    ("compute-mode", r"Exclusive_Process|E\. Process|\bProhibited\b"),
    ("slurm", r"\b(?:srun|sbatch|salloc|slurm\w*|SLURM_\w+)\b"),
    ("gres", r"--gres|--gpus(?:-per-\w+)?[ =]|gres/gpu"),
    ("hybrid", r"\b(?:prime-select|optimus|envycontrol|supergfxctl|bbswitch|bumblebee)\b"),
)
