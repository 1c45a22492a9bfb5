"""Random machines and requests: the planner must say what the plain oracle says, and give no wrong advice."""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace

import pytest
from packaging.requirements import Requirement

from envsolve.capability import Capability
from envsolve.dotted import Dotted
from envsolve.machine.machine import Gpu, Libc, Machine
from envsolve.resolve.plan import NoPlan, Plan, Remedy
from envsolve.resolve.planner import plan
from envsolve.resolve.request import Request
from envsolve.rulebook.load import load
from fakes import plain_oracle as oracle
from fakes.plain_oracle import Case


def words(text: str) -> list[str]:
    return text.split()


RULES = load()
TORCHES = [str(version) for version in RULES.torch_versions]
VARIANTS = sorted({build.variant for build in RULES.builds})
COMMON = words("5.0 5.2 6.0 6.1 7.0 7.5 8.0 8.6 8.9 9.0 10.0 10.3 12.0 12.1 3.5 3.7 8.7 7.2")
EVERY = [str(c) for c in sorted({c for a in RULES.architectures for c in (a.first, a.last)})]
DRIVERS = words("""390.157 396.37 410.48 418.39 440.33.01 440.100 450.36.06 450.80.02 452.39 455.32 460.32.03 470.57.02
    470.256.02 472.12 474.14 510.47 515.65.01 520.61.05 522.06 525.60.13 525.53 525 527.41 528.33 530.30
    535.104.05 537.13 545.23 550.54.14 551.86 560.35.03 565.57 570.86.10 570.26 572.60 575.51.03 576.02 580
    580.65.06 580.95.05 581.57 590.44.01 595.79 595.45.04 610.47 615.00 620.70.06""")
CUDAS = words("8.0 9.2 10.1 10.2 11.0 11.1 11.4 11.6 11.8 12.0 12.1 12.2 12.4 12.6 12.8 12.9 13.0 13.1 13.2 13.5")
PYTHONS = words("3.6 3.7 3.8 3.9 3.10 3.11 3.12 3.13 3.14 3.15 3.13t 3.14t")


def one_case(chance: random.Random) -> Case:
    platform = chance.choices(["linux_x86_64", "windows_amd64", "linux_aarch64"], [6, 3, 2])[0]
    gpus = tuple(
        chance.choice(COMMON if chance.random() < 0.85 else EVERY) for _ in range(chance.choice([0, 1, 1, 1, 2, 3]))
    )
    known = chance.choice(["driver", "driver", "driver", "cuda", "both"])
    glibc = chance.choice(["2.35", "2.35", "2.28", "2.27", "2.17", "musl", None])
    return Case(
        platform=platform,
        python=chance.choice(PYTHONS if chance.random() < 0.6 else ["3.10", "3.11", "3.12"]),
        glibc=glibc if platform.startswith("linux") else None,
        driver=chance.choice(DRIVERS) if gpus and known != "cuda" else None,
        cuda=chance.choice(CUDAS) if gpus and known != "driver" else None,
        gpus=gpus,
        wsl=platform == "linux_x86_64" and chance.random() < 0.05,
        requirements=tuple(requirements(chance)),
        variant=chance.choice([*VARIANTS, "cpu", "cpu"]) if chance.random() < 0.15 else None,
    )


def requirements(chance: random.Random) -> Iterator[str]:
    torch, other = chance.choice(TORCHES), chance.choice(TORCHES)
    forms = [
        "torch", "torch", "torch", f"torch=={torch}", f"torch=={torch}", f"torch=={torch}+{chance.choice(VARIANTS)}",
        f"torch>={torch}", f"torch<{torch}", f"torch=={torch.rpartition('.')[0]}.*", f"torch~={torch}",
        f"torch!={torch},>={other}", f"torch=={chance.choice(['9', '2.99', '2.9.7'])}", f"torch>={torch},<{other}",
    ]  # fmt: skip
    yield chance.choice(forms)
    for name in ("torchvision", "torchaudio"):
        version = chance.choice(RULES.companion_versions(name))
        label = f"+{chance.choice(VARIANTS)}" if chance.random() < 0.2 else ""
        yield from chance.choice([[], [], [name], [name], [f"{name}=={version}{label}"]])
    if chance.random() < 0.1:
        yield chance.choice(["numpy", "numpy<2", "numpy>=2", "numpy==1.26.4", "numpy==2.*", "numpy>=1.26"])


def machine(case: Case) -> Machine:
    os, _, arch = case.platform.partition("_")
    version = None if case.glibc in (None, "musl") else Dotted.parse(str(case.glibc))
    return Machine(
        os=os,  # type: ignore[arg-type]
        arch="x86_64" if arch == "amd64" else arch,  # type: ignore[arg-type]
        python=case.python,
        libc=None if case.glibc is None else Libc(name="glibc" if version else "musl", version=version),
        driver=Dotted.parse(case.driver) if case.driver else None,
        cuda_max=Dotted.parse(case.cuda) if case.cuda else None,
        gpus=tuple(Gpu(name=f"card {i}", compute_capability=Capability.parse(g)) for i, g in enumerate(case.gpus)),
        wsl=case.wsl,
        vendor="nvidia" if case.gpus else "none",
    )


def answer(case: Case) -> Plan | NoPlan:
    asked = tuple(Requirement(text) for text in case.requirements)
    found = plan(machine(case), Request(requirements=asked, variant=case.variant, target="T"), RULES)
    assert isinstance(found, Plan | NoPlan)
    return found


def said_by(case: Case, command: str) -> Case:
    """The case that an `envsolve plan` line asks about."""
    words, asked = shlex.split(command)[2:], []
    options = {}
    while words:
        word = words.pop(0)
        if word.startswith("--"):
            options[word] = words.pop(0)
        else:
            asked.append(word)
    kept = [case.gpus[int(i)] for i in options["--gpus"].split(",")] if "--gpus" in options else case.gpus
    return replace(
        case,
        requirements=tuple(asked),
        variant=options.get("--variant"),
        python=options.get("--python", case.python),
        gpus=tuple(kept),
    )


def check(case: Case, *, remedies: bool) -> None:
    found, right = answer(case), oracle.solve(case)
    chosen = (found.build.torch, found.variant) if isinstance(found, Plan) else None
    assert chosen == right, case
    true = {(w.torch, w.variant): oracle.codes(w, case) for w in oracle.wheels(case.platform)}
    for row in found.refused:
        codes = {refusal.code for refusal in row.refusals} - {"pinned-away", "no-wheel"}
        assert codes <= true.get((row.torch, row.variant), codes), (case, row)
    if isinstance(found, NoPlan):
        assert found.guilty and found.refused, case
        if remedies:
            check_remedies(case, found)


def check_remedies(case: Case, found: NoPlan) -> None:
    branches = oracle.read("cuda/drivers.yaml")["branches"]
    for remedy in found.remedies:
        if "together with" in remedy.text:
            assert oracle.solve(with_all(case, remedy)), (case, remedy)
            continue
        for line in remedy.command.splitlines():
            if line.startswith("envsolve plan "):
                assert oracle.solve(said_by(case, line)), (case, remedy)
        if remedy.code in ("driver-update", "driver-downgrade"):
            branch = re.search(r"R(\d+)", remedy.text)
            assert branch and oracle.solve(replace(case, driver=None, cuda=branches[branch[1]]["cuda"])), (case, remedy)
        if remedy.code in ("newer-os", "container-image"):
            assert oracle.solve(replace(case, glibc="2.35")), (case, remedy)


def with_all(case: Case, remedy: Remedy) -> Case:
    """The case with every change that a remedy names; pins that it names are taken away altogether."""
    branches, text = oracle.read("cuda/drivers.yaml")["branches"], remedy.text
    if " in place of " in text or "the same version from" in text or "a build from" in text:
        by_name = dict.fromkeys(re.split(r"[=<>~!]", r)[0] if r[:5] == "torch" else r for r in case.requirements)
        case = replace(case, requirements=tuple(by_name), variant="cpu" if "(cpu) in place of" in text else None)
    if dropped := re.search(r"--gpus (\S+)", remedy.command):
        case = replace(case, gpus=tuple(case.gpus[int(place)] for place in dropped[1].split(",")))
    elif "without card" in text:
        left = {int(place) for place in re.findall(r"card (\d+)", text.split("without ")[1])}
        case = replace(case, gpus=tuple(gpu for place, gpu in enumerate(case.gpus) if place not in left))
    if branch := re.search(r"driver branch R(\d+)", text):
        case = replace(case, driver=None, cuda=branches[branch[1]]["cuda"])
    if python := re.search(r"Python (\d\.\d+)", text):
        case = replace(case, python=python[1])
    return replace(case, glibc="2.35") if "newer glibc" in text else case


def test_a_cpu_build_asks_nothing_of_cards_and_driver_in_a_combined_way_out() -> None:
    case = Case(
        platform="linux_aarch64",
        python="3.15",
        glibc="2.27",
        driver="535.104.05",
        cuda=None,
        gpus=("12.0", "7.2"),
        wsl=False,
        requirements=("torch==2.5.0+rocm4.5.2", "torchaudio"),
        variant="cpu",
    )
    check(case, remedies=True)
    found = answer(case)
    assert isinstance(found, NoPlan)
    combined = [remedy.text for remedy in found.remedies if "together with" in remedy.text]
    assert combined and all(text.count(" and ") == 0 and "driver" not in text for text in combined)


@pytest.mark.parametrize("seed", range(4))
def test_the_planner_says_what_the_oracle_says(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(40):
        check(one_case(chance), remedies=False)


@pytest.mark.parametrize("seed", [100, 101])
def test_no_advice_is_wrong(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(12):
        check(one_case(chance), remedies=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1004))
def test_thousands_of_cases(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(150):
        check(one_case(chance), remedies=chance.random() < 0.15)
