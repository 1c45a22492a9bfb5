"""Requirements of published wheels that break the standards, read as uv reads them."""

from __future__ import annotations

import pytest
from packaging.requirements import InvalidRequirement
from packaging.specifiers import InvalidSpecifier

from envsolve.index.lenient import lenient_requirement, lenient_specifiers


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("torch (>=1.8.*)", "torch>=1.8"),
        ("torch>=1.7.*,!=1.8.*; extra == 'x'", 'torch!=1.8.*,>=1.7; extra == "x"'),
        ("extract-msg (<=0.29.*)", "extract-msg<=0.29"),
        ("numpy2>=1.16<2", "numpy2<2,>=1.16"),
        ("numpy (>=1.16,)", "numpy>=1.16"),
        ("numpy>=1.16, ; python_version > '3'", 'numpy>=1.16; python_version > "3"'),
        ("torch2>=1.8.*", "torch2>=1.8"),
        ("numpy>=1.16", "numpy>=1.16"),
    ],
)
def test_what_is_plain_is_read(text: str, meant: str) -> None:
    assert str(lenient_requirement(text)) == meant


@pytest.mark.parametrize("text", ["numpy is fine", "numpy>=", ">=1.8.*", "numpy; nonsense"])
def test_what_is_not_plain_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequirement):
        lenient_requirement(text)


def test_requires_python() -> None:
    assert str(lenient_specifiers(">=3.6.*")) == ">=3.6"
    assert str(lenient_specifiers(">=3.6,<4")) == "<4,>=3.6"
    with pytest.raises(InvalidSpecifier):
        lenient_specifiers("three")
