"""Names of conda packages as pip knows them, and those that pip has no counterpart for."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# conda's name -> the name on a Python index, where they differ.
_PIP_NAMES = {
    "dask-core": "dask",
    "matplotlib-base": "matplotlib",
    "msgpack-python": "msgpack",
    "opencv": "opencv-python",
    "py-opencv": "opencv-python",
    "pyqt": "pyqt5",
    "pytables": "tables",
    "python-graphviz": "graphviz",
    "pytorch": "torch",
    "pytorch-cpu": "torch",
    "pytorch-gpu": "torch",
    "seaborn-base": "seaborn",
    "tensorflow-base": "tensorflow",
}
# Python itself, pip, and what `conda env export` lists of C libraries, compilers and programs.
_NOT_FOR_PIP = _words(
    """
    pip python python-freethreading python_abi blas bzip2 c-ares c-compiler ca-certificates cairo compilers cpuonly
    cuda cuda-toolkit cudatoolkit cudnn cxx-compiler expat ffmpeg fontconfig freetype gcc gcc_linux-64 gettext giflib
    git glib gmp gnutls gxx gxx_linux-64 harfbuzz icu intel-openmp jpeg keyutils krb5 lame lcms2 ld_impl_linux-64
    ld_impl_linux-aarch64 lerc llvm-openmp lz4-c make mkl mkl-service mkl_fft mkl_random mpfr mpc nccl ncurses nettle
    nodejs openblas openh264 openjpeg openssl pango pcre pcre2 pixman pkg-config pytorch-cuda pytorch-mutex readline
    sqlite tbb tk tzdata ucrt vc vs2015_runtime x264 x265 xz yaml zeromq zlib zstd
    """
)
_NATIVE_STARTS = ("_", "cuda-", "libblas", "libcblas", "libcu", "libgcc", "libgomp", "liblapack", "libnpp", "libnv")
_LIBRARIES = _words(  # each with "lib" before it
    """
    archive brotlicommon brotlidec brotlienc deflate drm edit ev expat ffi flac gfortran gfortran5 gfortran-ng glib
    hwloc iconv idn2 jpeg-turbo llvm14 llvm15 nghttp2 nsl ogg opus openblas pciaccess png protobuf sanitizer sndfile
    sodium sqlite ssh2 stdcxx stdcxx-ng tasn1 tiff unistring uuid uv va vorbis vpx webp webp-base xcb xcrypt xml2 zlib
    """
)


def pip_name(conda: str) -> str | None:
    """The name for pip; None where pip has none."""
    library = conda.startswith("lib") and conda.removeprefix("lib") in _LIBRARIES
    if library or conda in _NOT_FOR_PIP or conda.startswith(_NATIVE_STARTS):
        return None
    return _PIP_NAMES.get(conda, conda)
