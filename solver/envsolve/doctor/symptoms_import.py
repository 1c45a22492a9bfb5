"""What importing torch or a companion says when files do not belong together."""

from __future__ import annotations

from envsolve.doctor.symptom_table import table

_LIB = r"(?P<library>[\w./\\:+~-]{0,250}\.(?:so(?:\.[\d.]+)?|pyd|dll|dylib))"

IMPORT = table(
    (
        "missing-operator",
        r"operator (?P<operator>torchvision::\w+|torchaudio::\w+|\w+::\w+) does not exist|Couldn't load custom "
        r"C\+\+ ops"
        r"|No such operator (?P<operator2>\w+::\w+)|'_OpNamespace' '(?P<space>\w+)' object has no attribute",
    ),
    (
        "no-cuda-operator",
        r"Could not run '(?P<space>\w+)::\w+' with arguments from the 'CUDA' backend",
    ),
    ("undefined-symbol", rf"{_LIB}: undefined symbol: (?P<symbol>[\w@]+)(?:,? version (?P<provider>[\w.]+))?"),
    ("symbol-not-found", r"symbol not found in flat namespace|Symbol not found: (?P<symbol>\w+)"),
    (
        "different-cuda",
        r"Detected that PyTorch and (?P<other>[\w-]+) were compiled with different CUDA (?:major )?versions\."
        r" PyTorch has CUDA Version[= ](?P<torch>\d+\.\d+) (?:and|whereas) \S+ has CUDA Version[= ]"
        r"(?P<theirs>\d+\.\d+)",
    ),
    ("load-failed", rf"Could not load this library: {_LIB}|OSError: {_LIB.replace('library', 'library2')}: "),
    (
        "dll-failed",
        r"DLL load failed(?: while importing (?P<module>[\w.]+))?|\[WinError (?P<number>1114|126|127|193)\][^\n]*"
        r"(?:Error loading \"(?P<library>[^\"\n]+)\")?",
    ),
    (
        "no-shared-object",
        r"(?P<library>lib[\w.+-]+\.so(?:\.[\d.]+)?): cannot open shared object file|cannot load library "
        r"'?(?P<library2>lib\S+\.so\S*)"
        r"|Could not load library (?P<library3>lib\S+\.so[\d.]*)|Could not load dynamic library '(?P<library4>[^']+)'",
    ),
    (
        "libcuda-missing",
        r"libcuda\.so(?:\.1)?:? (?:=> not found|cannot open shared object|not found)|libcuda\.so not found",
    ),
    (
        "libcuda-damaged",
        r"(?P<path>/\S*libcuda\.so\S*): (?P<why>file too short|invalid ELF header|wrong ELF class|cannot read file data"
        r"|cannot map|ELF (?:file|load)|undefined symbol)",
    ),
    (
        "cudnn-versions",
        r"cuDNN version incompatibility: PyTorch was compiled +against \((?P<built>[\d, ]+)\) but"
        r" (?:found runtime version|linked against) \((?P<found>[\d, ]+)\)",
    ),
    (
        "cudnn-sub",
        r"SUBLIBRARY_VERSION_MISMATCH"
        r"|Unable to load any of \{libcudnn\w*|Cannot load symbol (?P<symbol>cudnn\w+)|libcudnn\w* .{0,40}symbol",
    ),
    ("glibc", r"(?:version )?[`'](?P<version>GLIBC_[\d.]+)' not found"),
    ("glibcxx", r"(?:version )?[`'](?P<version>(?:GLIBCXX|CXXABI)_[\d.]+)' not found"),
    (
        "numpy-abi",
        r"A module that was compiled using NumPy 1\.x cannot be run in(?: NumPy (?P<numpy>2\.[\d.]*\d))?"
        r"|_ARRAY_API not found|Numpy is not available|expected np\.ndarray \(got numpy\.ndarray\)"
        r"|Failed to initialize NumPy|numpy\.core\.multiarray failed to import",
    ),
    ("numpy-dtype-size", r"numpy\.(?:dtype|ndarray|ufunc) size changed, may indicate binary incompatibility"),
    (
        "numpy-removed",
        r"module 'numpy' has no attribute '(?P<name>\w+)'|`np\.(?P<name2>\w+)` was removed in the NumPy 2\.0",
    ),
    (
        "torch-not-itself",
        r"partially initialized module 'torch'|_NamespacePath\(\['[^']*[/\\]torch'\]\)"
        r"|module 'torch' has no attribute '(?P<name>\w+)'|No module named "
        r"'torch\._C'"
        r"|cannot import name '?(?P<name2>\w+)'? from (?:partially initialized module )?'torch'"
        r"|No module named 'torch\.(?P<sub>[\w.]+)'; 'torch' is not a package|Failed to load PyTorch C extensions",
    ),
    ("torch-part", r"No module named '?torch\.(?P<sub>[\w.]+)"),
    ("no-torch", r"No module named '?torch'?(?![\w.'])|No module named 'torch'"),
    (
        "no-companion",
        r"No module named '?(?P<module>torchvision|torchaudio|triton|torchtext|torchdata)(?P<sub>\.[\w.]+)?'?",
    ),
    (
        "moved-name",
        r"cannot import name '?(?P<name>\w+)'? from '?(?P<module>(?:torch|torchvision|torchaudio|triton)[\w.]*)'?",
    ),
    (
        "no-attribute",
        r"module '(?P<module>torchvision|torchaudio|triton)(?P<sub>[\w.]*)' has no attribute '(?P<name>\w+)'",
    ),
    (
        "torch-lacks",
        r"module '(?P<module>torch\.[\w.]+)' has no attribute '(?P<name>\w+)'"
        r"|type object 'torch\.[\w.]+' has no attribute",
    ),
    ("image-extension", r"Failed to load image Python extension"),
    ("jni-notify", r"undefined symbol: iJIT_NotifyEvent"),
    ("illegal-instruction", r"[Ii]llegal (?:hardware )?instruction"),
    ("omp-twice", r"OMP: Error #15"),
)
