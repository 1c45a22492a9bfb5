"""A live environment: what its files tell, and what the doctor makes of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from packaging.markers import default_environment

from envsolve.capability import Capability
from envsolve.doctor.diagnose import diagnose
from envsolve.doctor.facts import load_facts
from envsolve.doctor.finding import Finding
from envsolve.doctor.look import Seen, evidence_of
from envsolve.doctor.look_base import Base
from envsolve.doctor.look_changes import later_install
from envsolve.doctor.look_child import Trial
from envsolve.doctor.look_files import dists, version_file
from envsolve.doctor.look_held import own_sites
from envsolve.doctor.look_place import find_place
from envsolve.doctor.look_whole import damage
from envsolve.dotted import Dotted
from envsolve.errors import InputError
from envsolve.machine.machine import Gpu, Machine, Problem
from envsolve.record import replace
from envsolve.rulebook.load import load

RULEBOOK, FACTS = load(), load_facts()
HOUR = 3600.0


def put(
    site: Path,
    name: str,
    version: str,
    *,
    at: float = 0.0,
    asked: bool = False,
    label: str = "",
    needs: tuple[str, ...] = (),
) -> None:
    """An installed distribution, as pip leaves it; `label` goes into the package's own version file."""
    folder = site / f"{name}-{version}.dist-info"
    folder.mkdir(parents=True)
    requires = "".join(f"Requires-Dist: {need}\n" for need in needs)
    (folder / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}\nRequires-Dist: not-a-header\n",
        encoding="utf-8",
    )
    (folder / "INSTALLER").write_text("pip\n", encoding="utf-8")
    (folder / "RECORD").write_text("", encoding="utf-8")
    if asked:
        (folder / "REQUESTED").touch()
    os.utime(folder / "RECORD", (at, at))
    package = site / name.replace("-", "_")
    package.mkdir(exist_ok=True)
    shown = f"{version}+{label}" if label else version
    cuda = f"'{label[2:-1]}.{label[-1]}'" if label.startswith("cu") else "None"
    (package / "version.py").write_text(f"__version__ = '{shown}'\ncuda: str = {cuda}\nhip = None\n", encoding="utf-8")
    (package / "__init__.py").touch()


def machine(**more: object) -> Machine:
    rtx = Gpu(name="NVIDIA GeForce RTX 3080", compute_capability=Capability(8, 6))
    known = {"os": "linux", "arch": "x86_64", "driver": Dotted.parse("550.54.14"), "gpus": (rtx,), "vendor": "nvidia"}
    return Machine(**{**known, **more})  # type: ignore[arg-type]


def seen(site: Path, *, torch: Path | None = None, trial: Trial | None = None) -> Seen:
    asked = {"python": "3.11", "bits": 64, "path": [str(site)], "prefix": str(site)}
    asked["torch"] = str((torch or site) / "torch" / "__init__.py")
    return Seen(asked=asked, dists=dists([site]), trial=trial or Trial())


def find(what: Seen, host: Machine) -> Finding:
    return diagnose(evidence_of(what, host, RULEBOOK, container=False), RULEBOOK, FACTS)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return tmp_path / "env" / "lib" / "python3.11" / "site-packages"


def test_the_version_file_has_the_label_that_metadata_lacks(site: Path) -> None:
    put(site, "torch", "2.6.0", label="cu124")
    found = version_file(site / "torch")
    assert found is not None
    assert (found.version, found.cuda, found.hip) == ("2.6.0+cu124", "12.4", "")


def test_a_later_install_is_seen_by_the_times(site: Path) -> None:
    put(site, "torchvision", "0.20.1+cu121", at=HOUR)
    put(site, "torch", "2.6.0", at=3 * HOUR)
    put(site, "whisperx", "3.3.2", at=3 * HOUR, asked=True)
    changes, commands = later_install(dists([site]), RULEBOOK)
    assert [(c.before, c.after) for c in changes] == [("2.5.1+cu121", "2.6.0")]
    assert commands[0].text == "pip install whisperx"


def test_packages_of_one_run_show_no_swap(site: Path) -> None:
    put(site, "torchvision", "0.20.1+cu121", at=HOUR)
    put(site, "torch", "2.6.0", at=HOUR + 5)
    assert later_install(dists([site]), RULEBOOK) == ((), ())


def test_the_replaced_build_is_named_with_the_install_that_did_it(site: Path) -> None:
    put(site, "torchvision", "0.20.1+cu121", at=HOUR)
    put(site, "torch", "2.6.0", at=3 * HOUR, label="cpu")
    put(site, "whisperx", "3.3.2", at=3 * HOUR, asked=True)
    trial = Trial(said={"version": "2.6.0+cpu", "cuda": None, "available": False, "count": 0})
    finding = find(seen(site, trial=trial), machine())
    assert finding.code == "build-replaced"
    assert "pip install whisperx" in finding.headline


def test_an_install_that_nobody_marked_is_told_without_a_command(site: Path) -> None:
    put(site, "torchvision", "0.20.1+cu121", at=HOUR)
    put(site, "torch", "2.6.0", at=3 * HOUR, label="cpu")
    trial = Trial(said={"version": "2.6.0+cpu", "cuda": None, "available": False, "count": 0})
    finding = find(seen(site, trial=trial), machine())
    assert finding.headline == "torch 2.5.1+cu121 was replaced by 2.6.0+cpu by a later install"
    assert finding.fixes[0].commands[0] == (
        "envsolve install --name NAME torch==2.5.1 torchvision==0.20.1 --variant cu124"
    )


def test_a_set_that_computes_is_healthy(site: Path) -> None:
    put(site, "torch", "2.6.0+cu124", label="")
    said = {"version": "2.6.0+cu124", "cuda": "12.4", "available": True, "count": 1, "computed": True}
    assert find(seen(site, trial=Trial(said=said)), machine()).code == "ok"


NEEDS = (
    "nvidia-cudnn-cu12==9.1.0.70; platform_system == 'Linux' and platform_machine == 'x86_64'",
    "sympy>=1.13; python_version >= '3.9'", "old-python; python_version < '3.9'", "opt-einsum; extra == 'opt-einsum'",
)  # fmt: skip


@pytest.mark.parametrize(
    ("installed", "code", "headline", "command"),
    [
        ({"nvidia-cudnn-cu12": "9.1.0.70", "sympy": "1.14"}, "ok", "", ""),
        (
            {"sympy": "1.14"},
            "damaged-install",
            "torch is there without what its metadata requires: nvidia-cudnn-cu12==9.1.0.70",
            "pip install nvidia-cudnn-cu12==9.1.0.70",
        ),
        (
            {"nvidia_cudnn.cu12": "9.15.0.50", "sympy": "1.14"},
            "companion-mismatch",
            "torch requires nvidia-cudnn-cu12==9.1.0.70, nvidia-cudnn-cu12 9.15.0.50 is installed",
            "pip install nvidia-cudnn-cu12==9.1.0.70",
        ),
    ],
)
def test_what_torch_requires_is_looked_for(
    site: Path, installed: dict[str, str], code: str, headline: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(site, "torch", "2.6.0+cu124", needs=NEEDS)
    for name, version in installed.items():
        put(site, name, version)
    linux = {"platform_system": "Linux", "platform_machine": "x86_64"}
    monkeypatch.setattr("envsolve.doctor.look_needs.default_environment", lambda: {**default_environment(), **linux})
    said = {"version": "2.6.0+cu124", "cuda": "12.4", "available": True, "count": 1, "computed": True}
    found = find(seen(site, trial=Trial(said=said)), machine())
    assert found.code == code
    if code != "ok":
        assert found.headline == headline and found.fixes[0].commands == (command,)
        assert found.certainty == "medium" and found.fine


def test_a_library_that_is_gone_is_missed_though_torch_computes_with_another(site: Path) -> None:
    put(site, "torch", "2.6.0+cu124", needs=NEEDS[:1])
    put(site, "nvidia-cudnn-cu12", "9.1.0.70")
    record = site / "nvidia-cudnn-cu12-9.1.0.70.dist-info" / "RECORD"
    record.write_text("nvidia/cudnn/lib/libcudnn.so.9,sha256=x,5\nnvidia/cudnn/include/cudnn.h,sha256=x,4\n")
    said = {"version": "2.6.0+cu124", "cuda": "12.4", "available": True, "count": 1, "computed": True}
    words = (
        "RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (9, 1, 0) but found runtime "
        "version (8, 9, 7). PyTorch already comes bundled with cuDNN.\n"
    )
    tried = Trial(said=said, text=words)
    what = seen(site, trial=tried)
    lost = damage(what.dists, tried, sites=[site], python="3.11")
    found = find(replace(what, damage=lost), machine())
    gone = "nvidia-cudnn-cu12 9.1.0.70 is not whole: nvidia/cudnn/lib/libcudnn.so.9 is missing"
    assert (found.code, found.headline) == ("damaged-install", gone)
    whole = find(what, machine())
    assert whole.code == "variant-mismatch" and "another CUDA library" in whole.headline


def test_what_conda_installed_is_resolved_by_its_own_metadata(site: Path) -> None:
    put(site, "torch", "2.6.0+cu124", needs=NEEDS)
    (site / "torch-2.6.0+cu124.dist-info" / "INSTALLER").write_text("conda\n", encoding="utf-8")
    assert not [
        s for s in evidence_of(seen(site), machine(), RULEBOOK, container=False).symptoms if s.name == "unmet-need"
    ]


def test_no_kernels_without_running_anything(site: Path) -> None:
    put(site, "torch", "2.6.0+cu124")
    blackwell = Gpu(name="NVIDIA GeForce RTX 5090", compute_capability=Capability(12, 0))
    host = machine(gpus=(blackwell,), driver=Dotted.parse("570.86.16"))
    assert find(seen(site), host).code == "no-kernels"


def test_the_driver_of_this_machine_decides(site: Path) -> None:
    put(site, "torch", "2.11.0", label="cu130")
    assert find(seen(site), machine()).code == "driver-too-old"


def test_a_torch_from_the_user_site_is_found(site: Path, tmp_path: Path) -> None:
    put(site, "torch", "2.8.0", label="cu128")
    user = tmp_path / "home" / ".local" / "lib" / "python3.11" / "site-packages"
    put(user, "torch", "2.6.0", label="cu124")
    assert find(seen(site, torch=user), machine()).code == "shadowed-torch"


def test_the_user_site_comes_first_on_the_path_of_a_python_that_is_no_environment(tmp_path: Path) -> None:
    site = tmp_path / "env" / "lib" / "python3.11" / "site-packages"
    user = tmp_path / "home" / ".local" / "lib" / "python3.11" / "site-packages"
    put(site, "torch", "2.8.0", label="cu128")
    put(user, "torch", "2.8.0", label="cu128")
    asked = {"python": "3.11", "bits": 64, "path": [str(user), str(site)], "prefix": str(tmp_path / "env")}
    asked["torch"] = str(user / "torch" / "__init__.py")
    found = find(Seen(asked=asked, dists=dists([user, site]), trial=Trial()), machine(driver=Dotted.parse("570.86.16")))
    assert found.code == "shadowed-torch" and "the user site" in found.headline


def test_what_counts_as_the_environments_own(tmp_path: Path) -> None:
    own, user, system = (
        tmp_path / "env/lib/python3.11/site-packages",
        tmp_path / "u/site-packages",
        Path("/usr/lib/python3/dist-packages"),
    )
    asked = {"path": [str(user), str(own), str(system)], "prefix": str(tmp_path / "env"), "base_prefix": "/usr"}
    assert own_sites(Base(asked=asked), is_environment=True) == [own]
    plain = {**asked, "prefix": "/usr"}
    assert own_sites(Base(asked=plain), is_environment=False) == [user, own]


def test_a_traceback_of_the_import_is_read(site: Path) -> None:
    put(site, "torch", "2.4.1+cu124")
    put(site, "torchvision", "0.19.1+cu124")
    library = site / "flash_attn_2_cuda.so"
    text = f"Traceback (most recent call last):\nImportError: {library}: undefined symbol: _ZN3c105ErrorC2E\n"
    assert find(seen(site, trial=Trial(text=text)), machine()).code == "foreign-extension"


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        ("driver-not-loaded", "driver-not-reachable"),
        ("driver-library-mismatch", "driver-library-mismatch"),
        ("gpu-lost", "driver-not-reachable"),
    ],
)
def test_what_detection_says_of_the_driver(site: Path, problem: str, code: str) -> None:
    put(site, "torch", "2.6.0+cu124")
    host = machine(driver=None, problems=(Problem(code=problem, text="the driver does not answer"),))
    assert find(seen(site), host).code == code


def test_no_torch_at_all(site: Path) -> None:
    site.mkdir(parents=True)
    finding = find(Seen(asked={"python": "3.11"}, dists=(), trial=Trial()), machine())
    assert (finding.code, finding.missing[0].field) == ("unknown", "torch")


def make_environment(folder: Path) -> Path:
    interpreter = folder / "bin" / "python"
    interpreter.parent.mkdir(parents=True)
    interpreter.touch()
    return interpreter


def test_the_active_environment_comes_before_the_projects(tmp_path: Path) -> None:
    active, project = make_environment(tmp_path / "active"), make_environment(tmp_path / "p" / ".venv")
    nothing = {"name": None, "path": None, "python": None}
    place = find_place(**nothing, environ={"VIRTUAL_ENV": str(tmp_path / "active")}, here=tmp_path / "p")  # type: ignore[arg-type]
    assert (place.interpreter, place.chosen_by) == (active, "VIRTUAL_ENV")
    place = find_place(**nothing, environ={}, here=tmp_path / "p")  # type: ignore[arg-type]
    assert (place.interpreter, place.chosen_by) == (project, ".venv")


def test_no_environment_and_two_are_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none is active"):
        find_place(name=None, path=None, python=None, environ={}, here=tmp_path)
    with pytest.raises(InputError, match="give one of"):
        find_place(name="x", path=tmp_path, python=None, environ={}, here=tmp_path)


NO_DRIVER = "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU\n"
BLIND = {"version": "2.9.1+cu128", "cuda": "12.8", "available": False, "count": 0}


def blind(site: Path, words: str, *, container: bool) -> Finding:
    """A sound torch that sees no GPU where NVML sees one."""
    put(site, "torch", "2.9.1", label="cu128")
    what = seen(site, trial=Trial(said=BLIND, text=NO_DRIVER + words))
    host = machine(driver=Dotted.parse("570.86.10"))
    return diagnose(evidence_of(what, host, RULEBOOK, container=container), RULEBOOK, FACTS)


@pytest.mark.parametrize("container", [False, True])
def test_a_damaged_libcuda_is_named_with_its_folder(
    site: Path, container: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", "/usr/lib/x:/tmp/stray/")
    found = blind(site, "libcuda: /tmp/stray/libcuda.so.1: file too short\n", container=container)
    assert found.code == "driver-library-mismatch" and "/tmp/stray/libcuda.so.1 (file too short)" in found.headline
    (way,) = found.fixes
    assert "/tmp/stray out of LD_LIBRARY_PATH" in way.text and found.is_elsewhere
    assert way.commands == ("export LD_LIBRARY_PATH=/usr/lib/x",)


def test_a_damaged_libcuda_of_the_system_is_not_blamed_on_a_variable(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LD_LIBRARY_PATH", raising=False)
    path = "/usr/lib/x86_64-linux-gnu/libcuda.so.1"
    found = blind(site, f"libcuda: {path}: invalid ELF header\n", container=False)
    assert found.code == "driver-library-mismatch" and path in found.fixes[0].commands[0]
    assert "LD_LIBRARY_PATH" not in found.fixes[0].text


@pytest.mark.parametrize(
    ("container", "code", "way"),
    [
        (True, "gpu-not-passed-through", "NVIDIA_DRIVER_CAPABILITIES=compute,utility"),
        (False, "driver-not-reachable", "ldconfig -p | grep libcuda"),
    ],
)
def test_a_driver_without_its_cuda_part(site: Path, container: bool, code: str, way: str) -> None:
    found = blind(site, "libcuda.so.1 not found\n", container=container)
    assert found.code == code and "no libcuda" in found.headline
    assert any(way in command for fix in found.fixes for command in fix.commands)
