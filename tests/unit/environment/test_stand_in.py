"""One and the same path to whichever build is being filled."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from envsolve.environment.hold import try_hold
from envsolve.environment.stand_in import stand_in

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no links and locks there")


def folders(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A build, and the folders for links and locks."""
    build = tmp_path / "build"
    build.mkdir(exist_ok=True)
    (build / "here").touch()
    return build, tmp_path / "filling", tmp_path / "locks"


def test_it_leads_to_the_build_and_goes(tmp_path: Path) -> None:
    build, links, locks = folders(tmp_path)
    with stand_in(build, links, locks) as (path, held):
        assert path.parent == links and (path / "here").is_file()
        assert len(held) == 1
    assert not os.path.lexists(path)
    with stand_in(build, links, locks) as (again, _):
        assert again == path


def test_two_at_once_get_two(tmp_path: Path) -> None:
    build, links, locks = folders(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    with stand_in(build, links, locks) as (one, _), stand_in(other, links, locks) as (two, _):
        assert one.resolve() == build and two.resolve() == other


def test_a_killed_run_leaves_a_link_that_is_in_nobodys_way(tmp_path: Path) -> None:
    build, links, locks = folders(tmp_path)
    links.mkdir()
    (links / "0").symlink_to(tmp_path / "gone")
    with stand_in(build, links, locks) as (path, _):
        assert path == links / "0" and path.resolve() == build


def test_a_link_that_an_orphaned_installer_uses_stays(tmp_path: Path) -> None:
    """It inherits the lock: were the link turned, it would go on in an environment that isn't its own."""
    build, links, locks = folders(tmp_path)
    orphans = try_hold(locks / "filling-0.lock")
    assert orphans is not None
    with stand_in(build, links, locks) as (path, _):
        assert path == links / "1"
    os.close(orphans)


def test_without_a_place_for_links_it_is_the_build_itself(tmp_path: Path) -> None:
    build, links, locks = folders(tmp_path)
    links.write_text("a file")
    with stand_in(build, links, locks) as (path, held):
        assert (path, held) == (build, ())


def test_an_error_in_the_block_is_its_own(tmp_path: Path) -> None:
    build, links, locks = folders(tmp_path)
    with pytest.raises(OSError, match="mine"), stand_in(build, links, locks) as (path, _):
        raise OSError("mine")
    assert not os.path.lexists(path)
