"""Profiles: a Machine as JSON, written by `detect -o` and read back by `--target`; errors carry the field's path."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, cast

from envsolve.errors import InputError
from envsolve.machine.machine import Gpu, Libc, Machine
from envsolve.machine.profile_fields import Field
from envsolve.machine.words import arch_name, gpu_name

SCHEMA = 1
_KEYS = (
    "schema", "os", "arch", "libc", "python", "driver", "cuda_max", "gpus", "wsl", "tegra", "vendor",
    "pythons", "assumed", "findings", "problems",
)  # fmt: skip
_GPU_KEYS = ("name", "compute_capability", "truncated", "index", "uuid", "memory_bytes", "mig", "gfx")


def to_json(machine: Machine) -> dict[str, Any]:
    """The JSON object of a machine: the contract's keys first, unknown as null, then what else was learnt."""
    libc = machine.libc
    return {
        "schema": SCHEMA,
        "os": machine.os,
        "arch": machine.arch,
        "libc": {"name": libc.name, "version": str(libc.version) if libc.version else None} if libc else None,
        "python": machine.python,
        "driver": str(machine.driver) if machine.driver else None,
        "cuda_max": str(machine.cuda_max) if machine.cuda_max else None,
        "gpus": [_gpu_to_json(gpu) for gpu in machine.gpus],
        "wsl": machine.wsl,
        "tegra": machine.tegra,
        "vendor": machine.vendor,
        "pythons": list(machine.pythons),
        "assumed": list(machine.assumed),
        "findings": [{"field": f.field, "value": f.value, "source": f.source} for f in machine.findings],
        "problems": [{"code": p.code, "text": p.text} for p in machine.problems],
    }


def dumps(machine: Machine) -> str:
    """The profile as text, ready to be written to a file."""
    return json.dumps(to_json(machine), indent=2, ensure_ascii=False) + "\n"


def parse_profile(text: str, *, host: Machine | None = None, where: str = "profile") -> Machine:
    """Read a profile; os, arch and python that are null come from `host` and are named in `assumed`.

    Raises InputError with the path of the bad field ("machine.json: gpus[1].compute_capability: …").
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: not JSON: {error}", hint="envsolve detect -o machine.json writes one") from None
    root = Field(where, data)
    return _machine(root, root.mapping(), host)


def _machine(root: Field, data: Mapping[str, Any], host: Machine | None) -> Machine:
    _check_schema(root, data)
    root.only(_KEYS)
    os = root.child("os").os()
    arch_word = root.child("arch").arch()
    python = root.child("python").python()
    assumed = [a for f in root.child("assumed").items() if (a := f.text())]
    for name, value in (("os", os), ("arch", arch_word), ("python", python)):
        if value is None and host is not None and name not in assumed:
            assumed.append(name)
    os = os or (host.os if host else None)
    arch_word = arch_word or (host.arch if host else None)
    if os is None or arch_word is None:
        raise InputError(f"{root.path}: os and arch must be given", hint='"os": "linux", "arch": "x86_64"')
    arch = arch_name(arch_word, os)
    assert arch is not None  # one of the three words above
    gpus, vendor = _gpus(root), root.child("vendor").vendor()
    if vendor == "none" and gpus:
        raise InputError(f"{root.path}: vendor: is none, yet gpus is not empty", hint="empty gpus, or name the vendor")
    return Machine(
        os=os,
        arch=arch,
        python=python or (host.python if host else None),
        libc=_libc(root.child("libc")),
        driver=root.child("driver").dotted(),
        cuda_max=root.child("cuda_max").dotted(),
        gpus=gpus,
        wsl=bool(root.child("wsl").boolean()),
        tegra=bool(root.child("tegra").boolean()),
        vendor=vendor,
        pythons=tuple(v for f in root.child("pythons").items() if (v := f.python())),
        assumed=tuple(assumed),
        findings=tuple(f.finding() for f in root.child("findings").items()),
        problems=tuple(f.problem() for f in root.child("problems").items()),
    )


def _check_schema(root: Field, data: Mapping[str, Any]) -> None:
    schema = data.get("schema")
    if schema is None:
        raise InputError(f"{root.path}: schema: missing, so this is no profile", hint=f'"schema": {SCHEMA}')
    if type(schema) is not int or schema < 1:
        raise InputError(f"{root.path}: schema: {schema!r} is not a number from 1 on", hint=f'"schema": {SCHEMA}')
    if schema > SCHEMA:
        raise InputError(
            f"{root.path}: schema: {schema} is newer than this envsolve reads ({SCHEMA})",
            hint="pip install --upgrade envsolve",
        )


def _gpus(root: Field) -> tuple[Gpu, ...]:
    return tuple(_gpu(field) for field in root.child("gpus").items())


def _gpu(field: Field) -> Gpu:
    field.mapping()
    field.only(_GPU_KEYS)
    printed = field.child("name").text()
    name, truncated = gpu_name(printed)
    return Gpu(
        name=name,
        compute_capability=field.child("compute_capability").capability(),
        truncated=bool(field.child("truncated").boolean()) or truncated,
        index=field.child("index").integer(),
        uuid=field.child("uuid").text(),
        memory_bytes=field.child("memory_bytes").integer(),
        mig=bool(field.child("mig").boolean()),
        gfx=field.child("gfx").text(),
    )


def _libc(field: Field) -> Libc | None:
    if field.value is None:
        return None
    field.mapping()
    field.only(("name", "version"))
    name = cast("Literal['glibc', 'musl'] | None", field.child("name").one_of("glibc", "musl"))
    if name is None:
        raise InputError(f"{field.path}.name: missing", hint='"libc": {"name": "glibc", "version": "2.35"} or null')
    return Libc(name=name, version=field.child("version").dotted())


def _gpu_to_json(gpu: Gpu) -> dict[str, Any]:
    known = {
        "truncated": gpu.truncated or None,
        "index": gpu.index,
        "uuid": gpu.uuid,
        "memory_bytes": gpu.memory_bytes,
        "mig": gpu.mig or None,
        "gfx": gpu.gfx,
    }
    capability = str(gpu.compute_capability) if gpu.compute_capability else None
    more = {key: value for key, value in known.items() if value is not None}
    return {"name": gpu.name, "compute_capability": capability, **more}
