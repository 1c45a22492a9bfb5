"""What holds for any text: reading never raises, a finding says something, an unknown asks for something."""

from __future__ import annotations

import time

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reports_data import reports

from envsolve.doctor.as_json import as_json
from envsolve.doctor.as_text import as_text
from envsolve.doctor.diagnose import diagnose
from envsolve.doctor.facts import load_facts
from envsolve.doctor.finding import CODES, Finding
from envsolve.doctor.report import read_report
from envsolve.rulebook.load import load

RULEBOOK, FACTS = load(), load_facts()
# Lines of real-looking reports, whole and cut: mixed they reach deep into the parsers and the causes.
LINES = sorted({line for report in reports() for line in report.text.split("\n") if line.strip()})
MIXED = st.lists(
    st.one_of(
        st.sampled_from(LINES), st.sampled_from(LINES).flatmap(lambda s: st.integers(0, len(s)).map(lambda n: s[n:]))
    ),
    max_size=14,
).map("\n".join)


def check(finding: Finding) -> None:
    assert finding.code in CODES
    assert finding.headline.strip()
    assert finding.certainty in ("high", "medium", "low")
    assert (finding.code != "unknown") or finding.missing
    assert finding.status == {"ok": "healthy", "harmless-warning": "healthy", "unknown": "unknown"}.get(
        finding.code, "ill"
    )
    answer = as_json(finding)
    assert answer["schema"] == 1
    assert all(fix["text"].strip() for fix in answer["fixes"])
    assert as_text(finding).startswith(f"{finding.code}: ")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(MIXED)
def test_any_mixture_of_lines_gives_a_whole_finding(text: str) -> None:
    check(diagnose(read_report(text, RULEBOOK, FACTS), RULEBOOK, FACTS))


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=400))
def test_any_text_gives_a_whole_finding(text: str) -> None:
    check(diagnose(read_report(text, RULEBOOK, FACTS), RULEBOOK, FACTS))


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet="torch-=+.0123456789cu()[]'\" \n/\\:>$#,", max_size=300))
def test_signs_of_versions_and_prompts_never_raise(text: str) -> None:
    check(diagnose(read_report(text, RULEBOOK, FACTS), RULEBOOK, FACTS))


def test_a_long_log_is_read_from_its_end_without_choking() -> None:
    noise = "Downloading https://x.example/" + "a" * 3000 + ".whl (5 kB)\n" + "-" * 4000 + "\n"
    text = noise * 400 + "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
    started = time.process_time()
    finding = diagnose(read_report(text, RULEBOOK, FACTS), RULEBOOK, FACTS)
    assert finding.code == "unknown"
    # No timed assertion: a pattern that grows with the square of a line would not come back at all.
    assert time.process_time() >= started


def test_a_torch_for_the_cpu_beside_companions_for_a_gpu_is_never_answered_with_the_cpu() -> None:
    report = (
        "torchvision::nms does not exist\n$ pip list\nPackage Version\n------- -------\n"
        "torch 2.11.0+cpu\ntorchvision 0.26.0+cu130\n$ nvidia-smi\n"
        "| NVIDIA-SMI 580.65.06   Driver Version: 580.65.06   CUDA Version: 13.0 |\n"
    )
    found = diagnose(read_report(report, RULEBOOK, FACTS), RULEBOOK, FACTS)
    assert found.code == "variant-mismatch"
    commands = [command for fix in found.fixes for command in fix.commands]
    assert commands and not any("cpu" in command for command in commands)
    assert any("cu130" in command for command in commands)
