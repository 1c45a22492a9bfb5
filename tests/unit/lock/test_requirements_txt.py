"""requirements.lock.txt: what is written, and that it is read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envsolve.errors import InputError
from envsolve.lock import requirements_txt
from envsolve.lock.lock import Lock
from envsolve.lock.make import make_lock
from envsolve.resolve.closure import close
from fakes.locks import SOME, locks
from fakes.memory_index import MemoryIndex
from fakes.plans import LINUX_312, a_plan
from fakes.stub_wheels import StubWheel, stub_family


def a_lock(*, hashed: bool = True) -> Lock:
    index = MemoryIndex()
    index.add("cu128", *stub_family("cu128", tag=LINUX_312, torch="2.11.0", requires=("markupsafe",)), hashed=hashed)
    for platform in ("manylinux_2_17_x86_64", "manylinux_2_34_x86_64", "manylinux_2_39_x86_64", "win_amd64"):
        index.add_default(StubWheel(name="markupsafe", version="3.0.3", tag=f"cp312-cp312-{platform}"))
    plan = a_plan("torch>=2.9")
    return make_lock(plan, close(plan, index), index, command="envsolve lock 'torch>=2.9'", rules="ab" * 32)


def test_the_whole_text() -> None:
    lock = a_lock()
    markupsafe, torch = lock.packages
    first, second = sorted(file.sha256 for file in markupsafe.files)
    assert requirements_txt.write(lock) == (
        "# made by envsolve 0.1.0; to change it, run this again:\n"
        "#     envsolve lock 'torch>=2.9'\n"
        "# target: linux x86_64, glibc >= 2.28, python 3.12, cu128\n"
        "# python: 3.12\n"
        "# platform: linux_x86_64\n"
        "# variant: cu128\n"
        "# index: https://download.pytorch.org/whl/cu128\n"
        "# gpu: NVIDIA GeForce RTX 4090: compatible sm_86\n"
        f"# rules: {'ab' * 32}\n"
        "markupsafe==3.0.3 \\\n"
        f"    --hash=sha256:{first} \\\n"
        f"    --hash=sha256:{second}\n"
        "    # via torch\n"
        "torch @ https://download.pytorch.org/whl/cu128/torch-2.11.0%2Bcu128-cp312-cp312-manylinux_2_28_x86_64.whl"
        f"#sha256={torch.files[0].sha256}\n"
        "    # via (asked)\n"
    )


def test_what_is_read_back_writes_the_same() -> None:
    text = requirements_txt.write(a_lock())
    assert requirements_txt.write(requirements_txt.read(text)) == text


def test_a_file_without_a_hash_is_hashed_and_says_so() -> None:
    lock = a_lock(hashed=False)
    text = requirements_txt.write(lock)
    torch = lock.packages[-1].files[0]
    assert torch.hashed_here
    assert f"    # hashed by envsolve, the index gives no hash: {torch.sha256}\n" in text
    assert requirements_txt.read(text).packages[-1].files[0].hashed_here


@SOME
@given(locks())
def test_any_lock_is_read_back(lock: Lock) -> None:
    text = requirements_txt.write(lock)
    back = requirements_txt.read(text)
    assert requirements_txt.write(back) == text
    assert (back.header, back.python, back.platform, back.variant, back.index_url) == (
        (lock.header, lock.python, lock.platform, lock.variant, lock.index_url)
    )
    for package, found in zip(lock.packages, back.packages, strict=True):
        assert (found.name, found.version, found.direct, found.via) == (
            (package.name, package.version, package.direct, package.via)
        )
        assert {(f.sha256, f.hashed_here) for f in found.files} == {(f.sha256, f.hashed_here) for f in package.files}
        if package.direct:
            assert [(f.filename, f.url) for f in found.files] == [(f.filename, f.url) for f in package.files]


GOOD = requirements_txt.write(a_lock())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("markupsafe==3.0.3 \\", "markupsafe>=3 \\", "line 10: not a line of a lock: 'markupsafe>=3"),
        ("markupsafe==3.0.3 \\", "markupsafe==zwei \\", "line 10: not a line of a lock"),
        ("    --hash=sha256:", "    --hash=md5:", "line 11: not a line of a lock"),
        ("torch-2.11.0%2Bcu128-cp312-cp312-", "torch-", "line 14: not a line of a lock"),
        ("# made by envsolve 0.1.0", "torch==2.1\n# made by hand", "r.txt was not made by envsolve"),
        ("# variant: cu128\n", "", "the header has 0 lines 'variant: …', not one"),
        ("# made by envsolve ", "# made by hand ", "r.txt was not made by envsolve"),
        ("# python: 3.12", "--index-url https://host.example/simple\n# python: 3.12", "line 4: not a line of a lock"),
    ],
)
def test_what_envsolve_does_not_write_is_refused_with_its_line(old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        requirements_txt.read(GOOD.replace(old, new, 1), what="r.txt")
    assert message in caught.value.message


@given(st.text(max_size=80))
def test_any_text_is_refused_or_read(text: str) -> None:
    with pytest.raises(InputError):
        requirements_txt.read(text)


def test_a_file_on_this_disk_makes_the_lock_not_portable() -> None:
    index = MemoryIndex()
    index.add("cu128", *stub_family("cu128", tag=LINUX_312, torch="2.11.0"))
    index.base = "file:///wheels"
    index.add_default(StubWheel(name="six", version="1"), StubWheel(name="idna", version="3"))
    plan = a_plan("torch", "six", "idna")
    lock = make_lock(plan, close(plan, index), index, command="envsolve lock", rules="ab")
    text = requirements_txt.write(lock)
    assert not lock.header.portable
    assert "# portable: no, from the disk of the machine that made it: idna, six\n" in text
    assert requirements_txt.read(text).header == lock.header


def test_a_package_without_its_hash_is_refused() -> None:
    lines = [line for line in GOOD.splitlines() if not line.startswith("    --hash=")]
    with pytest.raises(InputError, match=r"r\.txt: markupsafe==3\.0\.3 has no hash"):
        requirements_txt.read("\n".join(lines), what="r.txt")


def test_a_package_that_is_there_twice_is_refused() -> None:
    """As after a merge by hand; with markers, one for each target is right."""
    again = "\n".join(line for line in GOOD.splitlines() if not line.startswith("#"))
    with pytest.raises(InputError, match=r"r\.txt has .* twice for one target"):
        requirements_txt.read(f"{GOOD}{again}\n", what="r.txt")
