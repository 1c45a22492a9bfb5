say() { printf 'build-torch: %s\n' "$*" >&2; }
die() { say "$1"; [ $# -lt 2 ] || say "hint: $2"; exit 1; }
need() { command -v "$1" >/dev/null 2>&1 || die "$1 is not installed" "${2:-install it with the package manager}"; }

WORK=$(mkdir -p "${1:-pytorch-build}" && cd "${1:-pytorch-build}" && pwd)
readonly WORK WHEELS="$WORK/wheels" VENV="$WORK/venv"

check_tools() {
    need git
    CUDA_HOME=${CUDA_HOME:-/usr/local/cuda-$CUDA}
    [ -x "$CUDA_HOME/bin/nvcc" ] || CUDA_HOME=/usr/local/cuda
    [ -x "$CUDA_HOME/bin/nvcc" ] || die "there is no nvcc in $CUDA_HOME" "install the CUDA $CUDA toolkit, or set CUDA_HOME"
    "$CUDA_HOME/bin/nvcc" --version | grep -q "release $CUDA," ||
        die "$CUDA_HOME is not CUDA $CUDA" "install the CUDA $CUDA toolkit, or set CUDA_HOME"
    export CUDA_HOME PATH="$CUDA_HOME/bin:$PATH"
}

check_compiler() {
    local major found
    if [ -z "${CXX:-}" ]; then
        for major in $GCC_MAJORS; do
            if command -v "g++-$major" >/dev/null 2>&1 && command -v "gcc-$major" >/dev/null 2>&1; then
                CC=gcc-$major CXX=g++-$major
                break
            fi
        done
    fi
    CXX=${CXX:-g++} CC=${CC:-gcc}
    need "$CXX" "CUDA $CUDA and this torch take gcc $GCC_MAJORS"
    found=$("$CXX" -dumpversion | cut -d. -f1)
    case " $GCC_MAJORS " in
        *" $found "*) ;;
        *) die "$CXX is gcc $found; CUDA $CUDA and this torch take gcc $GCC_MAJORS" "install g++-${GCC_MAJORS%% *}, or set CC and CXX" ;;
    esac
    export CC CXX CUDAHOSTCXX="$CXX" NVCC_CCBIN="$CXX"
}

check_cudnn() {
    local header folder major
    for folder in "$CUDA_HOME/include" /usr/include /usr/include/x86_64-linux-gnu; do
        for header in "$folder/cudnn_version.h" "$folder/cudnn_version_v$CUDNN_MAJOR.h" "$folder/cudnn.h"; do
            [ -r "$header" ] || continue
            major=$(sed -n 's/^#define CUDNN_MAJOR[[:space:]]\{1,\}\([0-9]\{1,\}\).*/\1/p' "$header" | head -n 1)
            [ -n "$major" ] || continue
            [ "$major" = "$CUDNN_MAJOR" ] || die "$header is cuDNN $major, not $CUDNN_MAJOR" "install cuDNN $CUDNN_MAJOR for CUDA ${CUDA%%.*}"
            return
        done
    done
    die "there is no cudnn.h" "install cuDNN $CUDNN_MAJOR for CUDA ${CUDA%%.*} with its headers"
}

check_headers() {
    local code header=${LINUX_HEADERS:-/usr/include/linux}/version.h
    [ -n "$OLD_LINUX_HEADERS" ] && [ -r "$header" ] || return 0
    code=$(sed -n 's/^#define LINUX_VERSION_CODE[[:space:]]\{1,\}\([0-9]\{1,\}\).*/\1/p' "$header")
    # 6.0.3 is 393219: the gloo of this torch does not compile with newer headers.
    [ "${code:-0}" -lt 393219 ] || die "the Linux headers are too new for this torch" "build in the image of the Dockerfile"
}

check_room() {
    local free
    free=$(df -Pk "$WORK" | awk 'NR == 2 { print int($4 / 1048576) }')
    [ "$free" -ge "$DISK_GIB" ] || say "note: $free GiB are free in $WORK, some $DISK_GIB are wanted"
}

choose_jobs() {
    local cores memory by_memory
    cores=$(getconf _NPROCESSORS_ONLN)
    memory=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
    # In a container the limit of its control group counts.
    if [ -r /sys/fs/cgroup/memory.max ] && [ "$(cat /sys/fs/cgroup/memory.max)" != max ]; then
        by_memory=$(awk '{ print int($1 / 1048576) }' /sys/fs/cgroup/memory.max)
        [ "$by_memory" -ge "$memory" ] || memory=$by_memory
    fi
    by_memory=$((memory / JOB_MIB))
    [ "$by_memory" -ge 1 ] || by_memory=1
    MAX_JOBS=${MAX_JOBS:-$((by_memory < cores ? by_memory : cores))}
    export MAX_JOBS
    say "$MAX_JOBS jobs ($cores cores, $memory MiB of memory, $JOB_MIB MiB a job): some $((CORE_HOURS / MAX_JOBS + 1)) hours"
}

make_environment() {
    if [ ! -x "$VENV/bin/python" ]; then
        if [ -n "${PYTHON:-}" ]; then
            "$PYTHON" -m venv "$VENV"
        elif command -v "python$PYTHON_VERSION" >/dev/null 2>&1; then
            "python$PYTHON_VERSION" -m venv "$VENV"
        else
            need uv "install Python $PYTHON_VERSION with its headers and venv, or uv, which can fetch it"
            uv venv --seed --python "$PYTHON_VERSION" "$VENV"
        fi
    fi
    "$VENV/bin/python" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$PYTHON_VERSION')" ||
        die "$VENV is not of Python $PYTHON_VERSION" "remove it, or set PYTHON"
    export PATH="$VENV/bin:$PATH"
    # What this torch does not take any more is kept out of everything that is installed later.
    printf '%s\n' "$SETUPTOOLS" "$NUMPY" "$CMAKE" >"$WORK/constraints.txt"
    export PIP_CONSTRAINT="$WORK/constraints.txt" PIP_DISABLE_PIP_VERSION_CHECK=1
    python -m pip install --quiet "$SETUPTOOLS" "$NUMPY" "$CMAKE" wheel ninja pyyaml typing_extensions
}

# fetch NAME ADDRESS TAG: the source of a tag with its submodules; a clone that was cut short is thrown away.
fetch() {
    local target="$WORK/src/$1"
    [ -d "$target" ] && return
    rm -rf "$target.part"
    mkdir -p "$WORK/src"
    say "fetching $1 $3"
    git clone --quiet --depth 1 --branch "$3" --recurse-submodules --shallow-submodules "$2" "$target.part"
    mv "$target.part" "$target"
}

have_wheel() { compgen -G "$WHEELS/$1-*.whl" >/dev/null; }

# make_wheel FOLDER: the wheel of the project in a folder, into $WHEELS when it is whole.
make_wheel() {
    local folder="$WORK/src/$1"
    rm -rf "$folder/dist"
    if [ -n "$PIP_WHEEL" ] || [ "$1" != pytorch ]; then
        (cd "$folder" && python -m pip wheel --no-deps --no-build-isolation --wheel-dir dist .)
    else
        (cd "$folder" && python setup.py bdist_wheel)
    fi
    mkdir -p "$WHEELS"
    cp "$folder"/dist/*.whl "$WHEELS"
}

build_torch() {
    have_wheel torch && return
    fetch pytorch https://github.com/pytorch/pytorch.git "v$TORCH"
    python -m pip install --quiet -r "$WORK/src/pytorch/requirements.txt"
    say "compiling torch $TORCH for $ARCH_LIST_TORCH"
    PYTORCH_BUILD_VERSION="$TORCH+$LABEL" PYTORCH_BUILD_NUMBER=1 TORCH_CUDA_ARCH_LIST="$ARCH_LIST_TORCH" make_wheel pytorch
}

# build_companion NAME VERSION ADDRESS: against the torch that was just built; no GPU need be visible.
build_companion() {
    [ -n "$2" ] || return 0
    have_wheel "$1" && return
    fetch "$1" "$3" "v$2"
    say "compiling $1 $2 for $ARCH_LIST_EXTENSIONS"
    BUILD_VERSION="$2+$LABEL" PYTORCH_VERSION="$TORCH" FORCE_CUDA=1 TORCH_CUDA_ARCH_LIST="$ARCH_LIST_EXTENSIONS" make_wheel "$1"
}

verify() {
    local options=()
    rm -rf "$WORK/verify"
    python -m venv "$WORK/verify"
    "$WORK/verify/bin/python" -m pip install --quiet "$NUMPY" "$WHEELS"/*.whl
    command -v nvidia-smi >/dev/null 2>&1 && nvidia-smi -L >/dev/null 2>&1 || options=(--static)
    if command -v envsolve >/dev/null 2>&1; then
        envsolve verify --path "$WORK/verify" ${options[@]+"${options[@]}"}
    else
        "$WORK/verify/bin/python" -c 'import torch; print(torch.__version__, torch._C._cuda_getArchFlags())'
        say "to prove it on the GPU: envsolve verify --path $WORK/verify"
    fi
}

main() {
    check_tools
    check_compiler
    check_cudnn
    check_headers
    check_room
    choose_jobs
    make_environment
    build_torch
    python -m pip install --quiet --force-reinstall --no-deps "$WHEELS"/torch-*.whl
    python -m pip install --quiet "$WHEELS"/torch-*.whl
    build_companion torchvision "$TORCHVISION" https://github.com/pytorch/vision.git
    build_companion torchaudio "$TORCHAUDIO" https://github.com/pytorch/audio.git
    verify
    say "the wheels are in $WHEELS; where they run, CUDA $CUDA and cuDNN $CUDNN_MAJOR libraries must be installed"
}

main
