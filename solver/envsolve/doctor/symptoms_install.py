"""What pip, uv, conda and poetry say when they refuse or fail."""

from __future__ import annotations

from envsolve.doctor.symptom_table import table

_REQ = r"[A-Za-z][\w.\-\[\],]*[^\s()`'\"]*"

INSTALL = table(
    (
        "pip-none",
        rf"Could not find a version that satisfies the requirement (?P<requirement>{_REQ}(?: ?[<>=!~]=?[^\s(]*)*)"
        r"(?: \(from [^()]*\))?\s*\(from versions: ?(?P<versions>[^)]*)\)",
    ),
    # What pip finds where no wheel fits: the placeholder of 2017.
    ("torch-placeholder", r"\btorch-0\.1\.2(?:\.post\d)?\.tar\.gz|You should install pytorch from http"),
    ("pip-no-match", rf"No matching distribution found for (?P<requirement>{_REQ})"),
    ("pip-wrong-tag", r"(?P<file>[\w.+%-]+\.whl) is not a supported wheel on this platform"),
    (
        "requires-python",
        r"Ignored the following versions that require a different python version: (?P<versions>[^\n]*)"
        r"|Package '?(?P<package>[\w.-]+)'? requires a different Python: (?P<have>[\d.]+) not in '(?P<need>[^']+)'"
        r"|current Python version \([\d.]+\) does not satisfy"
        r"|\b(?P<package2>[\w.-]+) requires Python [^\n]*, so it will not be (?:installable|satisfied) for Python"
        r"|requires Python (?P<need2>[<>=!~\d.,* ]+),? but (?:the )?(?:running|current|you)",
    ),
    (
        "conflict",
        r"ResolutionImpossible|because these package versions have conflicting dependencies|version solving failed"
        r"|ResolutionTooDeep|resolution-too-deep",
    ),
    ("conflict-line", r"(?m:^)[ \t]+(?P<owner>[\w.-]+ \d\S*|The user requested) depends on (?P<requirement>[^\n;]+)"),
    (
        "no-dist-for",
        r"(?:some packages in these conflicts have no matching distributions available for your "
        r"environment:)\s*(?P<packages>(?:\n?\s+[\w.-]+)+)",
    ),
    (
        "dependency-warning",
        r"pip's dependency resolver does not currently take into account|(?P<owner>[\w.-]+ \d\S*) requires "
        r"(?P<need>[\w.-]+[^\n,;]*)(?:;[^\n,]*)?, but you have (?P<have>[\w.-]+ \S+) which is incompatible",
    ),
    (
        "hash-mismatch",
        r"DO NOT MATCH THE HASHES|Hash mismatch for|hash mismatch|Expected sha256 \w+"
        r"|Hash for \S+ \([^)\n]*\) from archive \S+ not found in known hashes",
    ),
    (
        "hash-missing",
        r"no hashes were provided or computed|Hashes are required in --require-hashes mode|Hash-checking is "
        r"enabled, but"
        r"|must have (?:a hash|their versions pinned)|missing hash",
    ),
    (
        "bad-metadata",
        r"inconsistent (?:version|Name|metadata)|has invalid metadata|Metadata field \S+ has|expected "
        r"'?(?P<want>[\w.+]+)'?, but metadata has '?(?P<have>[\w.+]+)|does not match the (?:given|wheel) (?:name"
        r"|version)",
    ),
    (
        "placeholder",
        r"placeholder (?:project|package)|is a placeholder|must be installed from the NVIDIA|nvidia-pyindex",
    ),
    ("skipped-page", r"Skipping page \S+ because the \w+ request got Content-Type: (?P<type>[\w/+-]+)"),
    (
        "bad-requirement",
        r"ERROR: Invalid requirement: '(?P<requirement>[^\n]+?)'(?=[:\n]|$)"
        r"|error: Failed to parse: `(?P<requirement2>[^`\n]+)`",
    ),
    (
        "legacy-parse",
        r"Invalid (?:requirement|version|wheel filename)|InvalidVersion|Expected end or semicolon|is in an "
        r"unsupported or invalid wheel",
    ),
    (
        "http",
        r"HTTP error (?P<status>\d{3})|(?P<status2>4\d\d|5\d\d) (?:Client|Server) Error|HTTP (?:status "
        r")?(?:client |server )?(?:error )?\(?(?P<status3>[45]\d\d)"
        r"|CondaHTTPError: HTTP (?P<status4>\d{3})|Forbidden for url",
    ),
    (
        "blocked",
        r"Tunnel connection failed: 403|ProxyError|Cannot connect to proxy|CERTIFICATE_VERIFY_FAILED|SSLError"
        r"|self[- ]signed certificate"
        r"|NameResolutionError|Temporary failure in name resolution|Name or service not known|Failed to "
        r"establish a new connection"
        r"|Connection (?:refused|reset|timed out)|ReadTimeoutError|Read timed out|ConnectTimeoutError|Max "
        r"retries exceeded"
        r"|dns error|failed to lookup address|error sending request for url|Connection broken|IncompleteRead"
        r"|UnknownIssuer",
    ),
    ("pytorch-name", r"The package named for PyTorch is \"?torch|You tried to install \"?pytorch\"?"),
    (
        "uv-none",
        r"Because (?:there is no version of (?P<package>[\w.\-\[\]]+)(?:\{[^}]*\})?(?P<spec>[<>=!~]+[^\s,]+)|"
        r"only (?:the following versions of )?(?P<package2>[\w.\-]+)(?:\{[^}]*\})?(?P<spec2>[^\n]*?) (?:is"
        r"|are) available)",
    ),
    (
        "uv-not-in-registry",
        r"(?P<package>[\w.-]+) was not found in the (?:package registry|provided package locations)"
        r"|Could not find a matching version of package (?P<package2>[\w.-]+)",
    ),
    ("uv-no-solution", r"No solution found when resolving"),
    (
        "uv-abi",
        r"(?P<package>[\w.-]+)(?P<spec>[<>=!~]=?\S+)? has no wheels with a matching Python (?:ABI"
        r"|implementation|version) tag"
        r"(?: \(e\.g\., `(?P<tag>\w+)`\))?",
    ),
    (
        "uv-platform",
        r"(?P<package>[\w.-]+)(?P<spec>[<>=!~]=?\S+)? has no wheels with a matching platform tag"
        r"(?: \(e\.g\., `(?P<tag>\w+)`\))?",
    ),
    (
        "uv-no-wheel",
        r"`(?P<package>[\w.-]+)==(?P<version>[\w.+]+)(?: @ (?:registry\+)?(?P<index>\S+?))?` can't be "
        r"installed because it doesn't have a source"
        r" distribution or wheel for the current platform",
    ),
    (
        "uv-hint-python",
        r"You're using (?P<python>[\w .]+) \(`(?P<tag>\w+)`\), but `(?P<package>[\w.-]+)` "
        r"\(v(?P<version>[\w.+]+)\) only has wheels"
        r" with the following Python (?:ABI|implementation|version) tags?: (?P<tags>[^\n;]*)",
    ),
    (
        "uv-hint-platform",
        r"You're on (?P<os>[\w ]+) \(`(?P<tag>\w+)`\), but (?:`(?P<package>[\w.-]+)` \(v(?P<version>[\w.+]+)\)"
        r"|there are no wheels)[^\n]*?"
        r"(?:platforms?: (?P<tags>[^\n;]*))?",
    ),
    ("uv-hint-index", r"`(?P<package>[\w.-]+)` was found on (?P<index>\S+?),? but not at the requested version"),
    (
        "uv-hint-wheels",
        r"Wheels are available for `(?P<package>[\w.-]+)` \(v?(?P<version>[\w.+]+)\) (?:on the following "
        r"platforms?|with the following Python \w+ tags?): (?P<tags>[^\n]*)",
    ),
    ("uv-indexes", r"Requirements contain conflicting (?:indexes|URLs) for package"),
    ("uv-environments", r"current Python platform is not compatible with the lockfile's supported environments"),
    (
        "conda-not-found",
        r"PackagesNotFoundError|ResolvePackageNotFound|nothing provides requested|No candidates were found for"
        r"|does not exist \(perhaps a "
        r"typo|not available from current channels",
    ),
    (
        "conda-unsatisfiable",
        r"UnsatisfiableError|LibMambaUnsatisfiableError|Could not solve for environment specs|nothing provides"
        r"|package \S+ (?:requires|has constraint)",
    ),
    ("conda-channel", r"UnavailableInvalidChannel|The channel is not accessible"),
    ("conda-no-cuda", r"nothing provides __cuda|__cuda\S* [^\n]*missing on the system|feature:\|?@?/?\S*__cuda"),
    ("conda-glibc", r"__glibc\S*(?:[^\n]*(?:conflict|missing|available))?|feature:/linux-64::__glibc\S*"),
    # poetry's words, and pdm's
    (
        "poetry-none",
        r"Unable to find installation candidates for (?P<package>[\w.-]+) \((?P<version>[\w.+]+)\)"
        r"|Unable to find candidates for (?P<package2>[\w.-]+)==(?P<version2>\d[\w.+]*\w)",
    ),
    (
        "poetry-unmatched",
        r"depends on (?P<package>[\w.-]+) \((?P<spec>[^()\n]*)\) which doesn't match any versions",
    ),
    (
        "poetry-because",
        r"Because (?:no versions of )?(?P<package>[\w.-]+)[^\n]* (?:depends on|matches?|requires) (?P<need>[^\n]*)",
    ),
    ("no-space", r"No space left on device|Errno 28"),
    ("memory", r"MemoryError|(?m:^)\s*Killed\s*(?m:$)|exit code:? 137\b|\bOOMKilled\b"),
    ("externally-managed", r"externally-managed-environment"),
    (
        "lock-changed",
        r"The lockfile at [^\n]* needs to be updated|pyproject\.toml changed significantly since poetry\.lock",
    ),
)
