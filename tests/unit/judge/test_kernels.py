"""Which code target serves which GPU: NVIDIA's binary rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envsolve.capability import Capability, Target
from envsolve.judge.kernels import cubin_runs, ptx_runs
from envsolve.rulebook.load import load

TEGRA = load().tegra_capabilities


@pytest.mark.parametrize(
    ("target", "gpu", "runs"),
    [
        ("sm_86", "8.9", True),  # RTX 40 on Ampere code
        ("sm_60", "6.1", True),  # GTX 10
        ("sm_120", "12.1", True),  # GB10
        ("sm_100", "10.3", True),  # B300
        ("sm_90", "12.0", False),
        ("sm_100", "12.0", False),
        ("sm_100", "11.0", False),
        ("sm_86", "8.0", False),  # never downwards
        ("sm_80", "8.7", False),  # Orin stands apart from the rest
        ("sm_87", "8.9", False),
        ("sm_87", "8.7", True),
        ("sm_72", "7.5", False),
        ("sm_110", "11.0", True),
        ("sm_90a", "9.0", True),
        ("sm_100a", "10.3", False),  # a: that chip only
        ("sm_100f", "10.3", True),  # f: the family
        ("sm_103f", "10.0", False),
    ],
)
def test_cubins(target: str, gpu: str, runs: bool) -> None:
    assert cubin_runs(Target.parse(target), Capability.parse(gpu), TEGRA) is runs


@pytest.mark.parametrize(
    ("target", "gpu", "runs"),
    [
        ("compute_37", "12.0", True),
        ("compute_90", "8.9", False),
        ("compute_90a", "9.0", True),
        ("compute_90a", "10.0", False),
        ("compute_100f", "10.3", True),
        ("compute_100f", "12.0", False),
    ],
)
def test_ptx(target: str, gpu: str, runs: bool) -> None:
    assert ptx_runs(Target.parse(target), Capability.parse(gpu)) is runs


capabilities = st.builds(Capability, st.integers(2, 13), st.integers(0, 9))


@given(capabilities, capabilities)
def test_a_plain_cubin_never_crosses_a_major_nor_goes_down(code: Capability, gpu: Capability) -> None:
    if cubin_runs(Target(kind="sm", capability=code), gpu, TEGRA):
        assert code.major == gpu.major
        assert code <= gpu


@given(capabilities)
def test_every_gpu_runs_code_made_for_it(gpu: Capability) -> None:
    assert cubin_runs(Target(kind="sm", capability=gpu), gpu, TEGRA)
    assert ptx_runs(Target(kind="compute", capability=gpu), gpu)
