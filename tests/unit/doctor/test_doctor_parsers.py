"""The parsers of a pasted text, one at a time."""

from __future__ import annotations

import pytest
from reports_data import reports

from envsolve.capability import Target
from envsolve.doctor.facts import load_facts
from envsolve.doctor.report import read_report
from envsolve.doctor.report_blocks import blocks
from envsolve.doctor.report_changes import changes
from envsolve.doctor.report_commands import commands
from envsolve.doctor.report_environment import environment
from envsolve.doctor.report_frames import frames, module_of, site_of
from envsolve.doctor.report_packages import last_state, packages
from envsolve.doctor.report_plain import plain
from envsolve.doctor.report_python import answers
from envsolve.doctor.report_symptoms import TABLES, symptoms
from envsolve.doctor.symptom_table import Row
from envsolve.rulebook.load import load

RULEBOOK, FACTS = load(), load_facts()


@pytest.mark.parametrize(
    ("line", "kind", "command"),
    [
        ("$ nvidia-smi", "shell", "nvidia-smi"),
        ("(venv) user@host:~/x$ pip list", "shell", "pip list"),
        ("root@1a2b3c4d5e6f:/workspace# python -V", "shell", "python -V"),
        ("user@pc ~ % uname -r", "shell", "uname -r"),
        ("PS C:\\Users\\user\\wx> .\\.venv\\Scripts\\pip list", "shell", ".\\.venv\\Scripts\\pip list"),
        ("(venv) C:\\x> pip freeze", "shell", "pip freeze"),
        ("!pip install torch", "shell", "pip install torch"),
        ("RUN pip install torch", "shell", "pip install torch"),
        ("pip3 install --pre torch", "shell", "pip3 install --pre torch"),
        (">>> torch.__version__", "python", "torch.__version__"),
        ("In [3]: import torch", "python", "import torch"),
        ("print(torch.__version__)", "python", "print(torch.__version__)"),
    ],
)
def test_prompts_of_shells_and_python(line: str, kind: str, command: str) -> None:
    (block,) = blocks(line + "\nanswer")
    assert (block.kind, block.command, block.output) == (kind, command, ("answer",))


@pytest.mark.parametrize(
    "line", ["# R36 (release), REVISION: 4.0", "epoch 1  loss 0.4", "error: failed", "5 % of it", "a > b"]
)
def test_what_is_no_prompt(line: str) -> None:
    assert [block.kind for block in blocks(line)] == ["text"]


def test_source_that_a_traceback_quotes_is_no_prompt() -> None:
    text = '  File "t.py", line 4, in <module>\n    print(torch.ones(1).cuda())\nRuntimeError: x'
    assert [block.kind for block in blocks(text)] == ["text"]


def test_a_command_that_goes_on_in_the_next_line() -> None:
    (command,) = commands(blocks("$ pip install torch \\\n    --index-url https://x.example/whl/cu118\nDone"))
    assert command.requirements == ("torch",)
    assert command.index == ("https://x.example/whl/cu118",)
    assert command.output == "Done"


def test_options_and_requirements_of_a_command() -> None:
    (command,) = commands(
        blocks("$ sudo python3 -m pip install -U 'torch>=2' torchvision --extra-index-url=https://x.example -f links")
    )
    assert (command.tool, command.verb) == ("pip", "install")
    assert command.requirements == ("torch>=2", "torchvision")
    assert command.extra == ("https://x.example",)
    assert command.links == ("links",)
    assert "-U" in command.flags


def test_several_commands_in_a_line_and_a_quoted_semicolon() -> None:
    found = commands(blocks('$ cd x && pip list | grep torch; python -c "import torch; print(1)"'))
    assert [command.tool for command in found] == ["other", "pip", "other", "python"]


PIP = """\
  Attempting uninstall: torch
    Found existing installation: torch 2.1.2+cu118
    Uninstalling torch-2.1.2+cu118:
      Successfully uninstalled torch-2.1.2+cu118
Successfully installed nvidia-cublas-cu12-12.6.4.1 torch-2.2.0
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (PIP, [("nvidia-cublas-cu12", "", "12.6.4.1"), ("torch", "2.1.2+cu118", "2.2.0")]),
        (" - torch==2.7.0+cu128\n + torch==2.8.0\n", [("torch", "2.7.0+cu128", "2.8.0")]),
        ("  • Updating torch (2.0.1+cu118 -> 2.1.0)", [("torch", "2.0.1+cu118", "2.1.0")]),
        ("  - Installing torch (2.7.0+cpu)", [("torch", "", "2.7.0+cpu")]),
        (
            "  pytorch   pytorch::pytorch-2.0.1-py3.10_cuda11.~ --> conda-forge::pytorch-2.1.0-cpu_mkl_py310h00_100",
            [("pytorch", "2.0.1", "2.1.0")],
        ),
        (
            "  - pytorch  2.0.1  py3.10_cuda11.7_0  pytorch\n  + pytorch  2.1.0  cpu_py310h0_0  forge",
            [("pytorch", "2.0.1", "2.1.0")],
        ),
    ],
)
def test_what_installers_changed(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert [(c.name, c.before, c.after) for c in changes(text)] == expected


LIST = """\
$ pip list
Package        Version
-------------- -----------
numpy          1.26.4
torch          2.1.0+cu118
my-thing       0.1         /home/user/thing
$ echo done
something 3.2
"""


def test_a_list_of_packages_ends_with_its_output() -> None:
    state = last_state(packages(LIST, blocks(LIST), ()))
    assert {name: row.version for name, row in state.items()} == {
        "numpy": "1.26.4",
        "torch": "2.1.0+cu118",
        "my-thing": "0.1",
    }


def test_conda_rows_keep_build_and_channel() -> None:
    text = "$ conda list\npytorch   2.3.0   py3.10_cuda11.8_cudnn8.7.0_0    pytorch\n"
    row = last_state(packages(text, blocks(text), ()))["pytorch"]
    assert (row.build, row.channel) == ("py3.10_cuda11.8_cudnn8.7.0_0", "pytorch")


def test_pip_show_and_already_satisfied_tell_the_place() -> None:
    text = (
        "Name: torch\nVersion: 2.4.0+cu121\nLocation: /home/user/env/lib/python3.10/site-packages\n"
        "Requirement already satisfied: numpy in /usr/lib/python3/dist-packages (from torch) (1.21.5)\n"
    )
    state = last_state(packages(text, blocks(text), ()))
    assert state["torch"].location.endswith("site-packages")
    assert (state["numpy"].version, state["numpy"].location) == ("1.21.5", "/usr/lib/python3/dist-packages")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            '$ python -c "import torch; print(torch.__version__, torch.version.cuda, torch.cuda.is_available())"\n'
            "2.7.0+cpu None False",
            {"torch": "2.7.0+cpu", "cuda": "None", "available": "False"},
        ),
        (
            ">>> torch.__version__, torch.cuda.get_device_capability(0), torch.cuda.get_arch_list()\n"
            "('2.0.1+cu117', (5, 0), ['sm_37', 'compute_37'])",
            {"torch": "2.0.1+cu117", "capability": "(5, 0)", "targets": "['sm_37', 'compute_37']"},
        ),
        (
            '$ python -c "import torch; print(torch.__version__, torch.__file__)"\n'
            "2.6.0 /home/user/.local/lib/python3.12/site-packages/torch/__init__.py",
            {"torch": "2.6.0", "file": "/home/user/.local/lib/python3.12/site-packages/torch/__init__.py"},
        ),
        (
            '>>> print(f"torch {torch.__version__} on {torch.cuda.get_device_name()}")\ntorch 2.1.0 on Tesla T4',
            {"torch": "2.1.0", "gpu": "Tesla T4"},
        ),
        ('>>> print("torch:", torch.__version__)\ntorch: 2.1.0+cu118', {"torch": "2.1.0+cu118"}),
    ],
)
def test_a_printed_value_is_what_was_asked_for(text: str, facts: dict[str, str]) -> None:
    assert {answer.fact: answer.value for answer in answers(blocks(text))} == facts


def test_a_failed_print_answers_nothing() -> None:
    text = '$ python -c "import torchvision; print(torchvision.__version__)"\n  File "/x/python3.11/site-packages/a.py"'
    assert not answers(blocks(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$ echo $CUDA_VISIBLE_DEVICES\n-1", "-1"),
        ("$ env | grep CUDA\nCUDA_VISIBLE_DEVICES=", ""),
        ("$ export CUDA_VISIBLE_DEVICES=3", "3"),
        ("CUDA_VISIBLE_DEVICES=2 python main.py", "2"),
        ('os.environ["CUDA_VISIBLE_DEVICES"] = "1"', "1"),
        ("C:\\x> echo %CUDA_VISIBLE_DEVICES%\n0", "0"),
        (">>> os.environ.get('CUDA_VISIBLE_DEVICES')\n''", ""),
        ('$env:CUDA_VISIBLE_DEVICES="-1"', "-1"),
        ("$ echo $CUDA_VISIBLE_DEVICES\n\n$ ls", None),
        ("export CUDA_VISIBLE_DEVICES=1\nunset CUDA_VISIBLE_DEVICES", None),
    ],
)
def test_variables_as_people_show_them(text: str, value: str | None) -> None:
    assert environment(text, blocks(text)).get("CUDA_VISIBLE_DEVICES") == value


def test_files_of_a_traceback_and_their_modules() -> None:
    text = (
        'File "/home/u/v/lib/python3.10/site-packages/flash_attn/x.py", line 3\n'
        "ImportError: /home/u/v/lib/python3.10/site-packages/flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so: undef"
    )
    assert [module_of(frame.path) for frame in frames(text)] == ["flash_attn", "flash_attn_2_cuda"]
    assert site_of(frames(text)[0].path) == "/home/u/v/lib/python3.10/site-packages"


@pytest.mark.parametrize("row", [row for table in TABLES for row in table], ids=lambda row: row.name)
def test_looking_near_words_finds_what_a_full_search_finds(row: Row) -> None:
    text = "\n".join(report.text for report in reports()[::6])
    near = [match.span() for match in row.matches(text, text.lower())]
    assert near == [match.span() for match in row.pattern.finditer(text)]


def test_a_message_that_the_terminal_wrapped() -> None:
    text = "RuntimeError: CUDA error: no kernel image is\navailable for execution on the device"
    assert "no-kernel-image" in [s.name for s in symptoms(text)]


def test_what_logs_and_chats_put_before_a_line() -> None:
    assert plain("web  | a\nweb  | b\n```\nc") == "a\nb\n\nc"
    assert plain("> a\n> >>> torch\n> b") == "a\n>>> torch\nb"
    assert plain("2025-03-02T10:00:01.5Z $ pip list") == "$ pip list"


def test_the_arch_list_of_a_warning_counts() -> None:
    evidence = read_report("The current PyTorch install supports CUDA capabilities sm_70 sm_90a.", RULEBOOK, FACTS)
    assert evidence.torch.targets == (Target.parse("sm_70"), Target.parse("sm_90a"))


@pytest.mark.parametrize(
    ("text", "os", "arch", "python"),
    [
        ("C:\\Users\\user\\AppData\\Local\\Programs\\Python\\Python311\\python.exe", "windows", "x86_64", "3.11"),
        ("/home/user/miniconda3/envs/x/lib/python3.8/site-packages/torch", "linux", "x86_64", "3.8"),
        ("Downloading torch-2.0.0-cp310-cp310-manylinux2014_aarch64.whl on Ubuntu", "linux", "aarch64", "3.10"),
        ("MacBook Air M1, Python 3.12", "macos", "arm64", "3.12"),
        ("My colleague uses Linux.\nPS C:\\x> uv sync", "windows", "x86_64", None),
    ],
)
def test_words_about_the_machine(text: str, os: str, arch: str, python: str | None) -> None:
    machine = read_report(text, RULEBOOK, FACTS).machine
    assert (machine.os, machine.arch, machine.python) == (os, arch, python)


@pytest.mark.parametrize(
    ("text", "vendor", "names"),
    [
        ("a laptop with a RTX 3060 Ti", "nvidia", ["RTX 3060 Ti"]),
        ("The 4090 works on another machine; here is my 1080 Ti.", "nvidia", ["1080 Ti"]),
        ("Server without any NVIDIA card", "none", []),
        ("Please check that you have an NVIDIA GPU and installed a driver", None, []),
        ("An RX 7900 XTX in it", "amd", ["AMD Radeon RX 7900 XTX"]),
    ],
)
def test_gpus_that_sentences_name(text: str, vendor: str | None, names: list[str]) -> None:
    machine = read_report(text, RULEBOOK, FACTS).machine
    assert machine.vendor == vendor
    assert [gpu.name for gpu in machine.gpus] == names
