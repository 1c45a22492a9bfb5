"""Detection over whole machines built from folders: which source answers, what is compared, what is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.errors import InputError, OutsideError
from envsolve.machine import probe_nvml
from envsolve.machine.detect import detect
from envsolve.machine.machine import Libc, Machine
from envsolve.machine.probe import Probe, run_command
from fakes.machine_world import FakeNvml, World, card

SMI = Path(__file__).parents[2] / "fixtures" / "smi"
PROC = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  {}  Wed Sep 23 01:13:39 UTC 2020\n"
PCI_IDS = """# a comment
1002  AMD
	2684  Another device
10de  NVIDIA Corporation
	1180  GK104
	2684  AD102 [GeForce RTX 4090]
		1043 88e2  A board
"""
MODEL = "Model: \t\t NVIDIA GeForce RTX 4090\nIRQ:   \t\t 41\nGPU UUID: \t GPU-????????-????-????-????-????????????\n"


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A Linux server with a PCI bus that holds no GPU."""
    return World(tmp_path).card("8086", "1237", address="0000:00:00.0", kind="0x060000")


def codes(machine: Machine) -> list[str]:
    return [problem.code for problem in machine.problems]


def libcuda(name: str, cc: tuple[int, int], cuda: int = 13000) -> str:
    devices = [{"name": name, "capability": list(cc), "memory": 8 << 30}]
    return json.dumps({"library": "libcuda.so.1", "cuda": cuda, "status": 0, "devices": devices})


def test_a_server_without_gpu_is_told_at_once_without_running_programs(world: World) -> None:
    machine = detect(world.probe())
    assert (machine.vendor, machine.gpus, machine.problems) == ("none", (), ())
    assert (machine.os, machine.arch, machine.libc) == (
        "linux",
        "x86_64",
        Libc(name="glibc", version=Dotted.parse("2.35")),
    )
    assert world.asked == []


def test_nvml_tells_everything_and_is_believed(world: World) -> None:
    world.nvml = FakeNvml(
        [card("NVIDIA H200", (9, 0), mig=(1, 1)), card("NVIDIA H200", (9, 0), 2, mig=(0, 0))], cuda=12080
    )
    machine = detect(world.probe())
    assert [(g.name, g.compute_capability, g.mig, g.index) for g in machine.gpus] == [
        ("NVIDIA H200", Capability(9, 0), True, 0),
        ("NVIDIA H200", Capability(9, 0), False, 1),
    ]
    assert (str(machine.driver), str(machine.cuda_max), machine.vendor) == ("580.65.06", "12.8", "nvidia")
    assert {f.source for f in machine.findings if f.field == "driver"} == {"nvml"}
    assert not world.nvml.running
    assert world.asked == []


def test_an_old_driver_that_does_not_know_capabilities_leaves_them_unknown(world: World) -> None:
    world.nvml = FakeNvml([{"name": b"GeForce GTX 680"}], driver="331.62", cuda=0)
    machine = detect(world.probe())
    gpu = machine.gpus[0]
    assert (gpu.name, gpu.compute_capability, gpu.uuid, gpu.memory_bytes) == ("GeForce GTX 680", None, None, None)
    assert machine.cuda_max is None


def test_a_lost_card_is_counted_and_named_as_a_problem(world: World) -> None:
    world.nvml = FakeNvml([card("NVIDIA A40", (8, 6)), {"lost": True}])
    machine = detect(world.probe())
    assert [g.name for g in machine.gpus] == ["NVIDIA A40", None]
    assert codes(machine) == ["gpu-lost"]


def test_a_container_with_the_library_but_without_nvidia_smi(world: World) -> None:
    world.file("/.dockerenv").file("/dev/nvidiactl").says("libcuda_child", libcuda("NVIDIA L4", (8, 9), 12040))
    machine = detect(world.probe())
    assert (machine.gpus[0].name, str(machine.cuda_max), machine.driver) == ("NVIDIA L4", "12.4", None)
    assert codes(machine) == []


def test_nvidia_smi_is_asked_when_no_library_answers(world: World) -> None:
    world.file("/dev/nvidiactl").says("libcuda_child", "", status=-11, err="Segmentation fault")
    world.says("--query-gpu", (SMI / "52_r580_h200_csv.txt").read_text())
    world.says("nvidia-smi", (SMI / "50_r580_h200_table.txt").read_text())
    machine = detect(world.probe())
    assert (machine.gpus[0].name, machine.gpus[0].compute_capability) == ("NVIDIA H200", Capability(9, 0))
    assert str(machine.cuda_max) == "13.0"
    assert [p.text for p in machine.problems] == ["libcuda crashed or gave no answer: Segmentation fault"]


def test_an_nvidia_smi_that_does_not_know_compute_cap_is_asked_again_without(world: World) -> None:
    world.file("/dev/nvidiactl").says("libcuda_child", json.dumps({"library": None}))
    world.says("compute_cap", 'Field "compute_cap" is not a valid field to query.\n', status=2)
    world.says(
        "--query-gpu",
        "index, name, uuid, driver_version, memory.total [MiB]\n0, Tesla K80, N/A, 470.256.02, 11441 MiB\n",
    )
    world.says("nvidia-smi", "table of a kind that nobody knows")
    machine = detect(world.probe())
    assert (machine.gpus[0].name, machine.gpus[0].compute_capability) == ("Tesla K80", None)
    assert codes(machine) == []


def test_all_sources_are_compared_when_thorough(world: World) -> None:
    world.nvml = FakeNvml([card("NVIDIA H200", (9, 0))], driver="580.159.04")
    world.file("/proc/driver/nvidia/version", PROC.format("580.159.04")).says(
        "libcuda_child", libcuda("NVIDIA H200", (9, 0))
    )
    world.says("--query-gpu", (SMI / "52_r580_h200_csv.txt").read_text())
    world.says("nvidia-smi", (SMI / "50_r580_h200_table.txt").read_text())
    machine = detect(world.probe(), thorough=True)
    assert codes(machine) == []
    told = {f.source for f in machine.findings if f.field == "gpus[0].name"}
    assert told == {"nvml", "libcuda", "nvidia-smi csv", "nvidia-smi table"}


def test_sources_that_disagree_are_shown_not_hidden(world: World) -> None:
    world.nvml = FakeNvml([card("NVIDIA H200", (9, 0))], driver="580.159.04", cuda=13000)
    world.file("/proc/driver/nvidia/version", PROC.format("570.86.10")).says(
        "libcuda_child", libcuda("NVIDIA H100", (9, 0), 13010)
    )
    machine = detect(world.probe(), thorough=True)
    assert set(codes(machine)) == {"sources-disagree"}
    texts = "\n".join(p.text for p in machine.problems)
    assert "driver: 580.159.04 (nvml), 570.86.10 (/proc/driver/nvidia)" in texts
    assert "cuda_max: 13.0 (nvml), 13.1 (libcuda)" in texts
    assert "NVIDIA H200 (nvml) or NVIDIA H100 (libcuda)" in texts
    assert str(machine.driver) == "580.159.04"


def test_a_card_that_only_the_bus_knows_is_named_with_the_reason(world: World) -> None:
    world.card("10de", "2684", driver="nouveau")
    world.file(
        "/usr/share/misc/pci.ids",
        PCI_IDS,
    )
    machine = detect(world.probe())
    assert (machine.vendor, [g.name for g in machine.gpus], machine.driver) == ("nvidia", ["GeForce RTX 4090"], None)
    assert codes(machine) == ["no-driver"]
    assert "GeForce RTX 4090 (10de:2684), but the open nouveau driver" in machine.problems[0].text


def test_a_card_without_pci_ids_keeps_its_number_and_no_invented_name(world: World) -> None:
    machine = detect(world.card("10de", "2335", kind="0x030200").probe())
    assert [g.name for g in machine.gpus] == [None]
    assert "PCI device 10de:2335, but no driver has it" in machine.problems[0].text


def test_a_driver_that_is_not_loaded(world: World) -> None:
    world.nvml = FakeNvml(init=9)
    machine = detect(world.card("10de", "2684").probe())
    assert codes(machine) == ["driver-not-loaded", "no-driver"]
    assert len(machine.gpus) == 1


def test_libraries_and_kernel_module_of_two_versions(world: World) -> None:
    world.nvml = FakeNvml(init=18)
    world.card("10de", "2684", driver="nvidia").file("/proc/driver/nvidia/version", PROC.format("550.120"))
    world.file("/proc/driver/nvidia/gpus/0000:01:00.0/information", MODEL)
    world.says("nvidia-smi", "Failed to initialize NVML: Driver/library version mismatch\n", status=18)
    machine = detect(world.probe())
    assert "driver-library-mismatch" in codes(machine)
    assert (str(machine.driver), machine.gpus[0].name, machine.gpus[0].uuid) == (
        "550.120",
        "NVIDIA GeForce RTX 4090",
        None,
    )


def test_a_container_that_got_no_gpu_sees_the_hosts_bus(world: World) -> None:
    machine = detect(world.card("10de", "2684", driver="nvidia").file("/.dockerenv").probe())
    assert codes(machine) == ["gpu-hidden"]
    assert machine.vendor == "nvidia"


def test_fewer_cards_served_than_on_the_bus(world: World) -> None:
    world.nvml = FakeNvml([card("NVIDIA GeForce RTX 4090", (8, 9))])
    world.card("10de", "2684", driver="nvidia").card("10de", "1b06", driver="vfio-pci", address="0000:02:00.0")
    machine = detect(world.probe())
    assert codes(machine) == ["driver-ignores-gpu"]
    assert "PCI device 10de:1b06" in machine.problems[0].text


def test_wsl_and_a_linux_driver_that_hides_the_windows_one(world: World) -> None:
    world.nvml = FakeNvml([card("NVIDIA GeForce RTX 3060", (8, 6))], driver="546.80")
    world.file("/proc/version", "Linux version 5.15.146.1-microsoft-standard-WSL2").file("/dev/dxg")
    world.file("/usr/lib/wsl/lib/libcuda.so.1").file("/usr/lib/x86_64-linux-gnu/libcuda.so.550.54.14")
    machine = detect(world.probe())
    assert machine.wsl
    assert codes(machine) == ["wsl-stub"]
    assert "libcuda.so.550.54.14" in machine.problems[0].text


def test_wsl_without_a_gpu_device(world: World) -> None:
    machine = detect(world.file("/proc/version", "Linux version 4.4.0-19041-Microsoft").probe())
    assert machine.wsl
    assert codes(machine) == ["wsl-stub"]
    assert machine.vendor is None  # what Windows has can't be seen from here


def test_a_jetson_is_tegra_and_named_by_libcuda(tmp_path: Path) -> None:
    world = World(tmp_path, tags=("linux_aarch64", "manylinux_2_35_aarch64"))
    world.file("/etc/nv_tegra_release", "# R36 (release)").says("libcuda_child", libcuda("Orin", (8, 7), 12060))
    machine = detect(world.probe(processor="aarch64"))
    assert (machine.tegra, machine.arch, machine.gpus[0].name) == (True, "aarch64", "Orin")


def test_a_jetson_without_libraries_is_named_by_its_board(tmp_path: Path) -> None:
    world = World(tmp_path).file("/proc/device-tree/compatible", "nvidia,p3737\0nvidia,tegra234\0")
    world.file("/proc/device-tree/model", "NVIDIA Jetson AGX Orin Developer Kit\0")
    machine = detect(world.probe(processor="aarch64"))
    assert (machine.tegra, machine.gpus[0].name) == (True, "NVIDIA Jetson AGX Orin Developer Kit")


@pytest.mark.parametrize(
    ("version", "gfx"), [("110000", "gfx1100"), ("90402", "gfx942"), ("90010", "gfx90a"), ("120001", "gfx1201")]
)
def test_amd_gpus_by_their_gfx_target(world: World, version: str, gfx: str) -> None:
    node = "/sys/class/kfd/kfd/topology/nodes"
    world.file(f"{node}/0/properties", "cpu_cores_count 16\nsimd_count 0\ngfx_target_version 0\n")
    world.file(f"{node}/1/properties", f"simd_count 192\ndrm_render_minor 128\ngfx_target_version {version}\n")
    world.file("/sys/class/drm/renderD128/device/product_name", "AMD Radeon RX\n")
    machine = detect(world.probe())
    assert machine.vendor == "amd"
    assert [(g.name, g.gfx) for g in machine.gpus] == [("AMD Radeon RX", gfx)]


def test_an_amd_gpu_beside_nvidia_does_not_count(world: World) -> None:
    world.nvml = FakeNvml([card("NVIDIA GeForce RTX 4090", (8, 9))])
    world.file("/sys/class/kfd/kfd/topology/nodes/1/properties", "simd_count 4\ngfx_target_version 100306\n")
    machine = detect(world.probe())
    assert (machine.vendor, len(machine.gpus)) == ("nvidia", 1)


@pytest.mark.parametrize(
    ("address", "driver", "vendor"),
    [
        ("0000:00:02.0", "i915", "none"),
        ("0000:03:00.0", "i915", "intel"),
        ("0000:00:02.0", "xe", "intel"),
        ("0000:03:00.0", "vfio-pci", "none"),
    ],
)
def test_intel_counts_where_it_computes(world: World, address: str, driver: str, vendor: str) -> None:
    assert detect(world.card("8086", "56a0", address=address, driver=driver).probe()).vendor == vendor


def test_apple_silicon_and_a_translated_python(tmp_path: Path) -> None:
    world = World(tmp_path)
    native = detect(world.probe("darwin", "arm64"))
    assert (native.os, native.arch, native.vendor, native.libc) == ("macos", "arm64", "apple", None)
    world.says("sysctl", "1\n")
    translated = detect(world.probe("darwin", "x86_64"))
    assert (translated.arch, codes(translated)) == ("arm64", ["python-translated"])


def test_windows_paths_of_nvidia_smi(tmp_path: Path) -> None:
    world = World(tmp_path, environ={"SystemRoot": r"D:\Win"})
    world.says(r"D:\Win\System32\nvidia-smi.exe", (SMI / "05_r581_windows_wddm_5070ti.txt").read_text())
    machine = detect(world.probe("win32", "AMD64"))
    assert (machine.os, machine.arch, machine.gpus[0].name) == ("windows", "x86_64", "NVIDIA GeForce RTX 5070 Ti")
    assert str(machine.driver) == "581.57"


def test_windows_adapters_where_nothing_of_nvidia_answers(tmp_path: Path) -> None:
    world = World(tmp_path).says(
        "Win32_VideoController", "Intel(R) UHD Graphics|31.0.101.2125\r\nNVIDIA GeForce RTX 3060|31.0.15.4617\r\n"
    )
    machine = detect(world.probe("win32", "AMD64"))
    assert (machine.vendor, machine.gpus[0].name, str(machine.driver)) == (
        "nvidia",
        "NVIDIA GeForce RTX 3060",
        "546.17",
    )
    assert codes(machine) == ["no-driver"]


@pytest.mark.parametrize(
    ("adapters", "vendor"),
    [
        ("AMD Radeon RX 7900 XTX|32.0.1", "amd"),
        ("Intel(R) Arc(TM) A770 Graphics|1", "intel"),
        ("Intel(R) UHD Graphics|1", "none"),
        ("", "none"),
    ],
)
def test_windows_adapters_of_others(tmp_path: Path, adapters: str, vendor: str) -> None:
    machine = detect(World(tmp_path).says("Win32_VideoController", adapters).probe("win32", "AMD64"))
    assert machine.vendor == vendor


def test_windows_on_arm_with_a_translated_python(tmp_path: Path) -> None:
    machine = detect(World(tmp_path, environ={"PROCESSOR_ARCHITEW6432": "ARM64"}).probe("win32", "AMD64"))
    assert (machine.arch, codes(machine)) == ("arm64", ["python-translated"])


def test_musl_is_told_from_glibc(tmp_path: Path) -> None:
    machine = detect(World(tmp_path, tags=("linux_x86_64", "musllinux_1_2_x86_64")).probe())
    assert machine.libc == Libc(name="musl", version=Dotted.parse("1.2"))


def test_a_failing_driver_without_a_bus_is_not_taken_for_no_gpu(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.nvml = FakeNvml(init=999)
    machine = detect(world.probe())
    assert (machine.vendor, codes(machine)) == (None, ["unreadable"])


def test_an_nvml_that_hangs_is_left_behind(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    release = threading.Event()
    world.nvml = FakeNvml()
    world.nvml.nvmlInit = release.wait
    monkeypatch.setattr(probe_nvml, "SECONDS", 0.01)
    machine = detect(world.probe())
    release.set()
    assert codes(machine) == ["unreadable"]
    assert "no answer" in machine.problems[0].text


def test_systems_without_wheels_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OutsideError, match="freebsd"):
        detect(World(tmp_path).probe("freebsd14", "amd64"))
    with pytest.raises(OutsideError, match="riscv64"):
        detect(World(tmp_path).probe("linux", "riscv64"))


def test_overrides_outrank_what_is_there(world: World) -> None:
    world.nvml = FakeNvml([card("NVIDIA H200", (9, 0))])
    world.environ = {"ENVSOLVE_DRIVER": "550.54.14", "ENVSOLVE_GPUS": "2x RTX 3090 + GTX 1080 Ti"}
    machine = detect(world.probe())
    assert [g.name for g in machine.gpus] == ["RTX 3090", "RTX 3090", "GTX 1080 Ti"]
    assert (str(machine.driver), machine.vendor, machine.problems) == ("550.54.14", "nvidia", ())
    assert {f.source for f in machine.findings if f.field == "driver"} == {"override"}


def test_one_override_leaves_the_rest_to_the_machine(world: World) -> None:
    world.nvml = FakeNvml([card("NVIDIA H200", (9, 0))])
    world.environ = {"ENVSOLVE_CUDA": "12.4"}
    machine = detect(world.probe())
    assert (machine.gpus[0].name, str(machine.cuda_max), str(machine.driver)) == ("NVIDIA H200", "12.4", "580.65.06")
    assert machine.problems == ()


def test_no_gpu_can_be_stated(world: World) -> None:
    world.nvml = FakeNvml([card("NVIDIA H200", (9, 0))])
    world.environ = {"ENVSOLVE_GPUS": "none"}
    assert (detect(world.probe()).vendor, detect(world.probe()).gpus) == ("none", ())


@pytest.mark.parametrize("name", ["ENVSOLVE_GPUS", "ENVSOLVE_DRIVER", "ENVSOLVE_CUDA"])
def test_a_bad_override_is_named(world: World, name: str) -> None:
    world.environ = {name: "0x ?"}
    with pytest.raises(InputError, match=name):
        detect(world.probe())


def test_a_mask_that_hides_gpus_is_told(world: World) -> None:
    world.nvml = FakeNvml([card("NVIDIA A40", (8, 6)), card("NVIDIA A40", (8, 6), 2)])
    world.environ = {"CUDA_VISIBLE_DEVICES": "GPU-00000000-0000-0000-0000-000000000002"}
    assert "hides GPU 0" in detect(world.probe()).problems[0].text
    world.environ = {"CUDA_VISIBLE_DEVICES": ""}
    assert "hides every GPU" in detect(world.probe()).problems[0].text
    world.environ = {"CUDA_VISIBLE_DEVICES": "1,0"}
    assert detect(world.probe()).problems == ()


def test_pythons_of_the_machine(world: World) -> None:
    for folder in (
        ".pyenv/versions/3.9.18",
        ".pyenv/versions/3.10.4",
        ".pyenv/versions/mine",
        ".local/share/uv/python/cpython-3.14.2-linux-x86_64-gnu",
    ):
        world.file(f"/home/me/{folder}/bin/python")
    world.file("/opt/bin/python3.8").file("/home/me/.pyenv/shims/python3.7").file("/opt/bin/python3.13-config")
    world.environ = {"HOME": "/home/me", "PATH": "/opt/bin:/home/me/.pyenv/shims"}
    assert detect(world.probe()).pythons[1:] == ("3.14", "3.10", "3.9", "3.8")


def test_the_real_machine_is_looked_at_without_raising() -> None:
    machine = detect()
    assert machine.vendor is not None or machine.problems
    assert machine.pythons


def test_a_real_child_that_finds_no_libcuda() -> None:
    import sys

    child = Path(probe_nvml.__file__).with_name("libcuda_child.py")
    ran = run_command([sys.executable, "-I", "-S", str(child), "libno-such-library.so.1"], 30.0)
    assert json.loads(ran.out) == {"library": None}


def test_commands_that_are_missing_or_slow_have_no_status(tmp_path: Path) -> None:
    import sys

    assert run_command([str(tmp_path / "missing")], 5.0).status is None
    assert run_command([sys.executable, "-c", "import time; time.sleep(30)"], 0.05).status is None
    assert Probe(root=tmp_path).read("/not/there") is None
