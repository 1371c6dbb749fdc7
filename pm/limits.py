"""What others wrote is read up to a limit: one table of all limits, each with its reason (docs/reference/limits.md)."""

from typing import NamedTuple


class Limit(NamedTuple):
    """How much of one thing is read, and why no more."""

    value: int
    unit: str
    of: str
    reason: str
    unusable: str
    """What is unusable beyond the limit, and with which code."""


DECLARATION_BYTES = Limit(
    value=1024 * 1024,
    unit="bytes",
    of="a declaration file: `plugin.yaml`, `plugin.json`, `pyproject.toml`, a requirements file",
    reason="real ones have a few hundred bytes, the largest known 40 KB",
    unusable="the plugin, `invalid-declaration`",
)
SHOWN_VALUE = Limit(
    value=200,
    unit="characters",
    of="a name, a version or another value of others where a sentence quotes it",
    reason="longer ones hide what the sentence says",
    unusable="the rest: `…` stands for it",
)
SHOWN_LINE = Limit(
    value=4000,
    unit="characters",
    of="a line of a text of others where it is shown",
    reason="several screens have as many",
    unusable="the rest: `…` stands for it",
)
SHOWN_LINES = Limit(
    value=30,
    unit="lines",
    of="what uv or a build said, where a message shows it",
    reason="an error stands at the end, in fewer lines",
    unusable="what was said before",
)
FOLDER_ENTRIES = Limit(
    value=10_000,
    unit="entries",
    of="a folder that is looked at for signs of use, or for an installation of the host",
    reason="one file is enough for a sign, and environments have some hundred entries",
    unusable="the rest: a sign or a version that is there only is not seen",
)
DATABASE_STEPS = Limit(
    value=100_000,
    unit="steps of SQLite",
    of="a `state.db` that is asked whether it has sessions",
    reason="the answer takes some ten",
    unusable="the database: it is no sign of use",
)
SERVICE_UNIT_BYTES = Limit(
    value=256 * 1024,
    unit="bytes",
    of="a service unit or a drop-in that may name an environment",
    reason="real ones have some hundred bytes",
    unusable="the rest: an environment that is named there only counts as not named",
)
CATALOG_BYTES = Limit(
    value=2 * 1024 * 1024,
    unit="bytes",
    of="what the address of a catalog answers",
    reason="some hundred entries take half of it",
    unusable="the answer: the copy of before is used, else `index-unreachable`",
)
CATALOG_ENTRIES = Limit(
    value=5_000,
    unit="entries",
    of="a catalog, and its list of withdrawn plugins",
    reason="the largest known has 700",
    unusable="the rest",
)
CATALOG_SECONDS = Limit(
    value=5,
    unit="seconds",
    of="the time that the address of a catalog may take",
    reason="what an operator waits for beside an installation",
    unusable="the answer: the copy of before is used, else `index-unreachable`",
)
FETCH_SECONDS = Limit(
    value=120,
    unit="seconds",
    of="one fetch from a git repository",
    reason="a shallow copy of a large repository takes some ten seconds",
    unusable="the source",
)
ENVIRONMENT_FILE_BYTES = Limit(
    value=1024 * 1024,
    unit="bytes",
    of="a `.env` of a home, in which each start looks for what opens the host's own installer",
    reason="real ones have some hundred bytes",
    unusable="the file: nothing is said of it",
)
DOCUMENT_DEPTH = Limit(
    value=64,
    unit="levels",
    of="nesting in one YAML, JSON or TOML document; what an alias stands for and the parts of a dotted key count",
    reason="plugins use three; parsers take time in the square of a key's parts, and a level of their stack for each",
    unusable="the plugin, `invalid-declaration`; the config, `config-unreadable`",
)
DOCUMENT_VALUES = Limit(
    value=100_000,
    unit="values",
    of="one YAML, JSON or TOML document",
    reason="real ones have some dozens; a megabyte can hold half a million, for which reading takes seconds",
    unusable="the plugin, `invalid-declaration`; the config, `config-unreadable`",
)
MERGED_VALUES = Limit(
    value=10_000,
    unit="keys",
    of="all merges (`<<`) of one mapping, with what those merge in turn",
    reason="forty lines of merges can come to more keys than a machine can hold",
    unusable="the plugin, `invalid-declaration`; the config, `config-unreadable`",
)
NUMBER_DIGITS = Limit(
    value=1_000,
    unit="digits",
    of="one number in a declaration file or a config",
    reason="Python turns no text of more than 4,300 digits into a number; `1:59:59` of YAML takes the square of them",
    unusable="the plugin, `invalid-declaration`; the config, `config-unreadable`",
)
REQUIREMENTS_FILES = Limit(
    value=100,
    unit="files",
    of="a project's dynamic requirements (`tool.setuptools.dynamic`)",
    reason="people name one or two, and each is read anew",
    unusable="the plugin, `invalid-declaration`",
)
REQUIREMENTS = Limit(
    value=20_000,
    unit="requirements",
    of="one plugin, all of its lists and files together",
    reason="the largest known one has 16; ten thousand are still read in a second",
    unusable="the plugin, `invalid-declaration`",
)
CONFIG_BYTES = Limit(
    value=4 * 1024 * 1024,
    unit="bytes",
    of="a `config.yaml`",
    reason="all settings of the host stand there, and a person edits them",
    unusable="the config, `config-unreadable`",
)
PROJECT_LOCK_BYTES = Limit(
    value=64 * 1024 * 1024,
    unit="bytes",
    of="the lock of a core that is a project: `uv.lock`, `pylock.toml`",
    reason="programs write them, with every file of every package",
    unusable="the core, `invalid-declaration`",
)
PLUGIN_ENTRIES = Limit(
    value=20_000,
    unit="entries",
    of="a plugin's archive or folder: files, links and folders, those that are only implied by a path among them",
    reason="a kilobyte of archive can imply a hundred thousand folders",
    unusable="the source, `unsafe-archive`; of a plugin that lies in its place no copy is kept",
)
PLUGIN_DEPTH = Limit(
    value=128,
    unit="folders",
    of="a plugin's archive or folder, one in the other",
    reason="looking through a tree takes a level of the stack for each",
    unusable="the source, `unsafe-archive`; of a plugin that lies in its place no copy is kept",
)
PLUGIN_BYTES = Limit(
    value=512 * 1024 * 1024,
    unit="bytes",
    of="all files of a plugin together, unpacked",
    reason="it is kept in the home for each version; a file without content can say that it has a terabyte",
    unusable="the source, `unsafe-archive`; of a plugin that lies in its place no copy is kept, and edits "
    "behind a link are not told",
)
ARCHIVE_RATIO = Limit(
    value=200,
    unit="bytes",
    of="a plugin's archive, unpacked from one byte of it, above 16 MiB",
    reason="texts are squeezed to a tenth, and only what is made to fill disks so much further",
    unusable="the source, `unsafe-archive`",
)
TAR_HEADERS = Limit(
    value=48 * 1024 * 1024,
    unit="bytes",
    of="all headers of a plugin's tar archive",
    reason="20,000 entries with long names take 40 MB; a squeezed header takes no place and much time",
    unusable="the source, `unsafe-archive`",
)
ZIP_DIRECTORY = Limit(
    value=16 * 1024 * 1024,
    unit="bytes",
    of="the central directory of a plugin's zip archive",
    reason="20,000 entries take 3 MB; all of it is made to values before anything can be judged",
    unusable="the source, `unsafe-archive`",
)
SOURCE_SIGNS = Limit(
    value=250_000,
    unit="signs",
    of="all Python files of one plugin that are looked into: line ends, commas, brackets and operators",
    reason="they come to 1.5 MB of usual code; what is parsed can take 1,800 bytes of memory for each",
    unusable="the files beyond: nothing is said of them, with a warning",
)
STATE_BYTES = Limit(
    value=256 * 1024 * 1024,
    unit="bytes",
    of="a file of the manager's own state: pointer, journal, record, receipt, facts, caches",
    reason="each is read as a whole, and a damaged one can be of any size",
    unusable="that file: it counts as damaged",
)

RECORD_BYTES = Limit(
    value=16 * 1024 * 1024,
    unit="bytes",
    of="the RECORD of a wheel",
    reason="that of the largest wheels, with 20,000 files, has about 3 MB",
    unusable="the wheel, `invalid-wheel`",
)
WHEEL_FILE_BYTES = Limit(
    value=64 * 1024,
    unit="bytes",
    of="the `WHEEL` of a wheel",
    reason="real ones have some hundred bytes",
    unusable="the wheel, `invalid-wheel`",
)
ENTRY_POINTS_BYTES = Limit(
    value=1024 * 1024,
    unit="bytes",
    of="the `entry_points.txt` of a wheel",
    reason="the largest real ones have 50 KB",
    unusable="the wheel, `invalid-wheel`",
)
PATH_LENGTH = Limit(
    value=1024,
    unit="bytes",
    of="the path of a file in a wheel",
    reason="systems take up to 4,096, some 1,024, with the home before it; the longest real ones have 250",
    unusable="the wheel, `invalid-wheel`",
)
PATH_FILE_BYTES = Limit(
    value=256 * 1024,
    unit="bytes",
    of="a `.pth` of a wheel",
    reason="real ones have one line",
    unusable="nothing: what comes later is not looked at for the warning `runs-at-start`",
)
PROVED_BYTES = Limit(
    value=1024 * 1024,
    unit="bytes, unpacked",
    of="a wheel whose files a dry run compares with the hashes of its RECORD",
    reason="a verdict should not wait for that; of a larger wheel the installation compares them",
    unusable="nothing: another hash is refused once the wheel was unpacked, `invalid-wheel`",
)
PAGE_BYTES = Limit(
    value=128 * 1024 * 1024,
    unit="bytes",
    of="a page of an index, after decompression",
    reason="the largest real ones have about 25 MB; longer ones are read one at a time, from the disk",
    unusable="the page, `index-unreachable`",
)
FILE_NAME_LENGTH = Limit(
    value=255,
    unit="characters",
    of="the name of a file on a page",
    reason="no file system stores a longer one",
    unusable="that file; a warning names it",
)
ADDRESS_LENGTH = Limit(
    value=8 * 1024,
    unit="characters",
    of="the address of a file on a page",
    reason="servers refuse longer ones; signed addresses have about 2,000",
    unusable="that file, and with its last file the version",
)
REQUIRES_PYTHON_LENGTH = Limit(
    value=1000,
    unit="characters",
    of="`Requires-Python`, on a page or in metadata",
    reason="real ones have up to about 100",
    unusable="that file, and with its last file the version",
)
METADATA_BYTES = Limit(
    value=4 * 1024 * 1024,
    unit="bytes",
    of="the `METADATA` of a wheel, after decompression",
    reason="nearly all of it is a description; the largest real ones have some hundred KB",
    unusable="that version",
)
REQUIREMENT_LENGTH = Limit(
    value=4 * 1024,
    unit="characters",
    of="one `Requires-Dist` of a wheel",
    reason="its marker is judged for every extra that it names; real ones have up to about 1,000",
    unusable="that version",
)
REQUIREMENTS_LENGTH = Limit(
    value=256 * 1024,
    unit="characters",
    of="all `Requires-Dist` of a wheel together",
    reason="each is parsed and judged; the longest real lists have some 50 KB",
    unusable="that version",
)
REQUIREMENT_LINES = Limit(
    value=10_000,
    unit="lines",
    of="`Requires-Dist` of a wheel",
    reason="each becomes a demand that deciding looks at; the longest real lists have about 1,000",
    unusable="that version",
)
EXTRAS = Limit(
    value=5_000,
    unit="lines",
    of="`Provides-Extra` of a wheel",
    reason="the longest real lists have about 500",
    unusable="that version",
)
VERSION_DIGITS = Limit(
    value=200,
    unit="digits",
    of="a number in a version or a bound of metadata",
    reason="numbers are compared often; dates and hashes, the longest that are in use, have up to 40",
    unusable="that version",
)
WHEEL_DIRECTORY_BYTES = Limit(
    value=8 * 1024 * 1024,
    unit="bytes",
    of="the directory of a wheel, the list of its members",
    reason="the largest real ones have about 2 MB, and each member takes ten times its place in memory",
    unusable="that version",
)
WHEEL_PART_BYTES = Limit(
    value=24 * 1024 * 1024,
    unit="bytes",
    of="a part of a wheel that a server is asked for",
    reason="the largest is a RECORD with what stands beside it",
    unusable="nothing: the whole wheel is asked for",
)
WHEEL_BYTES = Limit(
    value=4 * 1024 * 1024 * 1024,
    unit="bytes",
    of="a wheel or source distribution that is read whole",
    reason="the largest real ones have about 3 GB; beyond 4 GB an archive needs an extension of the format",
    unusable="that version",
)
TREE_LEVELS = Limit(
    value=100,
    unit="levels",
    of="a tree of dependencies that is shown",
    reason="real ones have about 15; readers of JSON give up at a nesting of about a thousand",
    unusable="nothing: what has more below is marked, and `pm why` tells its chain",
)


def table() -> list[Limit]:
    """Return all limits, in the order in which they are written above."""
    return [value for value in globals().values() if isinstance(value, Limit)]
