"""The probes run in old interpreters, on their own; their references are right."""

from __future__ import annotations

import ast
import importlib
import itertools
import math
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from envsolve.verify import probes, steps
from envsolve.verify.probes import child, companions, survey
from envsolve.verify.probes.protocol import Context

FILES = sorted(Path(probes.__file__).parent.glob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_probes_are_python_36(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"), feature_version=(3, 6))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.NamedExpr)]


# Python 3.6 has these; torch and its family come with the environment and are imported by name when needed.
_ALLOWED = {
    "base64", "csv", "ctypes", "hashlib", "importlib", "json", "math", "os", "pathlib", "platform", "random", "re",
    "shutil", "socket", "statistics", "subprocess", "sys", "tempfile", "time", "typing",
}  # fmt: skip


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_probes_import_nothing_but_old_standard_modules_and_each_other(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert {alias.name.split(".")[0] for alias in node.names} <= _ALLOWED
        elif isinstance(node, ast.ImportFrom) and not node.level:
            assert str(node.module).split(".")[0] in _ALLOWED


def test_every_step_has_its_probe() -> None:
    found = [step for step in vars(steps).values() if isinstance(step, steps.Step)]
    for step in (*found, *steps.compute_steps(["torchvision", "torchaudio"])):
        module, function = step.call.split(":")
        assert callable(getattr(importlib.import_module(f"envsolve.verify.probes.{module}"), function))


def test_companions_are_checked_where_they_are_promised() -> None:
    alone = [step.name for step in steps.compute_steps(["torch"])]
    assert not [name for name in alone if "torchvision" in name or "torchaudio" in name]
    assert len(steps.compute_steps(["torchvision", "torchaudio"])) == len(alone) + 5


def test_overlaps_by_hand() -> None:
    assert companions.overlap([0, 0, 2, 2], [1, 0, 3, 2]) == pytest.approx(1 / 3)
    assert companions.overlap([0, 0, 1, 1], [5, 5, 6, 6]) == 0
    assert companions.plain_nms([[0, 0, 2, 2], [0, 0, 2, 2], [5, 5, 6, 6]], [0.1, 0.9, 0.5], 0.5) == [1, 2]


def test_random_boxes_stay_clear_of_the_threshold() -> None:
    boxes, scores = companions.random_boxes(80)
    assert len(set(scores)) == 80
    overlaps = [companions.overlap(a, b) for a, b in itertools.combinations(boxes, 2)]
    assert all(o == 0.5 or abs(o - 0.5) > 1e-5 for o in overlaps)
    assert any(o > 0.5 for o in overlaps)


def test_the_transducer_recursion_equals_the_sum_over_all_paths() -> None:
    frames, labels, words = 4, 2, 3
    scores = [[_log_probabilities(words) for _ in range(labels + 1)] for _ in range(frames)]
    targets = [1, 2]
    total = 0.0
    for when in itertools.combinations_with_replacement(range(frames), labels):  # the frame in which each label is said
        steps_of_path = [scores[t][u][targets[u]] for u, t in enumerate(when)]
        steps_of_path += [scores[t][sum(w <= t for w in when)][0] for t in range(frames)]
        total += math.exp(sum(steps_of_path))
    assert companions.transducer(scores, targets) == pytest.approx(-math.log(total))


def _log_probabilities(words: int) -> Sequence[float]:
    weights = [random.uniform(0.1, 1) for _ in range(words)]
    return [math.log(w / sum(weights)) for w in weights]


def test_a_survey_of_this_very_interpreter() -> None:
    found = survey.survey(Context(None, "cpu", {}))
    names = {dist["name"] for dist in found["dists"]}
    assert {"pytest", "packaging"} <= names
    assert found["markers"]["python_version"] == ".".join(found["python"].split(".")[:2])
    packaging = next(dist for dist in found["dists"] if dist["name"] == "pytest")
    assert any(need.startswith("pluggy") for need in packaging["requires"])


@pytest.mark.parametrize(
    ("text", "cuda"),
    [
        ("cuda: Optional[str] = '13.0'\n", "13.0"),
        ("__version__ = '1.7.1'\ncuda = '11.0'\nhip = None\n", "11.0"),
        ("cuda = None\n", ""),
        ("from typing import Optional\n__all__ = ['cuda']\n__version__ = '2.13'\ncuda: Optional[str] = None\n", ""),
    ],
)  # fmt: skip
def test_what_version_py_states(tmp_path: Path, text: str, cuda: str) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "version.py").write_text(text)
    found = survey.torch_build([{"name": "torch", "info": str(tmp_path / "torch-1.dist-info")}])
    assert (found["cuda"], found["found"]) == (cuda, True)


def test_files_are_compared_with_record_and_the_metadata_is_not(tmp_path: Path) -> None:
    info = tmp_path / "torch-1.12.1.dist-info"
    for folder in (info, tmp_path / "torch" / "lib"):
        folder.mkdir(parents=True)
    (info / "METADATA").write_text("Version: 1.12.1\n")
    (tmp_path / "torch" / "lib" / "libtorch.so").write_text("cut short")
    (info / "RECORD").write_text(
        "torch-1.12.1.dist-info/METADATA,sha256=x,23\ntorch/lib/libtorch.so,sha256=x,40000\n"
        "torch/gone.py,sha256=x,3\n../../../bin/torchrun,sha256=x,200\ntorch/__pycache__/x.pyc,,\n"
    )
    found = survey.check_files({"name": "torch", "version": "1.12.1", "info": str(info)})
    wrong = ["torch/lib/libtorch.so: 9 bytes, RECORD says 40000", "torch/gone.py: missing"]
    assert (found["checked"], found["wrong"]) == (2, wrong)


def test_of_other_packages_the_libraries_alone_are_compared(tmp_path: Path) -> None:
    info = tmp_path / "nvidia_cudnn_cu13-9.19.dist-info"
    info.mkdir()
    (tmp_path / "nvidia" / "cudnn" / "lib").mkdir(parents=True)
    (tmp_path / "nvidia" / "__init__.py").write_text("another package's")
    (tmp_path / "nvidia" / "cudnn" / "lib" / "libcudnn.so.9").write_text("whole")
    (info / "RECORD").write_text(
        "nvidia/__init__.py,sha256=x,0\nnvidia/cudnn/lib/libcudnn.so.9,sha256=x,5\n"
        "nvidia/cudnn/lib/libcudnn_ops.so.9,sha256=x,7\nnvidia/cudnn/include/cudnn.h,sha256=x,4\n"
    )
    found = survey.check_files({"name": "nvidia-cudnn-cu13", "version": "9.19", "info": str(info)})
    assert (found["checked"], found["wrong"]) == (2, ["nvidia/cudnn/lib/libcudnn_ops.so.9: missing"])
    assert survey.LIBRARIES.match("nvidia-cudnn-cu13") and not survey.LIBRARIES.match("six")


def test_an_error_is_told_in_one_line_with_its_cause() -> None:
    try:
        try:
            raise OSError("libc10_cuda.so: cannot open shared object file")
        except OSError as cause:
            raise RuntimeError("can't load\nException raised from x at y.cpp:1\nframe #0: z") from cause
    except RuntimeError as error:
        told = child.describe(error)
    assert told == "RuntimeError: can't load, from OSError: libc10_cuda.so: cannot open shared object file"
