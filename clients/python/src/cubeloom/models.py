"""The shapes of requests and answers. Generated from docs/openapi.json by `make openapi`."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class AliasBody(TypedDict):
    """
    What an alias stands for.
    """

    version: int
    """
    The version.
    """


class AmountView(TypedDict):
    """
    An amount of resources.
    """

    cpu: float
    """
    Processing power, in cores.
    """
    memory: int
    """
    Memory, in bytes.
    """
    gpus: int
    """
    Graphics cards.
    """


class Answer(TypedDict):
    """
    An answer.
    """

    approved: bool
    """
    Yes or no.
    """
    comment: NotRequired[str | None]
    """
    Why, for those who read it later; at most 2,000 characters.
    """


class AsideBody(TypedDict):
    """
    Why a node is set aside.
    """

    note: str
    """
    One line.
    """


class AxisView(TypedDict):
    """
    One thing that a search tries.
    """

    name: str
    """
    Its name: trials read it as `item.NAME`.
    """
    values: NotRequired[list[Any] | None]
    """
    The values, where they are listed.
    """
    minimum: NotRequired[float | None]
    """
    The smallest, of a range.
    """
    maximum: NotRequired[float | None]
    """
    The largest, of a range.
    """
    log: bool
    """
    Whether the range is spread evenly in its logarithm.
    """


class BeforeAfter(TypedDict):
    """
    One program twice: for one process, and as the template runs it.
    """

    before: str
    """
    For one process.
    """
    after: str
    """
    As the template runs it.
    """


class BehindView(TypedDict):
    """
    Copies of logs that could not be made yet; they are tried again every half minute.
    """

    attempts: int
    """
    Of how many attempts that is known: 0 where only the store could tell, and does not answer.
    """
    why: str
    """
    Why the last try failed.
    """


class BlamedView(TypedDict):
    """
    The worker that was not good enough.
    """

    worker: str
    """
    The worker, `<role>-<index>`.
    """
    why: str
    """
    Why: a sentence.
    """
    sure: bool
    """
    Whether it is this one for certain: then its node is set aside.
    """


class BudgetBody(TypedDict):
    """
    What a project may spend from a month on.
    """

    amount: NotRequired[str | None]
    """
    How much in each month, e.g. `1200` or `99.50`; absent: nothing bounds it from then on.
    """
    warn_percent: NotRequired[int]
    """
    From how many hundredths of it on the project is marked, from 1 to 100.
    """
    stop: NotRequired[bool]
    """
    Whether nothing new is started once it is spent; what runs goes on.
    """


class BudgetStandingView(TypedDict):
    """
    How much of this month's budget is spent.
    """

    month: str
    """
    The month, UTC.
    """
    amount: str
    """
    What there is to spend, with a point.
    """
    spent: str
    """
    What is spent, also by what still runs.
    """
    percent: int
    """
    How many hundredths that is, rounded down.
    """
    level: str
    """
    `within`, `warned` (the project is marked), `spent`, or `stopped` (nothing new is started).
    """
    warn_percent: int
    """
    From how many hundredths on the project is marked.
    """
    stop: bool
    """
    Whether nothing new is started once it is spent.
    """


class BudgetView(TypedDict):
    """
    What a project may spend in each month, from a month on until the next budget.
    """

    month: str
    """
    The first month, UTC, e.g. `2026-01`.
    """
    amount: NotRequired[str | None]
    """
    How much, with a point; absent where nothing bounds it from then on.
    """
    warn_percent: int
    """
    From how many hundredths of it on the project is marked.
    """
    stop: bool
    """
    Whether nothing new is started once it is spent.
    """
    revision: int
    """
    Counts its changes, from 1: its ETag.
    """


class CancelBackfill(TypedDict):
    """
    What a back-fill is cancelled with.
    """

    runs: NotRequired[bool]
    """
    Whether its runs that go on are stopped, too.
    """


class CardSeriesView(TypedDict):
    """
    A measure over time.
    """

    of: str
    """
    `usage`, `tensor`, `node_cpu` and `io_wait` (from 0 to 1), `memory` (bytes), `temperature` (°C), `power` (watts), `nvlink`
    (bytes a second) or `holder_cpu` (cores).
    """
    values: list[float | None]
    """
    Its values; `null` where there is none.
    """


class ChangedView(TypedDict):
    """
    A queue that was changed.
    """

    queue: str
    """
    `project/NAME` or `group/NAME`.
    """
    revision: int
    """
    Its revision since.
    """


class ChangesView(TypedDict):
    """
    Edits that were made together.
    """

    items: list[ChangedView]
    """
    The queues, in the order of the edits.
    """


class CheckedTask(TypedDict):
    """
    A task of a checked document.
    """

    name: str
    """
    Its name.
    """
    template: str
    """
    The template, as the document names it.
    """
    needs: list[str]
    """
    The tasks before it.
    """
    description: NotRequired[str | None]
    """
    What it does.
    """
    for_each: bool
    """
    Whether it runs once for each of several elements.
    """


class ClusterGpuView(TypedDict):
    """
    A graphics card.
    """

    name: str
    """
    Its product name.
    """
    memory: int
    """
    Its memory, in bytes.
    """
    uuid: str
    """
    Its UUID.
    """
    xid: NotRequired[int | None]
    """
    The XID error of its own for which no job gets it; none while a job has it.
    """


class ClusterNodeView(TypedDict):
    """
    A node of a cluster.
    """

    name: str
    """
    Its name.
    """
    amount: AmountView
    """
    What it has for jobs.
    """
    gpus: list[ClusterGpuView]
    """
    Its graphics cards.
    """
    groups: list[str]
    """
    Those of the cluster's node groups that it is of.
    """


class CodeFile(TypedDict):
    """
    A file of a folder of code.
    """

    path: str
    """
    Its path below the folder, with `/` between its parts.
    """
    bytes: int
    """
    Its length, in bytes.
    """
    executable: bool
    """
    Whether it may be executed.
    """


class CodeView(TypedDict):
    """
    A folder of code.
    """

    digest: str
    """
    Its digest.
    """
    files: list[CodeFile]
    """
    Its files, by name.
    """


class Confirmation(TypedDict):
    """
    That it is really you.
    """

    current: str
    """
    Your present password.
    """


class Content1(TypedDict):
    """
    Text.
    """

    text: str
    """
    The text.
    """
    shown_as: Literal['text']


class Content2(TypedDict):
    """
    JSON, set with one member a line.
    """

    text: str
    """
    The text.
    """
    shown_as: Literal['json']


class Content3(TypedDict):
    """
    A table.
    """

    columns: list[str]
    """
    The first row.
    """
    rows: list[list[str]]
    """
    The other rows.
    """
    shown_as: Literal['table']


class Content4(TypedDict):
    """
    A picture: show the file itself.
    """

    shown_as: Literal['image']


class Content5(TypedDict):
    """
    A page: show the file itself, in a frame with `sandbox`.
    """

    shown_as: Literal['page']


class Content6(TypedDict):
    """
    Nothing that can be shown here: it can be downloaded.
    """

    shown_as: Literal['nothing']


Content: TypeAlias = Content1 | Content2 | Content3 | Content4 | Content5 | Content6
"""
What is shown of a file.
"""


class Credentials(TypedDict):
    """
    What somebody signs in with.
    """

    name: str
    """
    The name.
    """
    password: str
    """
    The password.
    """


class DocumentToCheck(TypedDict):
    """
    A document.
    """

    document: str
    """
    The text, YAML or JSON.
    """


EdgeView = TypedDict(
    'EdgeView',
    {
        'from': str,
        'to': str,
        'kind': str,
    },
)


class ExporterView(TypedDict):
    """
    Something that measures a cluster.
    """

    name: str
    """
    What it is called.
    """
    purpose: str
    """
    What it is good for.
    """
    found: bool
    """
    Whether Prometheus has series of it.
    """


class FailureView(TypedDict):
    """
    Why something failed: the first cause.
    """

    kind: str
    """
    `exit`, `signal`, `out_of_memory`, `timeout`, `setup_failed`, `could_not_start`, `missing_output`, `lost`,
    `preempted`, `expression`, `rejected`, `run`, `hung`, `preflight` or `disk_limit`.
    """
    message: str
    """
    A sentence.
    """
    instance: NotRequired[int | None]
    """
    The instance that failed first, of a task with several.
    """
    attempt: NotRequired[int | None]
    """
    The attempt.
    """
    worker: NotRequired[str | None]
    """
    The worker that failed first, e.g. `worker-1`.
    """
    exit_code: NotRequired[int | None]
    """
    Its exit code.
    """
    signal: NotRequired[int | None]
    """
    The signal that ended it.
    """
    last_lines: NotRequired[list[str]]
    """
    The last lines that it wrote.
    """


class FaultyCardView(TypedDict):
    """
    A card that no job gets.
    """

    index: int
    """
    Its number on its node.
    """
    uuid: str
    """
    Its UUID.
    """
    xid: int
    """
    The XID error that the driver has reported of it.
    """


class FaultyCardsView(TypedDict):
    """
    How many cards there are, and which of them no job gets.
    """

    all: int
    """
    How many there are, these among them.
    """
    cards: list[FaultyCardView]
    """
    Those that no job gets.
    """


class FieldChange(TypedDict):
    """
    A field that differs.
    """

    path: str
    """
    Where, as a JSON pointer.
    """
    before: NotRequired[dict[str, Any]]
    """
    How it was; absent when it was not there.
    """
    after: NotRequired[dict[str, Any]]
    """
    How it is; absent when it is not there.
    """


class FiguresView(TypedDict):
    """
    What was held and used, and what it costs. Amounts of money are texts with a point, exact to a millionth.
    """

    cpu_hours: float
    """
    Cores times hours that were asked for.
    """
    used_cpu_hours: NotRequired[float | None]
    """
    Cores times hours that were used; absent where nothing was measured.
    """
    memory_gib_hours: float
    """
    GiB of memory times hours that were asked for.
    """
    used_memory_gib_hours: NotRequired[float | None]
    """
    GiB of memory at the peak times the hours that the job ran; absent where nothing was measured.
    """
    gpu_hours: float
    """
    Graphics cards times hours.
    """
    used_gpu_hours: NotRequired[float | None]
    """
    Graphics cards times hours at work; absent where nothing was measured.
    """
    measured_gpu_hours: float
    """
    Of `gpu_hours`, those in which it was measured whether the cards worked.
    """
    attempts: int
    """
    Attempts that ended.
    """
    failed: int
    """
    Those of them that failed; an attempt whose place was needed for another did not.
    """
    cost: str
    """
    What it costs.
    """
    cpu_cost: str
    """
    What the CPU costs of it.
    """
    memory_cost: str
    """
    What the memory costs of it.
    """
    gpu_cost: str
    """
    What the graphics cards cost of it.
    """


FilesToImport = TypedDict(
    'FilesToImport',
    {
        'from': NotRequired[str | None],
        'file': str,
        'templates': NotRequired[str | None],
        'name': NotRequired[str | None],
    },
)


class FrameworkView(TypedDict):
    """
    What becomes of the tasks of a framework.
    """

    name: str
    """
    The framework.
    """
    object: str
    """
    The kind of object that a job of it becomes.
    """
    why: str
    """
    Why that one.
    """


class GpuView(TypedDict):
    """
    Graphics cards: whole ones, a fraction of one, or an amount of its memory.
    """

    count: NotRequired[int | None]
    """
    Whole cards.
    """
    fraction: NotRequired[float | None]
    """
    A part of one card.
    """
    memory: NotRequired[int | None]
    """
    Memory of one card, in bytes.
    """
    type: NotRequired[str | None]
    """
    The product.
    """


class HeadView(TypedDict):
    """
    A job that another must not delay.
    """

    project: str
    """
    Its project.
    """
    run: NotRequired[str | None]
    """
    Its run; absent for a task of the run that is looked at.
    """
    task: str
    """
    Its task.
    """


class Health(TypedDict):
    """
    How the server is.
    """

    status: str
    """
    `ok`
    """
    database_reserve: str
    """
    The room that is kept beside a SQLite database for when its disk is full: `kept`, `missing` where it was given up or
    could not be made, or `none`.
    """


class HolderView(TypedDict):
    """
    A job that holds what another needs.
    """

    project: str
    """
    Its project.
    """
    user: str
    """
    Whom it runs for.
    """
    run: NotRequired[str | None]
    """
    Its run; absent for a task of the run that is looked at.
    """
    task: str
    """
    Its task.
    """
    instance: int
    """
    Which of the task's instances it is, from 0.
    """
    amounts: dict[str, float]
    """
    What it holds, by resource: cores, bytes, pieces.
    """


class HookCall(TypedDict):
    """
    What the caller of a hook may send; everything else in the body is left alone, so that other programs' own
    messages can be sent here as they are.
    """

    parameters: NotRequired[dict[str, Any]]
    """
    Parameters of the run, over the hook's own.
    """


class HookChange(TypedDict):
    """
    What changes; what is absent stays.
    """

    name: NotRequired[str | None]
    """
    What it is called.
    """
    parameters: NotRequired[dict[str, Any] | None]
    """
    Parameters of the runs that it starts.
    """


class ImportLine(TypedDict):
    """
    What became of one value of the files.
    """

    fate: str
    """
    `changed`, `left_out`, or `problem`: somebody has to do something.
    """
    path: str
    """
    Where it stands: a JSON pointer, in the second file with `templates:` before it.
    """
    message: str
    """
    A sentence.
    """


class ImportedView(TypedDict):
    """
    A document that was made.
    """

    kind: str
    """
    `pipeline` or `task_template`.
    """
    name: str
    """
    Its name.
    """
    document: str
    """
    Its text, YAML.
    """
    notes: list[str]
    """
    The report's sentences about it.
    """
    taken: NotRequired[str | None]
    """
    What has its name already: `same` when it is this very document, `other` when it is something else.
    """


class KeepingView(TypedDict):
    """
    What a project wants kept of jobs that have ended.
    """

    objects: NotRequired[int | None]
    """
    How long their objects stay on a Kubernetes cluster, in seconds; absent: as long as the cluster's settings say.
    """
    logs: NotRequired[str | None]
    """
    The volume of the project, in an object store, into which their logs are copied when they have ended; absent: into
    none, the server alone has them.
    """


class LevelsView(TypedDict):
    """
    What there is of something, what was asked for, and what is used.
    """

    capacity: NotRequired[float | None]
    """
    What there is.
    """
    requested: NotRequired[float | None]
    """
    What was asked for by what runs there.
    """
    used: NotRequired[float | None]
    """
    What is used.
    """


class LimitBody(TypedDict):
    """
    What somebody says of a limit. At least one of its numbers is said.
    """

    at_once: NotRequired[int | None]
    """
    How many jobs may hold it at once; 0 lets none start.
    """
    a_minute: NotRequired[int | None]
    """
    How many may be started with it in a minute, at least 1.
    """
    description: NotRequired[str | None]
    """
    What it protects, one line.
    """


class LineView(TypedDict):
    """
    One thing that a worker used, over time.
    """

    name: str
    """
    `cpu`, `throttled` (how long its threads were held back at the limit of CPU), `memory`, `disk_read`, `disk_written`,
    `network_received`, `network_sent`, `io_wait` (for how much of the time it waited for storage; where that is not counted, for how much its node did), and of its cards together `card_use` (their mean), `card_memory`, `card_power`.
    """
    unit: str
    """
    `cores`, `bytes`, `bytes_per_second`, `percent`, `watts`
    """
    peak: float
    """
    The largest value.
    """
    points: list[list[float]]
    """
    `[seconds since the epoch, value]`, at most 1,000 of them, thinned so that the smallest and largest stay.
    """


LinksView = TypedDict(
    'LinksView',
    {
        'from': str,
        'to': str,
        'count': int,
    },
)


class LiveEvent4(TypedDict):
    """
    A run was deleted.
    """

    run_id: str
    """
    The run.
    """
    kind: Literal['deleted']


class LiveEvent5(TypedDict):
    """
    The session or the token that opened this stream does not hold any more; the stream ends.
    """

    kind: Literal['revoked']


class LogMatch(TypedDict):
    """
    A line that was found.
    """

    worker: str
    """
    The worker.
    """
    stream: str
    """
    `stdout` or `stderr`.
    """
    offset: int
    """
    Where the line begins in its stream, in bytes.
    """
    line: int
    """
    The line's number in its stream, from 1.
    """
    text: str
    """
    The line, cut after 2,000 characters.
    """


class LogMatches(TypedDict):
    """
    What was found in the logs.
    """

    matches: list[LogMatch]
    """
    The lines, in the order of ranks.
    """
    complete: bool
    """
    Whether everything was looked at; otherwise there may be more.
    """
    searched: int
    """
    How many bytes were looked at.
    """


class LogStreamView(TypedDict):
    """
    One stream of one worker.
    """

    worker: str
    """
    The worker.
    """
    stream: str
    """
    `stdout` or `stderr`.
    """
    length: int
    """
    Its length so far, in bytes.
    """


class LogStreams(TypedDict):
    """
    The streams that an attempt has.
    """

    attempt: int
    """
    The attempt that is meant.
    """
    ended: bool
    """
    Whether the attempt has ended: nothing is added any more.
    """
    streams: list[LogStreamView]
    """
    The streams, by rank.
    """


class ManyRuns(TypedDict):
    """
    Several runs.
    """

    runs: list[str]
    """
    Their ids, at most 200.
    """


class MissingLimitView(TypedDict):
    """
    A name that no limit has.
    """

    name: str
    """
    The name.
    """
    held: int
    """
    How many jobs that run have it.
    """
    waiting: int
    """
    How many that wait have it.
    """


class ModelChange(TypedDict):
    """
    What changes.
    """

    description: str
    """
    What it is for.
    """


class NewBackfill(TypedDict):
    """
    A back-fill that somebody wants.
    """

    first: str
    """
    From this day or moment on, in the schedule's time zone, or in UTC.
    """
    last: str
    """
    Until this day (its end) or moment, which must have come.
    """
    parallelism: NotRequired[int | None]
    """
    How many of its runs may go on at the same time; 1 when absent.
    """
    again: NotRequired[bool]
    """
    Also dates with a run that has ended.
    """


class NewDocument(TypedDict):
    """
    A document that is to be stored.
    """

    document: str
    """
    The text, YAML or JSON; it is kept byte for byte.
    """
    message: NotRequired[str]
    """
    What you say of the change.
    """
    code: NotRequired[str | None]
    """
    The digest of the folder of code that goes with it, uploaded before. When absent, a changed pipeline keeps the
    folder that it has; when empty, it has none from now on.
    """


class NewFolder(TypedDict):
    """
    A folder that is to be.
    """

    path: str
    """
    Its path in the volume.
    """


class NewHook(TypedDict):
    """
    A hook that is to be.
    """

    name: str
    """
    What it is called.
    """
    parameters: NotRequired[dict[str, Any]]
    """
    Parameters of the runs that it starts.
    """


class NewPassword(TypedDict):
    """
    A new password, and the present one.
    """

    current: str
    """
    The present password.
    """
    password: str
    """
    The new one.
    """


class NewPrice(TypedDict):
    """
    A new price.
    """

    cluster: str
    """
    The cluster.
    """
    node_group: NotRequired[str | None]
    """
    The node group; absent for every node whose group has no price of its own.
    """
    valid_from: NotRequired[str | None]
    """
    The first day, UTC; today when absent.
    """
    cpu_hour: NotRequired[str]
    """
    What an hour of one core costs, e.g. `0.04`.
    """
    memory_gib_hour: NotRequired[str]
    """
    What an hour of one GiB of memory costs.
    """
    gpu_hour: NotRequired[str]
    """
    What an hour of one graphics card costs.
    """


class NewProject(TypedDict):
    """
    A project that is to be.
    """

    name: str
    """
    The name: lower-case letters, digits and `-`, at most 40; it never changes.
    """
    label: NotRequired[str | None]
    """
    What it is called; the name when absent.
    """
    description: NotRequired[str]
    """
    What it is for.
    """


class NewRegistry(TypedDict):
    """
    A registry that is to be.
    """

    name: str
    """
    What it is called here: lower-case letters, digits and `-`, at most 63.
    """
    host: str
    """
    Its host, with a port perhaps: `registry.example.org:5000`.
    """
    user: NotRequired[str]
    """
    The account there; empty for a registry that is open to all.
    """
    secret: NotRequired[str | None]
    """
    The name of the project's secret that holds the password.
    """


class NewSecret(TypedDict):
    """
    A new secret.
    """

    name: str
    """
    The name that tasks use: lower-case letters, digits and `-`, at most 63.
    """
    value: str
    """
    The value: text of at most 64 KiB. Whatever is shorter than four bytes cannot be masked in logs.
    """
    description: NotRequired[str]
    """
    What it is for.
    """


class NewTemplate(TypedDict):
    """
    A template to install.
    """

    document: str
    """
    Its document, YAML or JSON.
    """


class NewUser(TypedDict):
    """
    An account that is wanted.
    """

    name: str
    """
    What they sign in with; it never changes.
    """
    display_name: NotRequired[str]
    """
    What they are called; the name when absent.
    """
    email: NotRequired[str | None]
    """
    Where they can be reached.
    """
    admin: NotRequired[bool]
    """
    Whether they administer the whole platform.
    """
    password: NotRequired[str | None]
    """
    Their password. Without one, a link is made with which they set one themselves.
    """


class NodeGroupBody(TypedDict):
    """
    How the nodes of a group are told from others.
    """

    selector: NotRequired[dict[str, str]]
    """
    Labels that they have.
    """
    tolerations: NotRequired[list[dict[str, Any]]]
    """
    Taints of theirs that jobs of the group tolerate.
    """
    env: NotRequired[dict[str, str]]
    """
    Variables of the workers there, which tasks may set otherwise: NCCL's, for the network that these nodes have.
    """
    spares: NotRequired[int]
    """
    How many of them are kept free, to take the place of others that are away or set aside. At least one node is for
    jobs, whatever is said here.
    """


class NodeView(TypedDict):
    """
    A task in the graph.
    """

    id: str
    """
    The task's name.
    """
    template: str
    """
    Its template, `name@version`.
    """
    framework: str
    """
    Its framework.
    """
    state: str
    """
    Its state, as in the list of tasks.
    """
    instances: NotRequired[int | None]
    """
    How many instances it has, where that is known.
    """
    workers: int
    """
    How many workers each attempt has.
    """
    for_each: bool
    """
    Whether it runs once for each element.
    """


class ObjectsView(TypedDict):
    """
    What an attempt submits to its cluster.
    """

    task: str
    """
    The task.
    """
    instance: int
    """
    The instance.
    """
    attempt: NotRequired[int | None]
    """
    The attempt; absent before the first.
    """
    bound: bool
    """
    Whether that was submitted as it stands here; otherwise it has placeholders.
    """
    object: NotRequired[dict[str, Any] | None]
    """
    What the cluster takes; its form is the cluster's.
    """
    message: NotRequired[str | None]
    """
    Why there is none yet.
    """


class OneResult(TypedDict):
    """
    What came of one of several runs.
    """

    run: str
    """
    The run that was named.
    """
    ok: bool
    """
    Whether it was done.
    """
    message: NotRequired[str | None]
    """
    Why not.
    """
    started: NotRequired[str | None]
    """
    The run that was started, where one was.
    """


class OutputsView(TypedDict):
    """
    What a task reported.
    """

    task: str
    """
    The task.
    """
    instance: int
    """
    The instance.
    """
    outputs: dict[str, Any]
    """
    Outputs by name.
    """
    warnings: list[str]
    """
    What of its reports could not be read: a sentence each.
    """


class Item4(TypedDict):
    """
    What a project may spend in each month, from a month on until the next budget.
    """

    month: str
    """
    The first month, UTC, e.g. `2026-01`.
    """
    amount: NotRequired[str | None]
    """
    How much, with a point; absent where nothing bounds it from then on.
    """
    warn_percent: int
    """
    From how many hundredths of it on the project is marked.
    """
    stop: bool
    """
    Whether nothing new is started once it is spent.
    """
    revision: int
    """
    Counts its changes, from 1: its ETag.
    """


class PageBudgetView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item4]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item20(TypedDict):
    """
    What a task reported.
    """

    task: str
    """
    The task.
    """
    instance: int
    """
    The instance.
    """
    outputs: dict[str, Any]
    """
    Outputs by name.
    """
    warnings: list[str]
    """
    What of its reports could not be read: a sentence each.
    """


class PageOutputsView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item20]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class ParentView(TypedDict):
    """
    The attempt, of a task of another run, that a run is.
    """

    run: str
    """
    The other run.
    """
    task: str
    """
    Its task.
    """
    instance: int
    """
    The instance.
    """
    attempt: int
    """
    The attempt.
    """


PartOfRun = TypedDict(
    'PartOfRun',
    {
        'only': NotRequired[str | None],
        'from': NotRequired[str | None],
        'of': NotRequired[str | None],
    },
)


class PartView(TypedDict):
    """
    Something that a cluster may have.
    """

    name: str
    """
    What it is called.
    """
    purpose: str
    """
    What it is good for.
    """
    found: bool
    """
    Whether it is there.
    """
    version: NotRequired[str | None]
    """
    Its version, where that can be found out.
    """


class Pixels(TypedDict):
    """
    How large a picture is, in pixels.
    """

    width: int
    """
    From left to right.
    """
    height: int
    """
    From top to bottom.
    """


class Place(TypedDict):
    """
    Somebody's place.
    """

    role: str
    """
    `viewer`, `editor` or `owner`.
    """


class PlacesView(TypedDict):
    """
    Where a project's jobs may go. Places are `CLUSTER` or `CLUSTER/NODE_GROUP`; a cluster stands for its node groups, too.
    """

    allowed: NotRequired[list[str]]
    """
    The places that it is bound to; empty: every one.
    """
    usual: NotRequired[str | None]
    """
    Where a pipeline goes that names no place; absent: to the first that is allowed.
    """


class PoolShareView(TypedDict):
    """
    A resource of a pool.
    """

    resource: str
    """
    `cpu` (cores), `memory` (bytes), `gpus`, `gpus/TYPE`, `pods` or `runs`.
    """
    capacity: NotRequired[float | None]
    """
    How much there is; absent where that is not known, or without a bound.
    """
    guaranteed: float
    """
    What all queues are guaranteed.
    """
    held: float
    """
    What all jobs hold: of a whole cluster, those in its node groups, too.
    """


class PoolView(TypedDict):
    """
    A cluster, or a node group of one.
    """

    pool: str
    """
    What quotas call it: `CLUSTER` or `CLUSTER/NODE_GROUP`.
    """
    cluster: str
    """
    The cluster.
    """
    node_group: NotRequired[str | None]
    """
    The node group; absent: the whole cluster, for jobs that name no node group.
    """
    resources: list[PoolShareView]
    """
    What there is.
    """


class PreflightValues(TypedDict):
    """
    Values of a test; what was not measured is absent.
    """

    cpu: NotRequired[float | None]
    """
    What one core hashes, in MB/s of its own time.
    """
    memory: NotRequired[float | None]
    """
    What one core copies in memory, in MB/s of its own time.
    """
    card: NotRequired[float | None]
    """
    What the slowest card multiplies, in TFLOP/s.
    """
    mount: NotRequired[float | None]
    """
    How long the slowest folder takes to write, read and delete a small file, in seconds.
    """
    network: NotRequired[float | None]
    """
    The network to another worker, in MB/s: the median of those that it was measured with.
    """


class Preview1(TypedDict):
    """
    Text.
    """

    text: str
    """
    The text.
    """
    shown_as: Literal['text']


class Preview2(TypedDict):
    """
    JSON, set with one member a line.
    """

    text: str
    """
    The text.
    """
    shown_as: Literal['json']


class Preview3(TypedDict):
    """
    A table.
    """

    columns: list[str]
    """
    The first row.
    """
    rows: list[list[str]]
    """
    The other rows.
    """
    shown_as: Literal['table']


class Preview4(TypedDict):
    """
    A picture: show the file itself.
    """

    shown_as: Literal['image']


class Preview5(TypedDict):
    """
    A page: show the file itself, in a frame with `sandbox`.
    """

    shown_as: Literal['page']


class Preview6(TypedDict):
    """
    Nothing that can be shown here: it can be downloaded.
    """

    shown_as: Literal['nothing']


class Preview7(TypedDict):
    """
    What a file looks like, as far as that can be shown.
    """

    name: str
    """
    The file's name.
    """
    size: int
    """
    Its length in bytes.
    """
    media_type: str
    """
    What it seems to be, e.g. `text/csv`.
    """
    truncated: bool
    """
    Whether only its beginning is shown.
    """


class Preview8(Preview1, Preview7):
    """
    What a file looks like, as far as that can be shown.
    """


class Preview9(Preview2, Preview7):
    """
    What a file looks like, as far as that can be shown.
    """


class Preview10(Preview3, Preview7):
    """
    What a file looks like, as far as that can be shown.
    """


class Preview11(Preview4, Preview7):
    """
    What a file looks like, as far as that can be shown.
    """


class Preview12(Preview5, Preview7):
    """
    What a file looks like, as far as that can be shown.
    """


class Preview13(Preview6, Preview7):
    """
    What a file looks like, as far as that can be shown.
    """


Preview: TypeAlias = Preview8 | Preview9 | Preview10 | Preview11 | Preview12 | Preview13
"""
What a file looks like, as far as that can be shown.
"""


class PriceChange(TypedDict):
    """
    What a price is changed to.
    """

    cpu_hour: NotRequired[str]
    """
    What an hour of one core costs.
    """
    memory_gib_hour: NotRequired[str]
    """
    What an hour of one GiB of memory costs.
    """
    gpu_hour: NotRequired[str]
    """
    What an hour of one graphics card costs.
    """


class ProblemView(TypedDict):
    """
    One mistake in what was sent.
    """

    severity: str
    """
    `error` or `warning`.
    """
    code: str
    """
    What kind of mistake; stable, for programs.
    """
    path: str
    """
    Where, as a JSON pointer (RFC 6901); empty for the whole.
    """
    message: str
    """
    A sentence that says what is wrong and what to do.
    """
    line: NotRequired[int | None]
    """
    The line in the text, from 1, where there is a text.
    """
    column: NotRequired[int | None]
    """
    The column in the line, from 1.
    """


class Profile(TypedDict):
    """
    What you may change about yourself; what is absent stays.
    """

    display_name: NotRequired[str | None]
    """
    What you are called.
    """
    email: NotRequired[str | None]
    """
    Where you can be reached; empty for nowhere.
    """
    mails: NotRequired[bool | None]
    """
    Whether you get mail about your own runs: a task that hangs, cards that are held and not used, sizes that change.
    """


class Program(TypedDict):
    """
    A program.
    """

    name: str
    """
    The file's name.
    """
    text: str
    """
    What stands in it.
    """


class ProgressView(TypedDict):
    """
    How far something is.
    """

    step: float
    """
    Done.
    """
    total: NotRequired[float | None]
    """
    Of this many, where it is known.
    """


class ProjectUseView(TypedDict):
    """
    What a project has asked for on a cluster, and what it uses.
    """

    project: NotRequired[str | None]
    """
    The project; absent where several are told of together.
    """
    attempts: int
    """
    How many attempts of it hold something.
    """
    requested: AmountView
    """
    What they have asked for.
    """
    cpu_used: NotRequired[float | None]
    """
    Cores that they use.
    """
    memory_used: NotRequired[float | None]
    """
    Memory that they use, in bytes.
    """
    gpus_used: NotRequired[float | None]
    """
    Cards that work for them, as the sum of the shares of time. What is used of a card that several tasks hold is divided among
    these.
    """


QuietView = TypedDict(
    'QuietView',
    {
        'from': str,
        'until': str,
        'zone': str,
    },
)


class QuotaBody(TypedDict):
    """
    What a queue has of a pool. Amounts are by resource: `cpu`, `memory`, `gpus`, `gpus/TYPE`, `pods`, `runs`.
    """

    guarantee: NotRequired[dict[str, Any]]
    """
    Its own: what it needs of this it gets, also from those that have borrowed it.
    """
    limit: NotRequired[dict[str, Any]]
    """
    All that it may hold, what is borrowed included.
    """
    weight: NotRequired[int]
    """
    Its share, beside its siblings, of what nobody is guaranteed or uses.
    """
    borrow: NotRequired[bool]
    """
    Whether it may hold more than it is guaranteed.
    """
    lend: NotRequired[bool]
    """
    Whether others may hold what it is guaranteed and does not use.
    """
    per_person: NotRequired[dict[str, Any]]
    """
    The most that one person's jobs may hold of it; of a project only.
    """
    max_priority: NotRequired[int | None]
    """
    The highest priority that tasks of it may name; absent: any.
    """


class RatesBody(TypedDict):
    """
    What an hour costs: amounts with a point, to a millionth; nothing where one is absent.
    """

    cpu_hour: NotRequired[str]
    """
    Of one core.
    """
    memory_gib_hour: NotRequired[str]
    """
    Of one GiB of memory.
    """
    gpu_hour: NotRequired[str]
    """
    Of one graphics card.
    """


class Ready(TypedDict):
    """
    Whether work may be sent to the server.
    """

    status: str
    """
    `ready`
    """
    last_pass_seconds: float
    """
    Seconds since the last pass of its engine ended.
    """


class RegistryChange(TypedDict):
    """
    What a registry becomes.
    """

    host: str
    """
    Its host, with a port perhaps.
    """
    user: NotRequired[str]
    """
    The account there; empty for a registry that is open to all.
    """
    secret: NotRequired[str | None]
    """
    The name of the project's secret that holds the password.
    """


class RemedyView(TypedDict):
    """
    Something to change.
    """

    what: str
    """
    What.
    """
    pytorch: NotRequired[str | None]
    """
    The setting in PyTorch.
    """
    tensorflow: NotRequired[str | None]
    """
    The setting in TensorFlow.
    """
    setting: NotRequired[str | None]
    """
    The task's own setting in the pipeline: `resources.cpu`; with a value where one was found: `resources.processes_per_gpu: 4`.
    """


RerunFrom = TypedDict(
    'RerunFrom',
    {
        'from': list[str]
    },
)


class RoleView(TypedDict):
    """
    What the workers of a role get.
    """

    name: str
    """
    The role.
    """
    replicas: int
    """
    How many workers.
    """
    cpu: float
    """
    Processing power of each, in cores.
    """
    memory: int
    """
    Memory of each, in bytes.
    """
    gpu: NotRequired[GpuView | None]


class RulesView(TypedDict):
    """
    What of a channel people choose.
    """

    events: list[str]
    """
    Of which kinds of events it tells: `run_failed`, `run_recovered` (a run succeeded after one had failed),
    `task_waiting`.
    """
    pipelines: NotRequired[list[str]]
    """
    Of which pipelines; of all when empty.
    """
    waiting_seconds: NotRequired[int]
    """
    How long a task must have waited, in seconds; half an hour when absent.
    """
    repeat_seconds: NotRequired[int]
    """
    The same of the same pipeline or task is told again only after this long; each time when 0.
    """
    language: NotRequired[str]
    """
    The language of messages: `en` or `zh`.
    """
    quiet: NotRequired[QuietView | None]


class RunDate(TypedDict):
    """
    The run of a date that somebody wants now.
    """

    date: str
    """
    The logical date: a day (its first moment) or a moment, in the schedule's time zone, or a moment in UTC.
    """
    again: NotRequired[bool]
    """
    Also when the date has a run that has ended.
    """


class RunTimeView(TypedDict):
    """
    How long something took.
    """

    p50_seconds: float
    """
    Half of the attempts were shorter.
    """
    p90_seconds: float
    """
    Nine of ten were.
    """
    attempts: int
    """
    How many attempts say so: the last ones that ended well.
    """


class RunnableView(TypedDict):
    """
    Whether a task template can run on a cluster.
    """

    name: str
    """
    The template's name.
    """
    framework: str
    """
    How its workers learn who they are.
    """
    missing: list[str]
    """
    What it lacks there; empty when it can run.
    """


class RunningView(TypedDict):
    """
    An attempt that holds something.
    """

    run: str
    """
    The run.
    """
    project: str
    """
    Its project.
    """
    pipeline: str
    """
    Its pipeline.
    """
    task: str
    """
    The task.
    """
    instance: int
    """
    The instance.
    """
    attempt: int
    """
    The attempt.
    """
    state: str
    """
    `submitting`, `running` or `stopping`.
    """
    workers: int
    """
    How many workers it has.
    """
    amount: AmountView
    """
    What it holds.
    """


class SaidView(TypedDict):
    """
    What is said of a queue, with its revision.
    """

    parent: NotRequired[str | None]
    """
    The group that it is in; absent: at the top.
    """
    quotas: dict[str, QuotaBody]
    """
    What it has of each pool, as it is written.
    """
    revision: int
    """
    Its revision: in quotes it is the ETag. 0 for a project of which nothing was said.
    """


class SecretChange(TypedDict):
    """
    A secret's new value, new description, or both.
    """

    value: NotRequired[str | None]
    """
    The new value; the present one stays when absent.
    """
    description: NotRequired[str | None]
    """
    What it is for; the present description stays when absent.
    """


class SeriesView(TypedDict):
    """
    One metric of one instance, over its steps.
    """

    name: str
    """
    Its name.
    """
    task: str
    """
    The task.
    """
    instance: int
    """
    The instance.
    """
    count: int
    """
    How many values were reported.
    """
    last: float
    """
    The last value.
    """
    min: float
    """
    The smallest value.
    """
    max: float
    """
    The largest value.
    """
    points: list[list[float]]
    """
    `[step, value]`, at most 1,000 of them, thinned so that the smallest and largest stay; the step is the
    position where none was reported.
    """


class ShareView(TypedDict):
    """
    How a queue stands with a resource of a pool.
    """

    resource: str
    """
    `cpu` (cores), `memory` (bytes), `gpus`, `gpus/TYPE`, `pods` or `runs`.
    """
    guarantee: float
    """
    What it is guaranteed.
    """
    most: NotRequired[float | None]
    """
    The most that it may hold: its limit, or its guarantee where it may not borrow; absent: no bound.
    """
    held: float
    """
    What it holds.
    """
    borrowed: float
    """
    What of that is beyond its guarantee.
    """
    lent: float
    """
    What of its guarantee others hold.
    """


class ShortageView(TypedDict):
    """
    One resource of which there is too little.
    """

    resource: str
    """
    `cpu` (cores), `memory` (bytes), `gpus`, `gpus/TYPE`, `pods` or `runs`.
    """
    asked: float
    """
    How much is asked for.
    """
    free: float
    """
    How much it could have now.
    """
    held: float
    """
    How much is held.
    """
    limit: NotRequired[float | None]
    """
    How much there is, or may be held.
    """
    guaranteed: NotRequired[float | None]
    """
    How much is guaranteed to its project.
    """
    borrowed: NotRequired[float | None]
    """
    How much its project holds beyond what is guaranteed to it.
    """


class SizeView(TypedDict):
    """
    What a worker gets of what is sized.
    """

    cpu: float
    """
    Processing power, in cores.
    """
    memory: int
    """
    Memory, in bytes.
    """


class StackView(TypedDict):
    """
    What the processes of a worker were at.
    """

    worker: str
    """
    The worker, `<role>-<index>`.
    """
    text: str
    """
    Each process with its threads; those of Python that import `cubeloom` with their frames.
    """


class StartRun(TypedDict):
    """
    What is to be started: a stored pipeline by its name, or a document.
    """

    pipeline: NotRequired[str | None]
    """
    The pipeline.
    """
    version: NotRequired[int | None]
    """
    Its version; the newest when absent.
    """
    document: NotRequired[str | None]
    """
    The text of a pipeline document, YAML or JSON, that is run without being stored.
    """
    code: NotRequired[str | None]
    """
    The digest of a folder that was uploaded for the document.
    """
    parameters: NotRequired[dict[str, Any]]
    """
    The parameters; texts are read by the declared types.
    """
    tasks: NotRequired[PartOfRun | None]
    place: NotRequired[str | None]
    """
    Where this run goes, `CLUSTER` or `CLUSTER/NODE_GROUP`, instead of where its pipeline would. Tasks with a node
    group of their own keep it. Only of a whole pipeline.
    """


class StoreCredentials(TypedDict):
    """
    Secrets of the project that open a bucket.
    """

    id: str
    """
    The name of the secret that holds the access key's id.
    """
    key: str
    """
    The name of the secret that holds the access key's secret.
    """


class SuspendWish(TypedDict):
    """
    What is wanted.
    """

    suspended: bool
    """
    `true` takes its workers away, `false` starts them again.
    """


class TakesView(TypedDict):
    """
    How long something takes in all.
    """

    p50_seconds: float
    """
    As likely less as more.
    """
    p90_seconds: float
    """
    Nine times of ten less.
    """


class TaskChange(TypedDict):
    """
    A task that differs.
    """

    task: str
    """
    The task.
    """
    fields: list[FieldChange]
    """
    Its fields that differ.
    """


class TaskCounts(TypedDict):
    """
    How many of something there are, and in which states.
    """

    total: int
    """
    All of them.
    """
    states: dict[str, int]
    """
    By state; states that none is in are absent.
    """


class TemplateOutputView(TypedDict):
    """
    Something that a template's program reports.
    """

    name: str
    """
    Its name.
    """
    description: NotRequired[str | None]
    """
    What it means.
    """


class TemplateRoleView(TypedDict):
    """
    A role of a template.
    """

    name: str
    """
    Its name.
    """
    replicas: Any
    """
    How many workers: a number, or an expression.
    """
    resources: NotRequired[dict[str, Any]]
    """
    What each gets when the task does not say.
    """


class TerminalEvent1(TypedDict):
    """
    It ends soon.
    """

    seconds: int
    """
    In so many seconds.
    """
    kind: Literal['warning']


class TerminalEvent2(TypedDict):
    """
    It has ended; nothing follows.
    """

    why: Literal['exited', 'closed', 'limit', 'idle', 'away', 'revoked', 'stopping']
    """
    Why.
    """
    kind: Literal['ended']


class TerminalEvent3(TypedDict):
    """
    Its person has connected to it from elsewhere; nothing follows here.
    """

    kind: Literal['replaced']


TerminalEvent: TypeAlias = TerminalEvent1 | TerminalEvent2 | TerminalEvent3
"""
What a terminal says beside the bytes that it shows, which are binary messages: texts in JSON.
"""


class TerminalMessage1(TypedDict):
    """
    It is now as large as this.
    """

    columns: int
    """
    Characters in a line, from 1.
    """
    rows: int
    """
    Lines, from 1.
    """
    kind: Literal['resize']


class TerminalMessage2(TypedDict):
    """
    So many more of the bytes that were sent have been shown. At most 262,144 bytes are sent ahead of this.
    """

    bytes: int
    """
    How many.
    """
    kind: Literal['shown']


TerminalMessage: TypeAlias = TerminalMessage1 | TerminalMessage2
"""
What is said to a terminal beside the bytes that are typed, which are binary messages: texts in JSON.
"""


class TerminalWish(TypedDict):
    """
    The terminal that is wanted.
    """

    worker: NotRequired[str | None]
    """
    The worker that it stands for, e.g. `worker-0`; when absent, the one that failed first.
    """
    columns: NotRequired[int | None]
    """
    Characters in a line, from 1; 80 when absent.
    """
    rows: NotRequired[int | None]
    """
    Lines, from 1; 24 when absent.
    """


class TestView(TypedDict):
    """
    What came of a test message.
    """

    sent: bool
    """
    Whether the receiver took it.
    """
    answer: str
    """
    What the receiver answered, or why it could not be asked.
    """


class TestedWorkerView(PreflightValues):
    """
    What the test of one worker came to.
    """

    worker: str
    """
    The worker, `<role>-<index>`.
    """
    slow: NotRequired[bool]
    """
    Whether something of it is beyond the bound: slower than is normal on the nodes of the group. By itself that is no failure.
    """
    wrong: NotRequired[list[str]]
    """
    What is wrong with it, a sentence each.
    """


class TextView(TypedDict):
    """
    A text in both languages.
    """

    en: str
    """
    English.
    """
    zh: str
    """
    Chinese.
    """


class ThereView(TypedDict):
    """
    Where to go.
    """

    url: str
    """
    The provider's page. It sends you back, to this browser, within ten minutes.
    """


class TimePartView(TypedDict):
    """
    A part of it.
    """

    part: str
    """
    `useful`, `waiting`, `starting`, `saving` (checkpoints), `restoring`, `again` (steps that an earlier attempt had done),
    or what attempts lost by a failure: `program`, `out_of_memory`, `gpu`, `network`, `storage`, `preempted`, `node_lost` or
    `hang`.
    """
    seconds: float
    """
    In seconds.
    """


class ToCompile(TypedDict):
    """
    A document to compile.
    """

    document: str
    """
    The text, YAML or JSON.
    """
    parameters: NotRequired[dict[str, Any]]
    """
    The parameters; texts are read by the declared types.
    """
    code: NotRequired[str | None]
    """
    The digest of a folder of code that goes with it.
    """


class ToForecast(TypedDict):
    """
    What to look at: a document, or a stored pipeline.
    """

    document: NotRequired[str | None]
    """
    The text, YAML or JSON.
    """
    code: NotRequired[str | None]
    """
    The digest of a folder of code that goes with the document.
    """
    pipeline: NotRequired[str | None]
    """
    A stored pipeline, instead of a document.
    """
    version: NotRequired[int | None]
    """
    Its version; the newest when absent.
    """
    parameters: NotRequired[dict[str, Any]]
    """
    The parameters; texts are read by the declared types.
    """


class TokenView(TypedDict):
    """
    A token, without its secret part.
    """

    id: str
    """
    The id: the part of the token between `clt_` and the next `_`.
    """
    name: str
    """
    What its person calls it.
    """
    scope: str
    """
    What it may be used for: `read`, `run`, `write` or `admin`.
    """
    project: NotRequired[str | None]
    """
    Only in this project, when set.
    """
    created_at: str
    """
    Since when.
    """
    expires_at: NotRequired[str | None]
    used_at: NotRequired[str | None]


class TrialView(TypedDict):
    """
    A trial of a search.
    """

    instance: int
    """
    The instance.
    """
    state: str
    """
    Its state, one of those of a task.
    """
    parameters: dict[str, Any]
    """
    What it tries, by name.
    """
    value: NotRequired[float | None]
    """
    How good it was; absent before it has said so.
    """


class UploadedView(TypedDict):
    """
    A folder that the project has now.
    """

    digest: str
    """
    SHA-256 over names, modes and content, in hexadecimal: send it as `code` with a document.
    """
    files: int
    """
    How many files it holds.
    """


class UsageGroup(FiguresView):
    """
    A group: what it is grouped by is there, the rest is absent.
    """

    day: NotRequired[str | None]
    """
    The day, UTC, e.g. `2026-01-31`.
    """
    project: NotRequired[str | None]
    """
    The project.
    """
    user: NotRequired[str | None]
    """
    Whom it ran for.
    """
    pipeline: NotRequired[str | None]
    """
    The pipeline, of the project.
    """
    template: NotRequired[str | None]
    """
    The task template.
    """
    cluster: NotRequired[str | None]
    """
    The cluster.
    """
    node_group: NotRequired[str | None]
    """
    Its node group; absent for nodes of no group.
    """


UsageReport = TypedDict(
    'UsageReport',
    {
        'from': str,
        'to': str,
        'currency': NotRequired[str | None],
        'groups': list[UsageGroup],
        'total': FiguresView,
    },
)


class UsageView(TypedDict):
    """
    What was used.
    """

    cpu_seconds: float
    """
    CPU time of all workers together.
    """
    peak_memory: int
    """
    The largest worker's peak of anonymous and shared memory, in bytes.
    """


class UseOfLink(TypedDict):
    """
    What somebody uses a link with.
    """

    token: str
    """
    The secret in the link, behind `token=`.
    """
    name: NotRequired[str]
    """
    What you will sign in with; only for a new account.
    """
    display_name: NotRequired[str]
    """
    What you are called; only for a new account.
    """
    password: str
    """
    Your password from now on.
    """


class UserChange(TypedDict):
    """
    What changes; what is absent stays.
    """

    display_name: NotRequired[str | None]
    """
    What they are called.
    """
    email: NotRequired[str | None]
    """
    Where they can be reached; empty for nowhere.
    """
    admin: NotRequired[bool | None]
    """
    Whether they administer the whole platform.
    """
    disabled: NotRequired[bool | None]
    """
    Whether they may not sign in any more; their sessions and tokens end at once.
    """


class UserView(TypedDict):
    """
    A person.
    """

    id: str
    """
    The id.
    """
    name: str
    """
    What they sign in with; it never changes.
    """
    display_name: str
    """
    What they are called.
    """
    email: NotRequired[str | None]
    """
    Where they can be reached.
    """
    admin: bool
    """
    Whether they administer the whole platform.
    """
    disabled: bool
    """
    Whether they may not sign in any more.
    """
    issuer: NotRequired[str | None]
    """
    The OpenID Connect provider at which they sign in, if it is one.
    """
    created_at: str
    """
    Since when they are known.
    """
    seen_at: NotRequired[str | None]
    mails: bool
    """
    Whether they get mail about their own runs: a task that hangs, cards that are held and not used, sizes that change.
    """
    revision: int
    """
    Counts the changes of the account, from 1: its ETag.
    """


class ValuePair(TypedDict):
    """
    A value on both sides; null where a side has none.
    """

    name: str
    """
    Its name.
    """
    left: Any
    """
    On the left.
    """
    right: Any
    """
    On the right.
    """
    same: bool
    """
    Whether both are equal.
    """


class VersionView(TypedDict):
    """
    One version of a pipeline.
    """

    version: int
    """
    The version, from 1.
    """
    document: NotRequired[str | None]
    """
    The document, byte for byte as it was sent; absent in lists.
    """
    digest: str
    """
    SHA-256 of the document, in hexadecimal.
    """
    code: NotRequired[str | None]
    """
    The digest of the folder of code that goes with it.
    """
    message: str
    """
    What its author said of the change.
    """
    user: str
    """
    Its author.
    """
    created_at: str
    """
    When it was stored.
    """


class VolumePlace1(TypedDict):
    """
    A folder of the project's own storage, made when it is first used.
    """

    path: str
    """
    Below the project's storage, with `/` between its parts.
    """
    kind: Literal['workspace']


class VolumePlace2(TypedDict):
    """
    A folder of the server's machine. Only an administrator may name one.
    """

    path: str
    """
    Absolute.
    """
    kind: Literal['folder']


class VolumePlace3(TypedDict):
    """
    A PersistentVolumeClaim on a Kubernetes cluster.
    """

    cluster: str
    """
    The cluster.
    """
    claim: str
    """
    The claim's name, in the project's namespace.
    """
    folder: NotRequired[str | None]
    """
    Where this server sees the claim's files, absolute; without it only jobs see them. Only an administrator may name
    one.
    """
    kind: Literal['claim']


class VolumePlace4(TypedDict):
    """
    A bucket of an object store.
    """

    scheme: str
    """
    `s3` for everything that speaks Amazon's protocol, or `cos`.
    """
    bucket: str
    """
    The bucket.
    """
    prefix: NotRequired[str]
    """
    Below it.
    """
    endpoint: NotRequired[str | None]
    """
    The service's address, where it is not the vendor's own.
    """
    region: NotRequired[str | None]
    """
    The region.
    """
    credentials: NotRequired[StoreCredentials | None]
    kind: Literal['object_store']


class VolumeView(TypedDict):
    """
    A volume.
    """

    name: str
    """
    The name that tasks use.
    """
    description: str
    """
    What it is for.
    """
    place: VolumePlace1 | VolumePlace2 | VolumePlace3 | VolumePlace4
    """
    Where it is.
    """
    built_in: bool
    """
    Whether every project has it; it can be neither changed nor deleted.
    """
    browsable: bool
    """
    Whether its files can be looked at here.
    """
    created_at: str
    """
    Since when there is one.
    """
    revision: int
    """
    Counts its changes; in quotes it is the ETag.
    """


class WantedLink1(TypedDict):
    """
    For a new account; it holds for seven days.
    """

    project: NotRequired[str | None]
    """
    The project that they become a member of.
    """
    role: NotRequired[str | None]
    """
    What they may do there; `editor` when absent.
    """
    admin: NotRequired[bool]
    """
    Whether they will administer the whole platform.
    """
    note: NotRequired[str]
    """
    Whom it is for.
    """
    kind: Literal['invite']


class WantedLink2(TypedDict):
    """
    With which somebody sets a new password; it holds for a day.
    """

    user: str
    """
    Whose: a name or an id.
    """
    kind: Literal['reset']


WantedLink: TypeAlias = WantedLink1 | WantedLink2
"""
A link that is wanted.
"""


class WantedToken(TypedDict):
    """
    A token that is wanted.
    """

    name: str
    """
    What you call it.
    """
    scope: str
    """
    What it may be used for: `read` only looks, `run` also starts and stops runs, `write` does what you may in
    projects, `admin` everything that you may.
    """
    project: NotRequired[str | None]
    """
    Only in this project.
    """
    expires_at: NotRequired[str | None]


class WhyView(TypedDict):
    """
    Why something waits: the rule, the amounts, and who holds what is missing.
    """

    rule: str
    """
    The rule that keeps it: `capacity`, `not_lent`, `limit`, `no_borrowing`, `persons_cap`, `named_limit`, `apart`, `behind`,
    `cool_down`, `leaving`, `scattered`, `faulty`, `never_fits`, `task_parallelism` or `pipeline_parallelism`.
    """
    pool: str
    """
    The machines that it concerns: `CLUSTER` or `CLUSTER/NODE_GROUP`.
    """
    queue: NotRequired[str | None]
    """
    The project, or the group above it, whose limit or guarantee it is.
    """
    limit: NotRequired[str | None]
    """
    The named limit that is used up.
    """
    shortages: list[ShortageView]
    """
    Of what there is too little.
    """
    faulty: NotRequired[FaultyCardsView | None]
    holders: list[HolderView]
    """
    Who holds it, of the projects that you see: when these and the others that are counted beside them end, it starts.
    Nobody where that would not help. At most 200 of them are told.
    """
    more_holders: int
    """
    How many more there are of these.
    """
    hidden_holders: int
    """
    How many jobs of other projects hold it, too.
    """
    ahead: int
    """
    How many are before it: jobs of the same pool; of `task_parallelism` instances of its task, of `pipeline_parallelism`
    jobs of its run.
    """
    parallelism: NotRequired[int | None]
    """
    How many may go on at once, where parallelism is the rule.
    """
    active: NotRequired[int | None]
    """
    How many of them are under way: they run, or wait for a place.
    """
    behind: NotRequired[HeadView | None]


class WorkerView(TypedDict):
    """
    One worker of an attempt.
    """

    name: str
    """
    Its name, `<role>-<index>`.
    """
    rank: int
    """
    Its rank over all roles.
    """
    address: NotRequired[str | None]
    """
    Where it listens, while it runs on this machine.
    """
    gpus: NotRequired[list[str]]
    """
    The graphics cards that it has, by UUID.
    """
    given_back: NotRequired[bool]
    """
    Whether the job has given it back.
    """


class AdviceView(TypedDict):
    """
    A piece of advice.
    """

    rule: str
    """
    The rule: `held_idle`, `cpu_saturated`, `io_wait`, `regular_dips`, `memory_empty`, `straggler` or `far_from_peers`.
    """
    run: str
    """
    The run whose task it is about.
    """
    task: str
    """
    The task that it is about.
    """
    workers: NotRequired[list[str]]
    """
    The workers that it is about; empty where it is about a card.
    """
    evidence: str
    """
    What was seen.
    """
    remedies: list[RemedyView]
    """
    What to change, the first first.
    """


class ArtifactView(TypedDict):
    """
    A file worth showing.
    """

    task: str
    """
    The task.
    """
    instance: int
    """
    The instance.
    """
    name: str
    """
    What it is called.
    """
    path: str
    """
    Where it lies, below the run's folder.
    """
    size: NotRequired[int | None]
    """
    Its length in bytes; absent when the file is not there.
    """
    content_type: str
    """
    The type of its content, by its name.
    """
    preview: str
    """
    How it can be shown: `image`, `text`, `csv`, `json`, `html`, `directory` or `none`.
    """
    pixels: NotRequired[Pixels | None]


class AsideFailureView(TypedDict):
    """
    An attempt that failed through its node.
    """

    at: str
    """
    When.
    """
    message: str
    """
    How, as a sentence.
    """
    run: NotRequired[str | None]
    """
    Its run, where you may see it.
    """
    task: NotRequired[str | None]
    """
    Its task, where you may see it.
    """


class AsideView(TypedDict):
    """
    A node to which no job goes.
    """

    node: str
    """
    Its name.
    """
    since: str
    """
    Since when.
    """
    why: str
    """
    Why, as a sentence.
    """
    user: NotRequired[str | None]
    """
    Who has set it aside, where it was a person.
    """
    note: NotRequired[str | None]
    """
    What they say of it.
    """
    failures: NotRequired[list[AsideFailureView]]
    """
    The attempts that failed through it, the newest last.
    """
    offered: bool
    """
    Whether it has been aside for so long that it may be tried again.
    """


class AuditView(TypedDict):
    """
    One change.
    """

    id: str
    """
    The id; later entries have greater ones.
    """
    at: str
    """
    When.
    """
    user: str
    """
    The name of who did it.
    """
    via: str
    """
    By what: `session`, `token <name>`, `hook <name>`, `command line`, `run` or `server`.
    """
    address: str
    """
    From which address; empty on the server's own machine.
    """
    project: NotRequired[str | None]
    """
    In which project, when in one.
    """
    action: str
    """
    What was done, `<thing>.<verb>`.
    """
    subject: str
    """
    To what: a name or an id.
    """
    before: NotRequired[Any]
    """
    How it was.
    """
    after: NotRequired[Any]
    """
    How it is since.
    """


class BackfillView(TypedDict):
    """
    A back-fill.
    """

    id: str
    """
    Its id.
    """
    project: str
    """
    The project.
    """
    pipeline: str
    """
    The pipeline.
    """
    first: str
    """
    The first moment.
    """
    last: str
    """
    The last moment.
    """
    parallelism: int
    """
    How many of its runs may go on at the same time.
    """
    state: str
    """
    `running`, `done` or `cancelled`.
    """
    total: int
    """
    How many dates it took up.
    """
    due: int
    """
    Of these, those still to start.
    """
    running: int
    """
    Those whose run goes on.
    """
    succeeded: int
    """
    Those whose run has succeeded.
    """
    failed: int
    """
    Those whose run failed, was cancelled, or could not be started.
    """
    cancelled: int
    """
    Those that did not start because it was cancelled.
    """
    created_by: str
    """
    The name of who wants it.
    """
    created_at: str
    """
    Since when.
    """
    cancelled_by: NotRequired[str | None]
    """
    Who cancelled it.
    """
    cancelled_at: NotRequired[str | None]


class CardHistoryView(TypedDict):
    """
    Values over time.
    """

    start: float
    """
    The moment of the first values, in seconds since the epoch.
    """
    step: float
    """
    Seconds between two values.
    """
    series: list[CardSeriesView]
    """
    Each measure that there is.
    """


class CardHolderView(TypedDict):
    """
    An attempt that holds a card.
    """

    run: str
    """
    The run.
    """
    project: str
    """
    Its project.
    """
    pipeline: str
    """
    Its pipeline.
    """
    task: str
    """
    The task.
    """
    instance: int
    """
    The instance.
    """
    attempt: int
    """
    The attempt.
    """
    user: str
    """
    Who started the run.
    """
    since: NotRequired[str | None]


class ChannelChange(TypedDict):
    """
    What changes; what is absent stays.
    """

    name: NotRequired[str | None]
    """
    What it is called.
    """
    address: NotRequired[str | None]
    """
    Where it sends to.
    """
    secret: NotRequired[str | None]
    """
    What messages are signed with; an empty one for not at all.
    """
    rules: NotRequired[RulesView | None]
    enabled: NotRequired[bool | None]
    """
    Whether it is used. What a channel has still to send is given up when it is switched off.
    """


class ChannelView(TypedDict):
    """
    A way by which alerts of the project reach people.
    """

    id: str
    """
    Its id.
    """
    name: str
    """
    What it is called.
    """
    kind: str
    """
    `webhook`, `slack`, `feishu`, `dingtalk`, `wecom` or `email`.
    """
    address: str
    """
    Where it sends to, without what lets others send there, too.
    """
    signed: bool
    """
    Whether its messages are signed.
    """
    rules: RulesView
    """
    What it tells, and how.
    """
    enabled: bool
    """
    Whether it is used.
    """
    created_by: str
    """
    Who made it.
    """
    created_at: str
    """
    Since when there is one.
    """
    revision: int
    """
    Counts its changes.
    """


class CheckedView(TypedDict):
    """
    What can be said about a document.
    """

    valid: bool
    """
    Whether it could run here, given values for parameters without a default.
    """
    problems: list[ProblemView]
    """
    Everything that is wrong or suspicious, in the order of the text.
    """
    name: NotRequired[str | None]
    """
    The pipeline's name, when its form is right.
    """
    parameters: NotRequired[dict[str, Any]]
    """
    Its parameters, when its form is right.
    """
    tasks: NotRequired[list[CheckedTask] | None]
    """
    Its tasks and what each needs, when its form is right.
    """


class ClusterBody(TypedDict):
    """
    What is said of a cluster: of a Slurm cluster `slurm` alone, else the rest. `{project}` in `namespace` and `workspace_path` stands for a project's name.
    """

    description: NotRequired[str]
    """
    What it is for.
    """
    access: Literal['in_cluster', 'kubeconfig', 'slurm']
    """
    How it is reached.
    """
    slurm: NotRequired[dict[str, Any] | None]
    """
    What a Slurm cluster has (`facts`), and as whom its jobs run (`way`): docs/slurm.md.
    """
    context: NotRequired[str | None]
    """
    The kubeconfig's context; its current one when absent.
    """
    namespace: NotRequired[str]
    """
    The namespace of a project's jobs.
    """
    service_account: NotRequired[str]
    """
    The service account of their pods. It needs no right.
    """
    spark_account: NotRequired[str | None]
    """
    The service account of Spark's drivers, which may make pods there; without one they start no executors.
    """
    workspace_claim: NotRequired[str]
    """
    The claim, in the namespace, that holds workspaces. This server must see the same files.
    """
    workspace_path: NotRequired[str]
    """
    The folder of the claim that is the project's workspace; empty for the whole claim.
    """
    uid: NotRequired[int]
    """
    The uid and gid of workers; not 0.
    """
    pull_secrets: NotRequired[list[str]]
    """
    Secrets, in the namespace, that images are pulled with.
    """
    operators_gang: NotRequired[bool]
    """
    Whether the operators there were started with Volcano's gang scheduling.
    """
    volcano_queue: NotRequired[str]
    """
    Volcano's queue for the jobs, where Volcano is.
    """
    kueue_queue: NotRequired[str | None]
    """
    Kueue's local queue for the jobs; Kueue is used where it is named and Volcano is not there.
    """
    kai_queue: NotRequired[str | None]
    """
    KAI-Scheduler's queue for pods with a part of a graphics card, `{project}` in it for the project's name; it shares cards
    where it is there, named here, and Volcano is not.
    """
    priority_class: NotRequired[str | None]
    """
    The priority class of the jobs.
    """
    host_network: NotRequired[bool]
    """
    Whether pods may use the nodes' own network.
    """
    node_groups: NotRequired[dict[str, NodeGroupBody]]
    """
    Node groups that a placement may name.
    """
    keep_seconds: NotRequired[int]
    """
    How long the objects of a job that has ended are kept, in seconds.
    """
    patience_seconds: NotRequired[int]
    """
    How long a pod may wait for what does not come by itself (an image, a volume, a Secret), in seconds.
    """
    prometheus: NotRequired[str | None]
    """
    The Prometheus that holds the cluster's measurements: `http://prometheus.monitoring:9090`.
    """
    prometheus_user: NotRequired[str | None]
    """
    The name that Prometheus wants with a password; without one it gets a bearer token, where one is kept.
    """
    prometheus_labels: NotRequired[dict[str, str]]
    """
    Labels that the cluster's series have there, where it holds those of several clusters.
    """
    grafana: NotRequired[str | None]
    """
    A page of Grafana's about the cluster.
    """


class ClusterChange(ClusterBody):
    """
    What a cluster becomes.
    """

    kubeconfig: NotRequired[str | None]
    """
    Another kubeconfig; the present one stays when it is left out.
    """
    prometheus_secret: NotRequired[str | None]
    """
    Another password or token for Prometheus; the present one stays when it is left out, and goes when it is empty.
    """


class ClusterCheck(TypedDict):
    """
    What a cluster offers to a project's jobs, and what is missing.
    """

    version: NotRequired[str | None]
    """
    Its own version; absent when it did not answer.
    """
    error: NotRequired[str | None]
    """
    Why it did not answer.
    """
    parts: list[PartView]
    """
    What is installed there.
    """
    frameworks: list[FrameworkView]
    """
    What becomes of the tasks of each framework.
    """
    exporters: list[ExporterView]
    """
    What measures it; empty where no Prometheus is named.
    """
    problems: list[str]
    """
    What keeps jobs of the project from running, each with what to do.
    """


class CodeFolder(TypedDict):
    """
    A folder of code that a project has.
    """

    digest: str
    """
    Its digest.
    """
    files: int
    """
    How many files it holds.
    """
    bytes: int
    """
    How large they are together, in bytes.
    """
    sent_at: str
    """
    When it was last sent, or a version or run began to name it.
    """
    removed_at: NotRequired[str | None]


class CodeFolders(TypedDict):
    """
    The folders of code that a project has.
    """

    folders: int
    """
    How many there are, on all pages.
    """
    bytes: int
    """
    How large they are together, in bytes.
    """
    items: list[CodeFolder]
    """
    The folders of this page, by digest.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class CompiledTaskView(TypedDict):
    """
    A compiled task.
    """

    task: str
    """
    Its name.
    """
    needs: list[str]
    """
    The tasks before it.
    """
    template: str
    """
    `name@version`.
    """
    framework: str
    """
    How its workers learn who they are.
    """
    roles: list[RoleView]
    """
    Its workers and what each gets.
    """
    gang: int
    """
    How many workers must start together.
    """
    instances: NotRequired[int | None]
    """
    How many instances it has; absent when earlier tasks decide that.
    """
    jobs: Any
    """
    The jobs of its first instances, at most 20, as the cluster would be given them; a sentence instead when they are
    known only later, or the cluster would not take them.
    """


class CompiledView(TypedDict):
    """
    A compiled document.
    """

    run: dict[str, Any]
    """
    What the run would be: an id that is not used, project, person, date.
    """
    pipeline: str
    """
    The pipeline's name.
    """
    cluster: str
    """
    The cluster that it would run on.
    """
    parameters: dict[str, Any]
    """
    The values of its parameters, defaults included.
    """
    tasks: list[CompiledTaskView]
    """
    Its tasks, in the document's order.
    """
    warnings: list[ProblemView]
    """
    What runs, and probably not as meant.
    """


class CreatedToken(TokenView):
    """
    A new token.
    """

    token: str
    """
    The token itself, shown only now: `Authorization: Bearer <token>`.
    """


class CreatedUser(UserView):
    """
    A new account.
    """

    link: NotRequired[str | None]
    """
    The one-time link with which they set a password, when none was given; shown only now.
    """


class DateView(TypedDict):
    """
    What became of one date.
    """

    project: str
    """
    The project.
    """
    pipeline: str
    """
    The pipeline.
    """
    date: str
    """
    The logical date.
    """
    state: str
    """
    `coming`, `due` (its run is to start), `started`, `missed`, `skipped`, `refused`, `failed` or `cancelled`.
    """
    trigger: str
    """
    What asked for it: `schedule`, `pipeline` (the end of a run of another one), `file`, `backfill` or `person`.
    """
    user: str
    """
    In whose name it runs.
    """
    why: NotRequired[str | None]
    """
    Why it waits or has no run, as a word: `past_underway`, `past_failed`, `running`, `paused`, `missed`,
    `there_before` (its file was there before it was waited for), `user_no_reader`,
    `user_gone`, `user_disabled`, `user_no_editor`, `invalid`, `unavailable`, `backfill_cancelled` or
    `pipeline_deleted`.
    """
    detail: NotRequired[str | None]
    """
    More of that, in words.
    """
    run: NotRequired[str | None]
    """
    The run, while there is one.
    """
    run_state: NotRequired[str | None]
    """
    Its state.
    """
    late: bool
    """
    Whether it has not succeeded when it should have.
    """
    backfill: NotRequired[str | None]
    """
    The back-fill that it belongs to.
    """
    after_run: NotRequired[str | None]
    """
    The run of another pipeline whose end fired it.
    """
    file: NotRequired[str | None]
    """
    The path of the file whose arrival fired it.
    """


class DeliveryView(TypedDict):
    """
    A message and what became of it.
    """

    id: str
    """
    Its id, which receivers get, too.
    """
    channel: str
    """
    The channel; of a mail to the person whose run it is, that person's id.
    """
    kind: str
    """
    The kind of event.
    """
    pipeline: NotRequired[str | None]
    """
    The pipeline that it is about.
    """
    run: NotRequired[str | None]
    """
    The run.
    """
    task: NotRequired[str | None]
    """
    The task.
    """
    user: NotRequired[str | None]
    """
    Whose run it is.
    """
    state: str
    """
    `waiting`, `sent` or `failed`.
    """
    created_at: str
    """
    When what it tells happened.
    """
    due_at: NotRequired[str | None]
    tries: int
    """
    How often it was tried.
    """
    ended_at: NotRequired[str | None]
    answer: NotRequired[str | None]
    """
    What the receiver said last, or why it could not be asked.
    """


class EarlierView(TypedDict):
    """
    How many workers an attempt had for a while.
    """

    workers: int
    """
    How many.
    """
    until: str
    """
    Until when.
    """


class EditBody(TypedDict):
    """
    What would become of a queue.
    """

    kind: Literal['group', 'project']
    """
    Of a group or a project.
    """
    name: str
    """
    Its name.
    """
    parent: NotRequired[str | None]
    """
    The group that it would be in.
    """
    quotas: NotRequired[dict[str, QuotaBody]]
    """
    What it would have of each pool.
    """
    delete: NotRequired[bool]
    """
    It would be taken away.
    """
    revision: NotRequired[int | None]
    """
    The revision that is changed, 0 where nothing was said yet. A preview does without it.
    """


class EffectiveView(TypedDict):
    """
    What the time of a task, or of all tasks of a run together, went to, from when each was ready until it ended.
    """

    share: float
    """
    Useful time of all time, from 0 to 1.
    """
    seconds: float
    """
    All time, in seconds: that of all instances together.
    """
    parts: list[TimePartView]
    """
    The parts of it that there are; they add up to all of it.
    """
    attempts: int
    """
    How many attempts ran.
    """
    attempts_with_steps: int
    """
    Of how many of them steps were reported. The time of the others counts as useful unless they failed.
    """


class EntryView(TypedDict):
    """
    Something in a folder.
    """

    name: str
    """
    Its name.
    """
    kind: str
    """
    `folder`, `file`, or `other` for what is not opened: devices, pipes, links that lead out.
    """
    link: bool
    """
    Whether it is a link.
    """
    size: int
    """
    Its length in bytes; 0 of a folder.
    """
    modified_at: NotRequired[str | None]


class Example(TypedDict):
    """
    A pipeline that shows how a template is used.
    """

    document: str
    """
    The document.
    """
    program: NotRequired[Program | None]


class ExportView(TypedDict):
    """
    A pipeline as a file.
    """

    format: Literal['yaml', 'json', 'argo']
    """
    Its form.
    """
    document: str
    """
    The text.
    """
    report: list[str]
    """
    What it could not say: a sentence each.
    """


class FiredView(TypedDict):
    """
    A run that a hook has started.
    """

    run: str
    """
    The run's id.
    """
    warnings: list[ProblemView]
    """
    What runs, and probably not as meant.
    """


class GraphView(TypedDict):
    """
    A run as a graph: which task needs which.
    """

    nodes: list[NodeView]
    """
    The tasks, in the document's order.
    """
    edges: list[EdgeView]
    """
    Which comes before which.
    """


class HangView(TypedDict):
    """
    That an attempt hangs, or did: it reported no step for longer than its own pattern explains.
    """

    message: str
    """
    Why: a sentence.
    """
    rank: int
    """
    The rank that had reported no step for the longest time.
    """
    since: str
    """
    When it last did.
    """
    seen_at: str
    """
    When that was seen to be too long.
    """
    over_at: NotRequired[str | None]
    stacks: NotRequired[list[StackView]]
    """
    What its workers were at when it was seen; told with the attempts of one instance only, and where their cluster can look.
    """


class HistoryView(TypedDict):
    """
    An attempt of an earlier or this run.
    """

    run: str
    """
    The attempt's run.
    """
    instance: int
    """
    The instance.
    """
    attempt: int
    """
    The attempt.
    """
    outcome: str
    """
    `succeeded`, `failed` or `cancelled`.
    """
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    run_seconds: NotRequired[float | None]
    """
    How long it ran.
    """
    cpu: float
    """
    Processing power that it had, in cores.
    """
    memory: int
    """
    Memory that it had, in bytes.
    """
    usage: UsageView
    """
    What it used.
    """


class HoldsView(TypedDict):
    """
    What a person holds for a project on a cluster.
    """

    cluster: str
    """
    The cluster.
    """
    project: NotRequired[str | None]
    """
    The project; absent where all projects are told of together that the caller is no member of.
    """
    user: NotRequired[str | None]
    """
    Who started the runs; absent there, too.
    """
    attempts: int
    """
    How many attempts hold it.
    """
    requested: AmountView
    """
    What they have asked for.
    """
    since: NotRequired[str | None]
    tasks: NotRequired[list[CardHolderView]]
    """
    The attempts, the newest first; at most 20.
    """


class HookView(TypedDict):
    """
    A URL that starts a pipeline.
    """

    id: str
    """
    Its id.
    """
    pipeline: str
    """
    The pipeline that it starts, in its newest version.
    """
    name: str
    """
    What it is called.
    """
    url: str
    """
    The URL, with its signature: whoever has it can start the pipeline.
    """
    parameters: dict[str, Any]
    """
    Parameters of the runs that it starts; what the caller sends goes over them.
    """
    created_by: str
    """
    The name of who made it: its runs are theirs.
    """
    created_at: str
    """
    Since when there is one.
    """
    used_at: NotRequired[str | None]
    revision: int
    """
    Counts its changes, from 1: its ETag. Every change makes a new URL.
    """


class Hunk(TypedDict):
    """
    Some lines that follow each other.
    """

    kind: Literal['equal', 'removed', 'added']
    """
    Where they are.
    """
    text: str
    """
    The lines, as they are.
    """
    old_line: int
    """
    The number of the first line in the old text, from 1; for added lines, of the line that follows them.
    """
    new_line: int
    """
    The number of the first line in the new text, from 1; for removed lines, of the line that follows them.
    """


class ImportView(TypedDict):
    """
    What became of the files. Nothing is stored.
    """

    documents: list[ImportedView]
    """
    The documents that were made.
    """
    report: list[ImportLine]
    """
    What could not be carried over as it was.
    """


class JobView(TypedDict):
    """
    A job that runs or waits.
    """

    run: str
    """
    Its run.
    """
    project: str
    """
    Its project.
    """
    pipeline: str
    """
    Its pipeline.
    """
    task: str
    """
    Its task.
    """
    instance: int
    """
    Its instance.
    """
    user: str
    """
    Who started its run.
    """
    pool: str
    """
    The pool.
    """
    amounts: dict[str, Any]
    """
    What it holds or asks for, as people write it.
    """
    since: str
    """
    Since when it holds it, or waits.
    """


class LimitView(TypedDict):
    """
    A limit.
    """

    name: str
    """
    The name by which tasks have it.
    """
    at_once: NotRequired[int | None]
    """
    How many jobs may hold it at once; absent: any number.
    """
    a_minute: NotRequired[int | None]
    """
    How many may be started with it in a minute; absent: any number.
    """
    description: NotRequired[str | None]
    """
    What it protects.
    """
    held: int
    """
    How many jobs hold it now, of all projects and on all clusters.
    """
    started: int
    """
    How many were started with it within the last minute.
    """
    waiting: int
    """
    How many wait and name it, of the thousand that have waited longest.
    """
    holders: list[JobView]
    """
    Who holds it: the newest twenty that you may see.
    """
    revision: int
    """
    Counts its changes; its ETag.
    """


class LimitsView(TypedDict):
    """
    All limits.
    """

    items: list[LimitView]
    """
    Them, by name.
    """
    missing: NotRequired[list[MissingLimitView]]
    """
    Names that tasks have and no limit has: they hold nothing back. Administrators see them.
    """


class LineTime(TypedDict):
    """
    From a line on, up to where the next one of these begins, all lines came at this time.
    """

    line: int
    """
    The line in the text, from 0.
    """
    at: str
    """
    When it came.
    """


class LinkView(TypedDict):
    """
    A link that was not used yet, without its secret.
    """

    id: str
    """
    The id.
    """
    kind: str
    """
    `first`, `invite` or `reset`.
    """
    note: str
    """
    Whom it is for, as its maker noted; of a new password, the person's name.
    """
    project: NotRequired[str | None]
    """
    The project that whoever uses it becomes a member of.
    """
    role: NotRequired[str | None]
    """
    What they may do there.
    """
    admin: bool
    """
    Whether whoever uses it administers the whole platform.
    """
    created_by: str
    """
    The name of who made it.
    """
    created_at: str
    """
    Since when.
    """
    expires_at: str
    """
    Until when.
    """


class LogChunk(TypedDict):
    """
    A piece of one stream: whole lines, but where a line is longer than 64 KiB or has not ended for a second.
    """

    worker: str
    """
    The worker.
    """
    stream: str
    """
    `stdout` or `stderr`.
    """
    offset: int
    """
    Where it begins in the stream, in bytes.
    """
    text: str
    """
    The text, line ends included; what is not UTF-8 shows as U+FFFD.
    """
    times: NotRequired[list[LineTime]]
    """
    When its lines came, each to about a tenth of a second while the worker speaks, a second after a silence. Absent of
    logs that were written before there were times.
    """


class LogText(TypedDict):
    """
    A part of the logs.
    """

    attempt: int
    """
    The attempt that is meant.
    """
    chunks: list[LogChunk]
    """
    Pieces of streams, in the order in which they are to be read.
    """
    cursor: str
    """
    Where to go on: `cursor` of the next question, or `Last-Event-ID` of the stream of events.
    """
    ended: bool
    """
    Whether that was all, and nothing will be added.
    """


class LookView(TypedDict):
    """
    What came of looking for files.
    """

    looked_at: NotRequired[str | None]
    tried_at: NotRequired[str | None]
    next_at: NotRequired[str | None]
    failures: int
    """
    How often it has not answered since it last did: the waits grow.
    """
    error: NotRequired[str | None]
    """
    What went wrong last.
    """


class ManyResults(TypedDict):
    """
    What came of each of several runs.
    """

    results: list[OneResult]
    """
    One for each run that was come to, in the order in which they were named.
    """
    left: NotRequired[list[str]]
    """
    The others, in that order: nothing was done with them yet.
    """


class MeView(TypedDict):
    """
    You, and what you came with.
    """

    user: UserView
    """
    Your account.
    """
    via: str
    """
    `session` or `token`.
    """
    scope: str
    """
    What it may be used for: `read`, `run`, `write` or `admin`.
    """
    project: NotRequired[str | None]
    """
    The one project that a token is for, if it is for one.
    """


class MemberView(TypedDict):
    """
    Somebody's place in a project.
    """

    user_id: str
    """
    The person's id.
    """
    user: str
    """
    The name that they sign in with.
    """
    display_name: str
    """
    What they are called.
    """
    disabled: bool
    """
    Whether they may not sign in any more.
    """
    role: str
    """
    `viewer`, `editor` or `owner`.
    """
    created_at: str
    """
    Since when they are a member.
    """
    revision: int
    """
    Counts the changes of their place, from 1: its ETag.
    """


class MetricPair(TypedDict):
    """
    A metric on both sides.
    """

    name: str
    """
    Its name.
    """
    task: str
    """
    The task.
    """
    instance: int
    """
    The instance.
    """
    left: NotRequired[SeriesView | None]
    right: NotRequired[SeriesView | None]


class MetricsView(TypedDict):
    """
    Series by name.
    """

    series: list[SeriesView]
    """
    The series, by name, task and instance.
    """
    truncated: bool
    """
    Whether there are more series than are sent: ask for one task or name.
    """


class ModelVersionView(TypedDict):
    """
    A version of a model; it never changes, but for the aliases that stand for it.
    """

    model: str
    """
    The model.
    """
    version: int
    """
    The version, from 1; a number is given once, also when its version is deleted.
    """
    aliases: list[str]
    """
    The aliases that stand for it now.
    """
    path: str
    """
    The folder that it lies in, in the volume `workspace`.
    """
    format: NotRequired[str | None]
    """
    What kind of file it is: `onnx`, `pytorch`, ...
    """
    digest: NotRequired[str | None]
    """
    A digest of its content, such as `sha256:...`.
    """
    size: NotRequired[int | None]
    """
    How large it is, in bytes.
    """
    metrics: dict[str, float]
    """
    How good it is.
    """
    parameters: dict[str, Any]
    """
    What it was trained with.
    """
    data: list[str]
    """
    What it was trained on: paths, URLs, digests.
    """
    description: str
    """
    What its program said of it.
    """
    run: str
    """
    The run that made it; it may have been deleted since.
    """
    task: str
    """
    The task.
    """
    instance: int
    """
    The instance.
    """
    attempt: int
    """
    The attempt.
    """
    pipeline: str
    """
    The pipeline of the run.
    """
    pipeline_version: NotRequired[int | None]
    """
    Its version, of a pipeline that is stored.
    """
    code: NotRequired[str | None]
    """
    The digest of the pipeline's folder.
    """
    user: str
    """
    Who started the run, or last wanted it to go on.
    """
    created_at: str
    """
    When it was registered.
    """


class ModelView(TypedDict):
    """
    A model.
    """

    name: str
    """
    Its name.
    """
    description: str
    """
    What it is for.
    """
    aliases: dict[str, int]
    """
    Which version each alias stands for.
    """
    versions: int
    """
    How many versions it has.
    """
    newest: NotRequired[ModelVersionView | None]
    created_at: str
    """
    Since when there is one.
    """
    updated_at: str
    """
    When it was last changed, or a version was registered.
    """
    revision: int
    """
    Counts its changes; in quotes it is the ETag.
    """


class MonitoredCardView(TypedDict):
    """
    A graphics card.
    """

    uuid: str
    """
    Its UUID.
    """
    index: NotRequired[int | None]
    """
    Its number on its node.
    """
    model: str
    """
    Its product name.
    """
    state: str
    """
    `busy`, `idle`, `free`, `fragment`, `faulty` or `away`.
    """
    usage: NotRequired[float | None]
    """
    The share of time in which it works, from 0 to 1.
    """
    recent_usage: NotRequired[float | None]
    """
    The mean of that over the last 15 minutes.
    """
    tensor: NotRequired[float | None]
    """
    The share of time in which its tensor cores work, from 0 to 1.
    """
    memory_used: NotRequired[float | None]
    """
    Used memory, in bytes.
    """
    memory_total: NotRequired[float | None]
    """
    Its memory, in bytes.
    """
    temperature: NotRequired[float | None]
    """
    In degrees Celsius.
    """
    power: NotRequired[float | None]
    """
    In watts.
    """
    power_limit: NotRequired[float | None]
    """
    What it may draw at most, in watts.
    """
    nvlink: NotRequired[float | None]
    """
    What goes through its NVLinks, in bytes a second.
    """
    xid: NotRequired[int | None]
    """
    The last XID error that the driver reported.
    """
    holders: NotRequired[list[CardHolderView]]
    """
    Who holds it, of projects that the caller is a member of.
    """
    others: int
    """
    How many others hold it.
    """


class MonitoredNodeView(TypedDict):
    """
    A node with its cards.
    """

    name: str
    """
    Its name.
    """
    groups: NotRequired[list[str]]
    """
    Those of the cluster's node groups that it is of.
    """
    cpu: LevelsView
    """
    Processing power, in cores.
    """
    memory: LevelsView
    """
    Memory, in bytes.
    """
    gpus: LevelsView
    """
    Graphics cards.
    """
    cards: list[MonitoredCardView]
    """
    Its cards, by their number.
    """
    links: NotRequired[list[LinksView]]
    """
    Links between them, direct ones and those through switches, where they are known.
    """


class MonitoringView(TypedDict):
    """
    A cluster as a whole.
    """

    cluster: str
    """
    Its name.
    """
    at: str
    """
    When it was looked at.
    """
    source: str
    """
    Who measures: `machine` (the server's own), `prometheus`, `cluster` (the metrics API of Kubernetes alone: no cards), or
    `none`.
    """
    grafana: NotRequired[str | None]
    """
    A page of Grafana's about it.
    """
    nodes: int
    """
    How many nodes it has.
    """
    cpu: LevelsView
    """
    Processing power, in cores.
    """
    memory: LevelsView
    """
    Memory, in bytes.
    """
    gpus: LevelsView
    """
    Graphics cards. Their use is the sum of the shares of time in which they work.
    """
    cards: dict[str, int]
    """
    How many cards are in each state: `busy`, `idle` (held, and doing nothing), `free`, `fragment` (free, while others of
    its node are held), `faulty`, `away`.
    """
    projects: list[ProjectUseView]
    """
    The projects that hold something there and that the caller is a member of.
    """
    others: NotRequired[ProjectUseView | None]
    problems: list[str]
    """
    What could not be read or is not to be trusted, each as a sentence.
    """


class NewChannel(TypedDict):
    """
    A channel that is to be.
    """

    name: str
    """
    What it is called.
    """
    kind: str
    """
    `webhook`, `slack`, `feishu`, `dingtalk`, `wecom` or `email`.
    """
    address: str
    """
    A URL; for e-mail addresses, separated by commas. It is stored encrypted and not shown whole again.
    """
    secret: NotRequired[str]
    """
    What messages are signed with, where the kind signs any: `webhook`, `feishu`, `dingtalk`.
    """
    rules: RulesView
    """
    What it tells, and how.
    """


class NewCluster(ClusterBody):
    """
    A cluster that is to be.
    """

    name: str
    """
    What it is called here: lower-case letters, digits and `-`, at most 63. Pipelines name it.
    """
    kubeconfig: NotRequired[str | None]
    """
    The kubeconfig's text; it is kept encrypted and never returned.
    """
    prometheus_secret: NotRequired[str | None]
    """
    The password that goes with `prometheus_user`, or without one the bearer token that Prometheus wants; it is kept
    encrypted and never returned.
    """


class NewVolume(TypedDict):
    """
    A volume that is to be.
    """

    name: str
    """
    The name that tasks use: lower-case letters, digits and `-`, at most 63.
    """
    description: NotRequired[str]
    """
    What it is for.
    """
    place: VolumePlace1 | VolumePlace2 | VolumePlace3 | VolumePlace4
    """
    Where it is.
    """


class NoticeView(TypedDict):
    """
    Something that the cluster told of an attempt: why a worker waits, what could not be mounted, where one was placed.
    """

    at: str
    """
    When it was last told.
    """
    of: str
    """
    The object on the cluster, `Pod/cl-train-...`.
    """
    warning: bool
    """
    Whether it is a warning.
    """
    reason: str
    """
    A word, e.g. `FailedMount`.
    """
    message: str
    """
    A sentence, in the cluster's words.
    """


class Item(TypedDict):
    """
    A file worth showing.
    """

    task: str
    """
    The task.
    """
    instance: int
    """
    The instance.
    """
    name: str
    """
    What it is called.
    """
    path: str
    """
    Where it lies, below the run's folder.
    """
    size: NotRequired[int | None]
    """
    Its length in bytes; absent when the file is not there.
    """
    content_type: str
    """
    The type of its content, by its name.
    """
    preview: str
    """
    How it can be shown: `image`, `text`, `csv`, `json`, `html`, `directory` or `none`.
    """
    pixels: NotRequired[Pixels | None]


class PageArtifactView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item2(TypedDict):
    """
    One change.
    """

    id: str
    """
    The id; later entries have greater ones.
    """
    at: str
    """
    When.
    """
    user: str
    """
    The name of who did it.
    """
    via: str
    """
    By what: `session`, `token <name>`, `hook <name>`, `command line`, `run` or `server`.
    """
    address: str
    """
    From which address; empty on the server's own machine.
    """
    project: NotRequired[str | None]
    """
    In which project, when in one.
    """
    action: str
    """
    What was done, `<thing>.<verb>`.
    """
    subject: str
    """
    To what: a name or an id.
    """
    before: NotRequired[Any]
    """
    How it was.
    """
    after: NotRequired[Any]
    """
    How it is since.
    """


class PageAuditView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item2]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item3(TypedDict):
    """
    A back-fill.
    """

    id: str
    """
    Its id.
    """
    project: str
    """
    The project.
    """
    pipeline: str
    """
    The pipeline.
    """
    first: str
    """
    The first moment.
    """
    last: str
    """
    The last moment.
    """
    parallelism: int
    """
    How many of its runs may go on at the same time.
    """
    state: str
    """
    `running`, `done` or `cancelled`.
    """
    total: int
    """
    How many dates it took up.
    """
    due: int
    """
    Of these, those still to start.
    """
    running: int
    """
    Those whose run goes on.
    """
    succeeded: int
    """
    Those whose run has succeeded.
    """
    failed: int
    """
    Those whose run failed, was cancelled, or could not be started.
    """
    cancelled: int
    """
    Those that did not start because it was cancelled.
    """
    created_by: str
    """
    The name of who wants it.
    """
    created_at: str
    """
    Since when.
    """
    cancelled_by: NotRequired[str | None]
    """
    Who cancelled it.
    """
    cancelled_at: NotRequired[str | None]


class PageBackfillView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item3]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item5(TypedDict):
    """
    A way by which alerts of the project reach people.
    """

    id: str
    """
    Its id.
    """
    name: str
    """
    What it is called.
    """
    kind: str
    """
    `webhook`, `slack`, `feishu`, `dingtalk`, `wecom` or `email`.
    """
    address: str
    """
    Where it sends to, without what lets others send there, too.
    """
    signed: bool
    """
    Whether its messages are signed.
    """
    rules: RulesView
    """
    What it tells, and how.
    """
    enabled: bool
    """
    Whether it is used.
    """
    created_by: str
    """
    Who made it.
    """
    created_at: str
    """
    Since when there is one.
    """
    revision: int
    """
    Counts its changes.
    """


class PageChannelView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item5]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item7(TypedDict):
    """
    What became of one date.
    """

    project: str
    """
    The project.
    """
    pipeline: str
    """
    The pipeline.
    """
    date: str
    """
    The logical date.
    """
    state: str
    """
    `coming`, `due` (its run is to start), `started`, `missed`, `skipped`, `refused`, `failed` or `cancelled`.
    """
    trigger: str
    """
    What asked for it: `schedule`, `pipeline` (the end of a run of another one), `file`, `backfill` or `person`.
    """
    user: str
    """
    In whose name it runs.
    """
    why: NotRequired[str | None]
    """
    Why it waits or has no run, as a word: `past_underway`, `past_failed`, `running`, `paused`, `missed`,
    `there_before` (its file was there before it was waited for), `user_no_reader`,
    `user_gone`, `user_disabled`, `user_no_editor`, `invalid`, `unavailable`, `backfill_cancelled` or
    `pipeline_deleted`.
    """
    detail: NotRequired[str | None]
    """
    More of that, in words.
    """
    run: NotRequired[str | None]
    """
    The run, while there is one.
    """
    run_state: NotRequired[str | None]
    """
    Its state.
    """
    late: bool
    """
    Whether it has not succeeded when it should have.
    """
    backfill: NotRequired[str | None]
    """
    The back-fill that it belongs to.
    """
    after_run: NotRequired[str | None]
    """
    The run of another pipeline whose end fired it.
    """
    file: NotRequired[str | None]
    """
    The path of the file whose arrival fired it.
    """


class PageDateView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item7]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item8(TypedDict):
    """
    A message and what became of it.
    """

    id: str
    """
    Its id, which receivers get, too.
    """
    channel: str
    """
    The channel; of a mail to the person whose run it is, that person's id.
    """
    kind: str
    """
    The kind of event.
    """
    pipeline: NotRequired[str | None]
    """
    The pipeline that it is about.
    """
    run: NotRequired[str | None]
    """
    The run.
    """
    task: NotRequired[str | None]
    """
    The task.
    """
    user: NotRequired[str | None]
    """
    Whose run it is.
    """
    state: str
    """
    `waiting`, `sent` or `failed`.
    """
    created_at: str
    """
    When what it tells happened.
    """
    due_at: NotRequired[str | None]
    tries: int
    """
    How often it was tried.
    """
    ended_at: NotRequired[str | None]
    answer: NotRequired[str | None]
    """
    What the receiver said last, or why it could not be asked.
    """


class PageDeliveryView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item8]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item9(TypedDict):
    """
    Something in a folder.
    """

    name: str
    """
    Its name.
    """
    kind: str
    """
    `folder`, `file`, or `other` for what is not opened: devices, pipes, links that lead out.
    """
    link: bool
    """
    Whether it is a link.
    """
    size: int
    """
    Its length in bytes; 0 of a folder.
    """
    modified_at: NotRequired[str | None]


class PageEntryView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item9]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item10(TypedDict):
    """
    An attempt of an earlier or this run.
    """

    run: str
    """
    The attempt's run.
    """
    instance: int
    """
    The instance.
    """
    attempt: int
    """
    The attempt.
    """
    outcome: str
    """
    `succeeded`, `failed` or `cancelled`.
    """
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    run_seconds: NotRequired[float | None]
    """
    How long it ran.
    """
    cpu: float
    """
    Processing power that it had, in cores.
    """
    memory: int
    """
    Memory that it had, in bytes.
    """
    usage: UsageView
    """
    What it used.
    """


class PageHistoryView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item10]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item11(TypedDict):
    """
    What a person holds for a project on a cluster.
    """

    cluster: str
    """
    The cluster.
    """
    project: NotRequired[str | None]
    """
    The project; absent where all projects are told of together that the caller is no member of.
    """
    user: NotRequired[str | None]
    """
    Who started the runs; absent there, too.
    """
    attempts: int
    """
    How many attempts hold it.
    """
    requested: AmountView
    """
    What they have asked for.
    """
    since: NotRequired[str | None]
    tasks: NotRequired[list[CardHolderView]]
    """
    The attempts, the newest first; at most 20.
    """


class PageHoldsView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item11]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item12(TypedDict):
    """
    A URL that starts a pipeline.
    """

    id: str
    """
    Its id.
    """
    pipeline: str
    """
    The pipeline that it starts, in its newest version.
    """
    name: str
    """
    What it is called.
    """
    url: str
    """
    The URL, with its signature: whoever has it can start the pipeline.
    """
    parameters: dict[str, Any]
    """
    Parameters of the runs that it starts; what the caller sends goes over them.
    """
    created_by: str
    """
    The name of who made it: its runs are theirs.
    """
    created_at: str
    """
    Since when there is one.
    """
    used_at: NotRequired[str | None]
    revision: int
    """
    Counts its changes, from 1: its ETag. Every change makes a new URL.
    """


class PageHookView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item12]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item14(TypedDict):
    """
    A link that was not used yet, without its secret.
    """

    id: str
    """
    The id.
    """
    kind: str
    """
    `first`, `invite` or `reset`.
    """
    note: str
    """
    Whom it is for, as its maker noted; of a new password, the person's name.
    """
    project: NotRequired[str | None]
    """
    The project that whoever uses it becomes a member of.
    """
    role: NotRequired[str | None]
    """
    What they may do there.
    """
    admin: bool
    """
    Whether whoever uses it administers the whole platform.
    """
    created_by: str
    """
    The name of who made it.
    """
    created_at: str
    """
    Since when.
    """
    expires_at: str
    """
    Until when.
    """


class PageLinkView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item14]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item15(TypedDict):
    """
    Somebody's place in a project.
    """

    user_id: str
    """
    The person's id.
    """
    user: str
    """
    The name that they sign in with.
    """
    display_name: str
    """
    What they are called.
    """
    disabled: bool
    """
    Whether they may not sign in any more.
    """
    role: str
    """
    `viewer`, `editor` or `owner`.
    """
    created_at: str
    """
    Since when they are a member.
    """
    revision: int
    """
    Counts the changes of their place, from 1: its ETag.
    """


class PageMemberView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item15]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item16(TypedDict):
    """
    A version of a model; it never changes, but for the aliases that stand for it.
    """

    model: str
    """
    The model.
    """
    version: int
    """
    The version, from 1; a number is given once, also when its version is deleted.
    """
    aliases: list[str]
    """
    The aliases that stand for it now.
    """
    path: str
    """
    The folder that it lies in, in the volume `workspace`.
    """
    format: NotRequired[str | None]
    """
    What kind of file it is: `onnx`, `pytorch`, ...
    """
    digest: NotRequired[str | None]
    """
    A digest of its content, such as `sha256:...`.
    """
    size: NotRequired[int | None]
    """
    How large it is, in bytes.
    """
    metrics: dict[str, float]
    """
    How good it is.
    """
    parameters: dict[str, Any]
    """
    What it was trained with.
    """
    data: list[str]
    """
    What it was trained on: paths, URLs, digests.
    """
    description: str
    """
    What its program said of it.
    """
    run: str
    """
    The run that made it; it may have been deleted since.
    """
    task: str
    """
    The task.
    """
    instance: int
    """
    The instance.
    """
    attempt: int
    """
    The attempt.
    """
    pipeline: str
    """
    The pipeline of the run.
    """
    pipeline_version: NotRequired[int | None]
    """
    Its version, of a pipeline that is stored.
    """
    code: NotRequired[str | None]
    """
    The digest of the pipeline's folder.
    """
    user: str
    """
    Who started the run, or last wanted it to go on.
    """
    created_at: str
    """
    When it was registered.
    """


class PageModelVersionView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item16]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item17(TypedDict):
    """
    A model.
    """

    name: str
    """
    Its name.
    """
    description: str
    """
    What it is for.
    """
    aliases: dict[str, int]
    """
    Which version each alias stands for.
    """
    versions: int
    """
    How many versions it has.
    """
    newest: NotRequired[ModelVersionView | None]
    created_at: str
    """
    Since when there is one.
    """
    updated_at: str
    """
    When it was last changed, or a version was registered.
    """
    revision: int
    """
    Counts its changes; in quotes it is the ETag.
    """


class PageModelView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item17]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item18(TypedDict):
    """
    A node with its cards.
    """

    name: str
    """
    Its name.
    """
    groups: NotRequired[list[str]]
    """
    Those of the cluster's node groups that it is of.
    """
    cpu: LevelsView
    """
    Processing power, in cores.
    """
    memory: LevelsView
    """
    Memory, in bytes.
    """
    gpus: LevelsView
    """
    Graphics cards.
    """
    cards: list[MonitoredCardView]
    """
    Its cards, by their number.
    """
    links: NotRequired[list[LinksView]]
    """
    Links between them, direct ones and those through switches, where they are known.
    """


class PageMonitoredNodeView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item18]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item19(TypedDict):
    """
    Something that the cluster told of an attempt: why a worker waits, what could not be mounted, where one was placed.
    """

    at: str
    """
    When it was last told.
    """
    of: str
    """
    The object on the cluster, `Pod/cl-train-...`.
    """
    warning: bool
    """
    Whether it is a warning.
    """
    reason: str
    """
    A word, e.g. `FailedMount`.
    """
    message: str
    """
    A sentence, in the cluster's words.
    """


class PageNoticeView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item19]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item22(RatesBody):
    """
    A price of a node group, or of a cluster's nodes whose group has none.
    """

    id: str
    """
    Its id.
    """
    cluster: str
    """
    The cluster.
    """
    node_group: NotRequired[str | None]
    """
    The node group; absent for every node whose group has no price of its own.
    """
    valid_from: str
    """
    The first day on which it is valid, UTC, until the next price of the same.
    """
    user: str
    """
    Who entered or changed it last.
    """
    open: bool
    """
    Whether it may still be changed: the statements of the month in which it began have not gone out.
    """
    revision: int
    """
    Counts its changes, from 1: its ETag.
    """


class PagePriceView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item22]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item23(TypedDict):
    """
    A project.
    """

    name: str
    """
    The name: letters, digits and `-`; it never changes.
    """
    label: str
    """
    What it is called.
    """
    description: str
    """
    What it is for.
    """
    role: NotRequired[str | None]
    """
    What you may do in it: `viewer`, `editor` or `owner`; absent for administrators who are no members.
    """
    keeping: KeepingView
    """
    What of its jobs is kept.
    """
    places: PlacesView
    """
    Where its jobs may go.
    """
    sizing: Literal['off', 'advise', 'auto']
    """
    Whether CPU and memory are chosen from real use, for pipelines and tasks that do not say it.
    """
    logs_behind: NotRequired[BehindView | None]
    budget: NotRequired[BudgetStandingView | None]
    created_at: str
    """
    Since when there is one.
    """
    revision: int
    """
    Counts its changes, from 1: its ETag.
    """


class PageProjectView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item23]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item24(TypedDict):
    """
    A change of the tree, or of a named limit.
    """

    id: str
    """
    The id of its entry in the audit log; later changes have greater ones.
    """
    at: str
    """
    When.
    """
    user: str
    """
    The name of who made it.
    """
    queue: str
    """
    Of what: `project/NAME`, `group/NAME` or `limit/NAME`; of several, all of them with blanks between, and `before` and
    `after` have each by its name.
    """
    before: NotRequired[Any]
    """
    How it was; absent for what was new.
    """
    after: NotRequired[Any]
    """
    How it is since; absent for what was taken away.
    """


class PageQuotaChangeView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item24]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item25(TypedDict):
    """
    A registry of container images.
    """

    name: str
    """
    What it is called here.
    """
    host: str
    """
    Its host, with a port perhaps.
    """
    user: str
    """
    The account there.
    """
    secret: NotRequired[str | None]
    """
    The name of the project's secret that holds the password.
    """
    created_at: str
    """
    Since when there is one.
    """
    revision: int
    """
    Counts its changes; in quotes it is the ETag.
    """


class PageRegistryView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item25]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item27(TypedDict):
    """
    A secret, without its value: that is never shown.
    """

    name: str
    """
    The name that tasks use.
    """
    description: str
    """
    What it is for.
    """
    created_at: str
    """
    Since when there is one.
    """
    updated_at: str
    """
    When it was last changed.
    """
    updated_by: str
    """
    By whom.
    """
    revision: int
    """
    Counts its changes; in quotes it is the ETag.
    """


class PageSecretView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item27]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item28(TypedDict):
    """
    A browser in which you are signed in.
    """

    id: str
    """
    The id.
    """
    current: bool
    """
    Whether this request came from it.
    """
    address: str
    """
    The address that signed in.
    """
    agent: str
    """
    The browser, as it calls itself.
    """
    created_at: str
    """
    Since when.
    """
    used_at: str
    """
    When it was last used, to a quarter of an hour.
    """
    expires_at: str
    """
    Until when it lives if nobody uses it.
    """


class PageSessionView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item28]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item30(TypedDict):
    """
    A template in a list.
    """

    name: str
    """
    The name.
    """
    label: TextView
    """
    What it is called.
    """
    help: TextView
    """
    What it does, in Markdown.
    """
    group: str
    """
    The group that it is listed in.
    """
    framework: str
    """
    How its workers learn who they are: `single`, `indexed`, `mpi`, `pytorch`, ...
    """
    version: str
    """
    The version that tasks use that name none.
    """
    versions: list[str]
    """
    Every installed version, the oldest first.
    """


class PageTemplateSummaryView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item30]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item31(TypedDict):
    """
    A token, without its secret part.
    """

    id: str
    """
    The id: the part of the token between `clt_` and the next `_`.
    """
    name: str
    """
    What its person calls it.
    """
    scope: str
    """
    What it may be used for: `read`, `run`, `write` or `admin`.
    """
    project: NotRequired[str | None]
    """
    Only in this project, when set.
    """
    created_at: str
    """
    Since when.
    """
    expires_at: NotRequired[str | None]
    used_at: NotRequired[str | None]


class PageTokenView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item31]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item32(TypedDict):
    """
    A person.
    """

    id: str
    """
    The id.
    """
    name: str
    """
    What they sign in with; it never changes.
    """
    display_name: str
    """
    What they are called.
    """
    email: NotRequired[str | None]
    """
    Where they can be reached.
    """
    admin: bool
    """
    Whether they administer the whole platform.
    """
    disabled: bool
    """
    Whether they may not sign in any more.
    """
    issuer: NotRequired[str | None]
    """
    The OpenID Connect provider at which they sign in, if it is one.
    """
    created_at: str
    """
    Since when they are known.
    """
    seen_at: NotRequired[str | None]
    mails: bool
    """
    Whether they get mail about their own runs: a task that hangs, cards that are held and not used, sizes that change.
    """
    revision: int
    """
    Counts the changes of the account, from 1: its ETag.
    """


class PageUserView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item32]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item33(TypedDict):
    """
    One version of a pipeline.
    """

    version: int
    """
    The version, from 1.
    """
    document: NotRequired[str | None]
    """
    The document, byte for byte as it was sent; absent in lists.
    """
    digest: str
    """
    SHA-256 of the document, in hexadecimal.
    """
    code: NotRequired[str | None]
    """
    The digest of the folder of code that goes with it.
    """
    message: str
    """
    What its author said of the change.
    """
    user: str
    """
    Its author.
    """
    created_at: str
    """
    When it was stored.
    """


class PageVersionView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item33]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item34(TypedDict):
    """
    A volume.
    """

    name: str
    """
    The name that tasks use.
    """
    description: str
    """
    What it is for.
    """
    place: VolumePlace1 | VolumePlace2 | VolumePlace3 | VolumePlace4
    """
    Where it is.
    """
    built_in: bool
    """
    Whether every project has it; it can be neither changed nor deleted.
    """
    browsable: bool
    """
    Whether its files can be looked at here.
    """
    created_at: str
    """
    Since when there is one.
    """
    revision: int
    """
    Counts its changes; in quotes it is the ETag.
    """


class PageVolumeView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item34]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class PastView(TypedDict):
    """
    What the largest worker of a role of an earlier attempt had and used.
    """

    attempt: str
    """
    The attempt, `<run>.<task>.<instance>.<n>`.
    """
    ended_at: str
    """
    When it ended.
    """
    run_seconds: float
    """
    How long it ran.
    """
    asked: SizeView
    """
    What was asked for.
    """
    had: SizeView
    """
    What it had.
    """
    recommended: SizeView
    """
    What it would have got in `auto`, by what had ended when it began, as far as the attempts that are kept tell, on the nodes
    of now. Of the oldest ones less is known than was then.
    """
    peak_memory: int
    """
    The most memory that it used, in bytes.
    """
    memory_middle: NotRequired[int | None]
    """
    What it did not go beyond in half of its seconds, in bytes, where that is known.
    """
    memory_high: NotRequired[int | None]
    """
    What it did not go beyond in 19 of 20 seconds, in bytes, where that is known.
    """
    cpu: float
    """
    Cores that it used, on average.
    """
    cpu_high: float
    """
    Cores that it did not go beyond in 19 of 20 seconds.
    """
    throttled: NotRequired[float | None]
    """
    For which part of its time it was held back by its limit, between 0 and 1, where that is known.
    """
    input: NotRequired[int | None]
    """
    The size of its input in bytes, where that is known.
    """
    out_of_memory: bool
    """
    Whether its memory ran out.
    """
    counts: bool
    """
    Whether it counts: it was made of the same template, image and program as the task is now.
    """


class PipelineView(VersionView):
    """
    A pipeline with its newest document.
    """

    project: str
    """
    The project.
    """
    name: str
    """
    The name.
    """
    description: str
    """
    What it is for.
    """
    labels: dict[str, str]
    """
    Its labels.
    """
    parameters: dict[str, Any]
    """
    The parameters of its runs: type, default and bounds of each.
    """
    tasks: int
    """
    How many tasks it has.
    """
    problems: list[ProblemView]
    """
    What stops it from running here, or is probably not as meant.
    """


class PositionView(FiguresView):
    """
    What was held of a node group while one price was valid.
    """

    cluster: str
    """
    The cluster.
    """
    node_group: NotRequired[str | None]
    """
    The node group; absent for nodes of no group.
    """
    price_since: NotRequired[str | None]
    """
    Since when the price is valid; absent where there is none.
    """
    price: RatesBody
    """
    What an hour costs.
    """


class PreflightView(TypedDict):
    """
    What the test of an attempt's workers came to.
    """

    bounds: PreflightValues
    """
    Half of what is normal on these nodes; of `mount`, at the most. Who is beyond it is slow; who fails is worse than its peers,
    too, or below what every sound machine comes to.
    """
    workers: list[TestedWorkerView]
    """
    The workers, by rank; none while they are tested.
    """
    blamed: NotRequired[BlamedView | None]


class PreviewBody(TypedDict):
    """
    Edits that are tried together.
    """

    edits: list[EditBody]
    """
    At most 20.
    """


class PriceView(RatesBody):
    """
    A price of a node group, or of a cluster's nodes whose group has none.
    """

    id: str
    """
    Its id.
    """
    cluster: str
    """
    The cluster.
    """
    node_group: NotRequired[str | None]
    """
    The node group; absent for every node whose group has no price of its own.
    """
    valid_from: str
    """
    The first day on which it is valid, UTC, until the next price of the same.
    """
    user: str
    """
    Who entered or changed it last.
    """
    open: bool
    """
    Whether it may still be changed: the statements of the month in which it began have not gone out.
    """
    revision: int
    """
    Counts its changes, from 1: its ETag.
    """


class ProblemDocument(TypedDict):
    """
    A problem document (RFC 9457).
    """

    type: str
    """
    `urn:cubeloom:problem:<kind>`.
    """
    title: str
    """
    The kind, in words.
    """
    status: int
    """
    The HTTP status.
    """
    detail: str
    """
    What is wrong with this request, and what to do.
    """
    instance: NotRequired[str]
    """
    The id of the request, as in the `x-request-id` header.
    """
    problems: NotRequired[list[ProblemView]]
    """
    Each mistake by itself.
    """


class ProjectChange(TypedDict):
    """
    What changes; what is absent stays.
    """

    label: NotRequired[str | None]
    """
    What it is called.
    """
    description: NotRequired[str | None]
    """
    What it is for.
    """
    keeping: NotRequired[KeepingView | None]
    sizing: NotRequired[Literal['off', 'advise', 'auto'] | None]


class ProjectView(TypedDict):
    """
    A project.
    """

    name: str
    """
    The name: letters, digits and `-`; it never changes.
    """
    label: str
    """
    What it is called.
    """
    description: str
    """
    What it is for.
    """
    role: NotRequired[str | None]
    """
    What you may do in it: `viewer`, `editor` or `owner`; absent for administrators who are no members.
    """
    keeping: KeepingView
    """
    What of its jobs is kept.
    """
    places: PlacesView
    """
    Where its jobs may go.
    """
    sizing: Literal['off', 'advise', 'auto']
    """
    Whether CPU and memory are chosen from real use, for pipelines and tasks that do not say it.
    """
    logs_behind: NotRequired[BehindView | None]
    budget: NotRequired[BudgetStandingView | None]
    created_at: str
    """
    Since when there is one.
    """
    revision: int
    """
    Counts its changes, from 1: its ETag.
    """


class QueueBody(TypedDict):
    """
    What a queue is to be.
    """

    parent: NotRequired[str | None]
    """
    The group that it is in; absent: at the top.
    """
    quotas: NotRequired[dict[str, QuotaBody]]
    """
    What it has of each pool, `CLUSTER` or `CLUSTER/NODE_GROUP`; of others: no guarantee, no limit.
    """
    below_use: NotRequired[bool]
    """
    Takes a limit below what is held now. Nothing is stopped for it; nothing more of it starts until enough has ended.
    """


class QueueView(TypedDict):
    """
    A group or a project.
    """

    kind: str
    """
    `group` or `project`.
    """
    name: str
    """
    Its name.
    """
    parent: NotRequired[str | None]
    """
    The group that it is in.
    """
    quotas: dict[str, QuotaBody]
    """
    What was said of it, by pool.
    """
    shares: dict[str, list[ShareView]]
    """
    How it stands, by pool.
    """
    revision: int
    """
    Its revision: in quotes it is the ETag. 0 for a project of which nothing was said.
    """


class QuotaChangeView(TypedDict):
    """
    A change of the tree, or of a named limit.
    """

    id: str
    """
    The id of its entry in the audit log; later changes have greater ones.
    """
    at: str
    """
    When.
    """
    user: str
    """
    The name of who made it.
    """
    queue: str
    """
    Of what: `project/NAME`, `group/NAME` or `limit/NAME`; of several, all of them with blanks between, and `before` and
    `after` have each by its name.
    """
    before: NotRequired[Any]
    """
    How it was; absent for what was new.
    """
    after: NotRequired[Any]
    """
    How it is since; absent for what was taken away.
    """


class QuotasView(TypedDict):
    """
    The tree of quotas, as far as you may see it.
    """

    pools: list[PoolView]
    """
    Each cluster and node group: what it has, and what is guaranteed and held of it by everybody together.
    """
    queues: list[QueueView]
    """
    Groups and projects, each behind the group that it is in. Members see their projects and the groups above these.
    """


class RangeDateView(TypedDict):
    """
    One date of a range.
    """

    date: str
    """
    The date.
    """
    state: str
    """
    `none`, or as in the history.
    """
    run: NotRequired[str | None]
    """
    The run.
    """
    run_state: NotRequired[str | None]
    """
    Its state.
    """


class RegistryView(TypedDict):
    """
    A registry of container images.
    """

    name: str
    """
    What it is called here.
    """
    host: str
    """
    Its host, with a port perhaps.
    """
    user: str
    """
    The account there.
    """
    secret: NotRequired[str | None]
    """
    The name of the project's secret that holds the password.
    """
    created_at: str
    """
    Since when there is one.
    """
    revision: int
    """
    Counts its changes; in quotes it is the ETag.
    """


class ReusedView(TypedDict):
    """
    Where a result was taken from.
    """

    run: str
    """
    The run that made it.
    """
    task: str
    """
    The task that made it.
    """
    ended_at: str
    """
    When.
    """


class RoleSizingView(TypedDict):
    """
    What is known of how much the workers of a role use.
    """

    role: str
    """
    The role.
    """
    workers: int
    """
    How many workers it has.
    """
    asked: SizeView
    """
    What is asked for.
    """
    recommended: SizeView
    """
    What the next attempt would get in `auto`.
    """
    memory_reason: str
    """
    Why it would get this memory.
    """
    cpu_reason: str
    """
    Why it would get this processing power.
    """
    confidence: float
    """
    How sure that is, between 0 and 1: the share of earlier attempts that would have had enough of what was advised before
    each, were there one more, which would not.
    """
    risk: NotRequired[float | None]
    """
    The chance that what is recommended is too little memory, as far as the history tells; `null` where it tells nothing.
    """
    past: list[PastView]
    """
    The attempts that are known, the oldest first.
    """


class RunAheadView(TypedDict):
    """
    A run that is before another.
    """

    run: str
    """
    The run.
    """
    state: str
    """
    Its state.
    """
    user: str
    """
    Whom it runs for.
    """
    created_at: str
    """
    When it was asked for.
    """


class RunMark(TypedDict):
    """
    A run, as one mark of a line of marks.
    """

    id: str
    """
    Its id.
    """
    state: str
    """
    `queued`, `running`, `cancelling`, `succeeded`, `failed` or `cancelled`.
    """
    created_at: str
    """
    When it was asked for.
    """
    duration_seconds: NotRequired[float | None]
    """
    From its beginning to its end; absent before that.
    """


class SavedPipeline(TypedDict):
    """
    A pipeline that somebody has saved.
    """

    project: str
    """
    The project.
    """
    name: str
    """
    The pipeline.
    """
    version: int
    """
    The version that is the newest now.
    """
    user: str
    """
    The name of who saved it.
    """
    message: str
    """
    What they said of the change.
    """
    created_at: str
    """
    When.
    """


class ScheduleView(TypedDict):
    """
    How the schedule of a pipeline stands.
    """

    project: str
    """
    The project.
    """
    pipeline: str
    """
    The pipeline.
    """
    schedule: NotRequired[dict[str, Any] | None]
    """
    The schedule, as the newest version has it; absent when it has none.
    """
    active: bool
    """
    Whether it fires.
    """
    set_by: str
    """
    The name of who set it, or made it theirs: it runs in their name.
    """
    set_at: str
    """
    When.
    """
    refused: NotRequired[str | None]
    """
    Why it cannot run in their name any more: `user_gone`, `user_disabled` or `user_no_editor`. Whoever resumes it
    makes it theirs.
    """
    paused_by: NotRequired[str | None]
    """
    Who paused it.
    """
    paused_at: NotRequired[str | None]
    next: list[str]
    """
    The next dates, also while it is paused; none of a schedule that waits for something to happen.
    """
    look: NotRequired[LookView | None]


class SearchView(TypedDict):
    """
    The search of a task: what it tries, and what that gave.
    """

    goal: str
    """
    `maximize` or `minimize`.
    """
    of: str
    """
    The metric, or output, that says how good a trial is.
    """
    method: str
    """
    `grid`, `random` or `tpe`.
    """
    over: list[AxisView]
    """
    What is tried, by name.
    """
    planned: int
    """
    How many trials there will be.
    """
    max_failures: int
    """
    How many may fail.
    """
    best: NotRequired[TrialView | None]
    trials: list[TrialView]
    """
    The trials that were begun, in their order.
    """


class SecretView(TypedDict):
    """
    A secret, without its value: that is never shown.
    """

    name: str
    """
    The name that tasks use.
    """
    description: str
    """
    What it is for.
    """
    created_at: str
    """
    Since when there is one.
    """
    updated_at: str
    """
    When it was last changed.
    """
    updated_by: str
    """
    By whom.
    """
    revision: int
    """
    Counts its changes; in quotes it is the ETag.
    """


class SessionView(TypedDict):
    """
    A browser in which you are signed in.
    """

    id: str
    """
    The id.
    """
    current: bool
    """
    Whether this request came from it.
    """
    address: str
    """
    The address that signed in.
    """
    agent: str
    """
    The browser, as it calls itself.
    """
    created_at: str
    """
    Since when.
    """
    used_at: str
    """
    When it was last used, to a quarter of an hour.
    """
    expires_at: str
    """
    Until when it lives if nobody uses it.
    """


class SizeChangeView(TypedDict):
    """
    A change of what the workers of a role get.
    """

    attempt: str
    """
    The attempt that got it first.
    """
    at: str
    """
    When.
    """
    role: str
    """
    The role.
    """
    asked: SizeView
    """
    What was asked for.
    """
    before: SizeView
    """
    What the attempt before had.
    """
    after: SizeView
    """
    What it got.
    """
    reason: str
    """
    What is said of it.
    """
    not_grown: NotRequired[str | None]
    """
    Why the cluster did not give more to workers that ran, in its words, where that is the change.
    """
    confidence: float
    """
    How sure that was, between 0 and 1.
    """
    risk: NotRequired[float | None]
    """
    The chance that what it got was too little memory, as far as the history told; `null` where it told nothing.
    """


class SizeLimitView(TypedDict):
    """
    The most that a worker gets, from a moment on.
    """

    at: str
    """
    From when on.
    """
    cpu: float
    """
    Processing power, in cores.
    """
    memory: int
    """
    Memory, in bytes.
    """


class SizingView(TypedDict):
    """
    What is known of how much a task uses, and what its workers get by that.
    """

    run: NotRequired[str | None]
    """
    The pipeline's last run, whose plan this is about; absent where the task has not run yet.
    """
    mode: str
    """
    `off`, `advise` or `auto`: what the task says, else its pipeline, else the project.
    """
    project_mode: str
    """
    What the project says.
    """
    reverted_by: NotRequired[str | None]
    """
    Who took sizing of the task back: it gets what it asks for until that is undone.
    """
    reverted_at: NotRequired[str | None]
    roles: list[RoleSizingView]
    """
    Of each role; none before the task has run.
    """
    changes: list[SizeChangeView]
    """
    What was changed, the newest first; the last hundred.
    """


class StandingView(TypedDict):
    """
    How a cluster is.
    """

    state: str
    """
    `connected`, `away` (it does not answer), `refused` (it does not know the server any more), or `unknown`: nothing was
    asked of it yet.
    """
    since: NotRequired[str | None]
    why: NotRequired[str | None]
    """
    What was tried, and what came of it.
    """


class StartView(TypedDict):
    """
    When something may start, made by simulating the queue with the run times that are known from history.
    """

    p50: str
    """
    As likely before as after this.
    """
    p90: str
    """
    Nine times of ten before this.
    """


class StatementView(TypedDict):
    """
    What a project held in a month, and what it costs.
    """

    project: str
    """
    The project.
    """
    month: str
    """
    The month, UTC, e.g. `2026-01`.
    """
    open: bool
    """
    Whether the month goes on.
    """
    currency: NotRequired[str | None]
    """
    What prices are in; absent where the settings name nothing.
    """
    positions: list[PositionView]
    """
    What was held of each node group while one price was valid.
    """
    pipelines: list[UsageGroup]
    """
    The same by pipeline.
    """
    users: list[UsageGroup]
    """
    The same by person.
    """
    total: FiguresView
    """
    All of it.
    """
    budget: NotRequired[BudgetView | None]


class StructureView(TypedDict):
    """
    What differs between two pipelines.
    """

    added: list[str]
    """
    Tasks that only the new one has, in its order.
    """
    removed: list[str]
    """
    Tasks that only the old one has, in its order.
    """
    changed: list[TaskChange]
    """
    Tasks of both that differ, in the new one's order.
    """
    parameters: list[FieldChange]
    """
    Parameters that were added, removed or changed; paths begin with the parameter's name.
    """
    settings: list[FieldChange]
    """
    Everything else: description, labels, env, schedule, ...
    """


class TaskAdviceView(TypedDict):
    """
    What could be done better with a task.
    """

    attempt: int
    """
    The attempt's number; 0 where there was none yet.
    """
    live: bool
    """
    Whether it goes on.
    """
    workers: int
    """
    How many workers it has.
    """
    advice: list[AdviceView]
    """
    Each rule once, what concerns the workers together first.
    """


class TaskForecastView(TypedDict):
    """
    What would become of a task.
    """

    task: str
    """
    Its name.
    """
    outlook: Literal['starts', 'later', 'waits', 'unknown', 'never']
    """
    `starts`, `waits`, `never` (it can never start), `later` (it comes after other tasks, and can start some day), or
    `unknown` while the cluster's queue cannot be asked. Of a task with many instances, the first one.
    """
    message: NotRequired[str | None]
    """
    Why it waits, or can never start: a sentence with the amounts.
    """
    rule: NotRequired[str | None]
    """
    The rule that keeps it: `capacity`, `not_lent`, `limit`, `no_borrowing`, `persons_cap`, `named_limit`, `apart`, `behind`,
    `cool_down`, `leaving`, `scattered`, `faulty`, `pipeline_parallelism` or `never_fits`; `max_active_runs` where other runs of
    the pipeline keep the whole run, `budget` where the project's is spent, `not_taken` where the cluster would not take it
    from you, as you have no account there, say: with these two the run is refused.
    """
    pool: NotRequired[str | None]
    """
    The machines that it concerns: `CLUSTER` or `CLUSTER/NODE_GROUP`.
    """
    shortages: list[ShortageView]
    """
    Of what there is too little.
    """
    holders: list[HolderView]
    """
    Who holds it, of the projects that you see: when these and the others that are counted beside them end, it starts.
    At most 200 of them are told.
    """
    more_holders: int
    """
    How many more there are of these.
    """
    hidden_holders: int
    """
    How many jobs of other projects hold it, too.
    """
    ahead: NotRequired[int | None]
    """
    How many jobs of the same pool are before it in the queue.
    """
    start: NotRequired[StartView | None]
    run_time: NotRequired[RunTimeView | None]


class TaskSide(TypedDict):
    """
    What a task was in one run.
    """

    template: str
    """
    Its template, `name@version`.
    """
    state: str
    """
    Its state.
    """
    wait_seconds: NotRequired[float | None]
    """
    How long it waited for a place.
    """
    run_seconds: NotRequired[float | None]
    """
    How long it ran.
    """
    attempts: int
    """
    How many attempts there were.
    """
    roles: list[RoleView]
    """
    What each attempt asked for.
    """
    usage: NotRequired[UsageView | None]


class TemplateSummaryView(TypedDict):
    """
    A template in a list.
    """

    name: str
    """
    The name.
    """
    label: TextView
    """
    What it is called.
    """
    help: TextView
    """
    What it does, in Markdown.
    """
    group: str
    """
    The group that it is listed in.
    """
    framework: str
    """
    How its workers learn who they are: `single`, `indexed`, `mpi`, `pytorch`, ...
    """
    version: str
    """
    The version that tasks use that name none.
    """
    versions: list[str]
    """
    Every installed version, the oldest first.
    """


class TemplateView(TemplateSummaryView):
    """
    A version of a template.
    """

    digest: str
    """
    SHA-256 of its folder, in hexadecimal.
    """
    image: NotRequired[str | None]
    """
    The container image.
    """
    help_html: TextView
    """
    What it does, as HTML that is safe to show.
    """
    readme_html: NotRequired[str | None]
    """
    Its README, as HTML that is safe to show.
    """
    parameters: dict[str, Any]
    """
    The arguments: a JSON Schema (draft 2020-12) with `x-form` hints.
    """
    roles: list[TemplateRoleView]
    """
    The roles of its workers.
    """
    command: list[str]
    """
    What each worker runs, with expressions.
    """
    outputs: list[TemplateOutputView]
    """
    What its program reports.
    """
    elastic: bool
    """
    Whether it can go on with fewer workers, and use more.
    """
    example: NotRequired[Example | None]
    before_after: NotRequired[BeforeAfter | None]


class TerminalView(TypedDict):
    """
    A terminal that is open.
    """

    id: str
    """
    What it is called.
    """
    attempt: int
    """
    The attempt that it is opened at.
    """
    worker: str
    """
    The worker that it stands for, e.g. `worker-0`.
    """
    socket: str
    """
    The path, on this server, at which a WebSocket connects to it. It has to come from the same person.
    """
    ends_at: str
    """
    When it ends at the latest.
    """


class VolumeChange(TypedDict):
    """
    What changes of a volume; what is absent stays.
    """

    description: NotRequired[str | None]
    """
    What it is for.
    """
    place: NotRequired[VolumePlace1 | VolumePlace2 | VolumePlace3 | VolumePlace4 | None]


class WaitView(TypedDict):
    """
    Why something waits.
    """

    rule: str
    """
    `capacity`, `behind`, `quota`, `named_limit`, `parallelism`, `decision`, or `unknown` before anybody has looked. Which rule
    of these it is exactly is in `why`.
    """
    message: str
    """
    A sentence with the amounts; for `decision`, what is asked.
    """
    approvers: NotRequired[list[str]]
    """
    Who decides, for `decision`; nobody in particular when empty.
    """
    why: NotRequired[WhyView | None]
    start: NotRequired[StartView | None]


class WorkerUsageView(TypedDict):
    """
    What a worker used, beside what it may use.
    """

    worker: str
    """
    Its name, `<role>-<index>`.
    """
    asked: NotRequired[SizeView | None]
    limits: list[SizeLimitView]
    """
    The most that it got, from each moment on: sizing may give it something else than it asked for, and more while it runs.
    """
    cards: bool
    """
    Whether it asked for graphics cards.
    """
    card_memory: NotRequired[float | None]
    """
    The memory of its cards together, in bytes; absent where that is not known.
    """
    lines: list[LineView]
    """
    What it used; what is not told is absent.
    """


class AddedClusterView(ClusterBody):
    """
    A Kubernetes cluster that was added, without its kubeconfig.
    """

    name: str
    """
    Its name.
    """
    created_at: str
    """
    Since when it is known.
    """
    revision: int
    """
    Counts its changes; in quotes it is the ETag.
    """


class Affected(TypedDict):
    """
    Jobs that are affected.
    """

    count: int
    """
    How many.
    """
    jobs: list[JobView]
    """
    The first hundred of them.
    """


class AttemptView(TypedDict):
    """
    One try at one instance.
    """

    key: str
    """
    `<run>.<task>.<instance>.<n>`, which stands on everything that it made.
    """
    task: str
    """
    The task.
    """
    instance: int
    """
    The instance.
    """
    attempt: int
    """
    Its number, from 1.
    """
    state: str
    """
    `submitting`, `running`, `stopping` or `ended`.
    """
    suspended: NotRequired[bool | None]
    """
    Whether it is suspended: its workers are gone until it is resumed. Absent where it cannot be, and in the list of
    all attempts of a run.
    """
    outcome: NotRequired[str | None]
    """
    `succeeded`, `failed` or `cancelled`, once it has ended.
    """
    created_at: str
    """
    When it was given its place.
    """
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    start_seconds: NotRequired[float | None]
    """
    From `created_at` to `started_at`.
    """
    run_seconds: NotRequired[float | None]
    """
    From `started_at` to `ended_at`.
    """
    cpu: float
    """
    Processing power of all workers together, in cores.
    """
    memory: int
    """
    Memory of all workers together, in bytes.
    """
    gpus: int
    """
    Whole graphics cards of all workers together.
    """
    workers: list[WorkerView]
    """
    Its workers, by rank; those at the end that it gave back among them.
    """
    earlier: NotRequired[list[EarlierView]]
    """
    How many it had before, oldest first: of an elastic job that got some, or gave some back, while it ran.
    """
    sizing: NotRequired[str | None]
    """
    What its workers got instead of what was asked for, and why: a sentence.
    """
    not_grown: NotRequired[list[str]]
    """
    Why its workers got no more memory, where they were to get more: sentences, of which one may end in the cluster's words.
    """
    usage: NotRequired[UsageView | None]
    failure: NotRequired[FailureView | None]
    hang: NotRequired[HangView | None]
    preflight: NotRequired[PreflightView | None]
    run: NotRequired[str | None]
    """
    The run of another pipeline that it is: it has no workers then.
    """


class CalendarView(TypedDict):
    """
    What ran and will run in a span of time.
    """

    dates: list[DateView]
    """
    The dates, in their order.
    """
    more: bool
    """
    Whether there are more than are shown.
    """


class CardDetail(MonitoredCardView):
    """
    One card, with its last hour.
    """

    cluster: str
    """
    Its cluster.
    """
    node: str
    """
    Its node.
    """
    at: str
    """
    When it was looked at.
    """
    history: CardHistoryView
    """
    Its last hour.
    """
    advice: list[AdviceView]
    """
    What could be done better, of tasks of projects that the caller is a member of.
    """
    problems: list[str]
    """
    What could not be read or is not to be trusted, each as a sentence.
    """


class ChangesBody(TypedDict):
    """
    Edits that are made together.
    """

    edits: list[EditBody]
    """
    From 1 to 20, each of another queue and with its revision.
    """
    below_use: NotRequired[bool]
    """
    Takes limits below what is held now. Nothing is stopped for it.
    """


class ClusterView(TypedDict):
    """
    A cluster.
    """

    name: str
    """
    Its name.
    """
    kind: str
    """
    Its kind: `local` is the server's own machine.
    """
    capacity: AmountView
    """
    What all nodes have together.
    """
    used: AmountView
    """
    What attempts that have not ended hold.
    """
    attempts: int
    """
    How many attempts that is.
    """
    nodes: list[ClusterNodeView]
    """
    Its nodes.
    """
    node_groups: list[str]
    """
    Node groups that a placement may name.
    """
    spares: NotRequired[list[str]]
    """
    Nodes that are well and on which nothing runs, as they are kept to take the place of others. They count to nothing
    above.
    """
    standing: StandingView
    """
    How it is.
    """
    problems: list[str]
    """
    What is not as it should be, each as a sentence.
    """


class ComparedPlaceView(TypedDict):
    """
    What would become of a run in a place.
    """

    place: str
    """
    `CLUSTER` or `CLUSTER/NODE_GROUP`: send it as `place` to start a run there.
    """
    cluster: str
    """
    The cluster.
    """
    node_group: NotRequired[str | None]
    """
    The node group; absent: anywhere on the cluster.
    """
    is_usual: bool
    """
    Whether a run for which no place is chosen goes there.
    """
    outlook: Literal['starts', 'later', 'waits', 'unknown', 'never']
    """
    What would become of the tasks that need nothing first, all together: `starts`, `waits`, `never`, or `unknown` while
    the cluster's queue cannot be asked.
    """
    message: NotRequired[str | None]
    """
    Why one of them waits: a sentence with the amounts.
    """
    problems: list[ProblemView]
    """
    Why it cannot run there, each with its field: a path into the document, or `/place`.
    """
    first_start: NotRequired[StartView | None]
    start: NotRequired[StartView | None]
    takes: NotRequired[TakesView | None]
    done: NotRequired[StartView | None]
    unknown_tasks: list[str]
    """
    Tasks of which nobody knows how long they take: too few attempts have ended, a person does them, or other tasks
    decide how many instances there are.
    """
    elsewhere: list[str]
    """
    Tasks of which it is known from other places alone.
    """
    cost: NotRequired[str | None]
    """
    What it costs: what its tasks ask for, for the time that half of their attempts took, at today's price. Without the
    unknown tasks; absent where nothing has a price, or nothing is known.
    """


class ComparedPlacesView(TypedDict):
    """
    The places that a run may go to, side by side.
    """

    at: str
    """
    The moment that it holds for.
    """
    places: list[ComparedPlaceView]
    """
    Them, first the one to which the run goes by itself; none of a document with mistakes. At most 32.
    """
    left_out: int
    """
    How many more there are.
    """
    currency: NotRequired[str | None]
    """
    What amounts of money are in, when that was set.
    """
    problems: list[ProblemView]
    """
    The mistakes for which there would be no run anywhere.
    """


class CreatedLink(LinkView):
    """
    A new link.
    """

    url: str
    """
    The link itself, shown only now. Whoever has it may use it, once.
    """


class DatesView(TypedDict):
    """
    The dates of a range: what a back-fill over it would do.
    """

    dates: list[RangeDateView]
    """
    The dates, the first ones, with what became of them; `none` in `state`: it was not asked for yet.
    """
    total: int
    """
    How many there are.
    """
    without_run: int
    """
    How many of them have no run: a back-fill starts these.
    """
    underway: int
    """
    How many have a run that goes on, or are about to start.
    """


class Difference(TypedDict):
    """
    What differs between two texts.
    """

    same: bool
    """
    Whether they are the same.
    """
    unified: str
    """
    The difference as `diff -u` writes it; empty when they are the same.
    """
    hunks: list[Hunk]
    """
    Both texts from beginning to end, in pieces.
    """


class ForecastView(TypedDict):
    """
    What would become of a run that were started now.
    """

    at: str
    """
    The moment that it holds for.
    """
    cluster: NotRequired[str | None]
    """
    The cluster that the run would go to.
    """
    tasks: list[TaskForecastView]
    """
    Its tasks, in the document's order; none of a document with mistakes.
    """
    problems: list[ProblemView]
    """
    The mistakes for which there would be no run. Tasks that can never start are none of these: see the tasks.
    """


class InstanceView(TypedDict):
    """
    One instance of a task.
    """

    instance: int
    """
    Its number, from 0.
    """
    item: Any
    """
    Its element of `for_each`; null of a plain task.
    """
    state: str
    """
    Its state, one of those of a task.
    """
    wait: NotRequired[WaitView | None]
    preparing: NotRequired[str | None]
    """
    What is being made before it can start.
    """
    progress: NotRequired[ProgressView | None]
    attempt: int
    """
    The number of its last attempt; 0 before the first.
    """
    ready_at: str
    """
    When it became ready.
    """
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    wait_seconds: NotRequired[float | None]
    """
    From `ready_at` to `started_at`.
    """
    run_seconds: NotRequired[float | None]
    """
    How long its last attempt ran.
    """
    next_try_at: NotRequired[str | None]
    usage: NotRequired[UsageView | None]
    failure: NotRequired[FailureView | None]
    outputs: dict[str, Any]
    """
    What it reported.
    """
    reused: NotRequired[ReusedView | None]
    note: NotRequired[str | None]
    """
    What somebody should know.
    """


class LiveEvent6(SavedPipeline):
    """
    A pipeline has a new version; told on the streams of projects.
    """

    kind: Literal['pipeline']


class Item1(TypedDict):
    """
    One try at one instance.
    """

    key: str
    """
    `<run>.<task>.<instance>.<n>`, which stands on everything that it made.
    """
    task: str
    """
    The task.
    """
    instance: int
    """
    The instance.
    """
    attempt: int
    """
    Its number, from 1.
    """
    state: str
    """
    `submitting`, `running`, `stopping` or `ended`.
    """
    suspended: NotRequired[bool | None]
    """
    Whether it is suspended: its workers are gone until it is resumed. Absent where it cannot be, and in the list of
    all attempts of a run.
    """
    outcome: NotRequired[str | None]
    """
    `succeeded`, `failed` or `cancelled`, once it has ended.
    """
    created_at: str
    """
    When it was given its place.
    """
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    start_seconds: NotRequired[float | None]
    """
    From `created_at` to `started_at`.
    """
    run_seconds: NotRequired[float | None]
    """
    From `started_at` to `ended_at`.
    """
    cpu: float
    """
    Processing power of all workers together, in cores.
    """
    memory: int
    """
    Memory of all workers together, in bytes.
    """
    gpus: int
    """
    Whole graphics cards of all workers together.
    """
    workers: list[WorkerView]
    """
    Its workers, by rank; those at the end that it gave back among them.
    """
    earlier: NotRequired[list[EarlierView]]
    """
    How many it had before, oldest first: of an elastic job that got some, or gave some back, while it ran.
    """
    sizing: NotRequired[str | None]
    """
    What its workers got instead of what was asked for, and why: a sentence.
    """
    not_grown: NotRequired[list[str]]
    """
    Why its workers got no more memory, where they were to get more: sentences, of which one may end in the cluster's words.
    """
    usage: NotRequired[UsageView | None]
    failure: NotRequired[FailureView | None]
    hang: NotRequired[HangView | None]
    preflight: NotRequired[PreflightView | None]
    run: NotRequired[str | None]
    """
    The run of another pipeline that it is: it has no workers then.
    """


class PageAttemptView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item1]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item6(TypedDict):
    """
    A cluster.
    """

    name: str
    """
    Its name.
    """
    kind: str
    """
    Its kind: `local` is the server's own machine.
    """
    capacity: AmountView
    """
    What all nodes have together.
    """
    used: AmountView
    """
    What attempts that have not ended hold.
    """
    attempts: int
    """
    How many attempts that is.
    """
    nodes: list[ClusterNodeView]
    """
    Its nodes.
    """
    node_groups: list[str]
    """
    Node groups that a placement may name.
    """
    spares: NotRequired[list[str]]
    """
    Nodes that are well and on which nothing runs, as they are kept to take the place of others. They count to nothing
    above.
    """
    standing: StandingView
    """
    How it is.
    """
    problems: list[str]
    """
    What is not as it should be, each as a sentence.
    """


class PageClusterView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item6]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item13(TypedDict):
    """
    One instance of a task.
    """

    instance: int
    """
    Its number, from 0.
    """
    item: Any
    """
    Its element of `for_each`; null of a plain task.
    """
    state: str
    """
    Its state, one of those of a task.
    """
    wait: NotRequired[WaitView | None]
    preparing: NotRequired[str | None]
    """
    What is being made before it can start.
    """
    progress: NotRequired[ProgressView | None]
    attempt: int
    """
    The number of its last attempt; 0 before the first.
    """
    ready_at: str
    """
    When it became ready.
    """
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    wait_seconds: NotRequired[float | None]
    """
    From `ready_at` to `started_at`.
    """
    run_seconds: NotRequired[float | None]
    """
    How long its last attempt ran.
    """
    next_try_at: NotRequired[str | None]
    usage: NotRequired[UsageView | None]
    failure: NotRequired[FailureView | None]
    outputs: dict[str, Any]
    """
    What it reported.
    """
    reused: NotRequired[ReusedView | None]
    note: NotRequired[str | None]
    """
    What somebody should know.
    """


class PageInstanceView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item13]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item21(TypedDict):
    """
    A pipeline in a list.
    """

    project: str
    """
    The project.
    """
    name: str
    """
    The name.
    """
    description: str
    """
    What it is for.
    """
    labels: dict[str, str]
    """
    Its labels.
    """
    version: int
    """
    The newest version, from 1.
    """
    message: str
    """
    What its author said of it.
    """
    user: str
    """
    Its author.
    """
    updated_at: str
    """
    When it was stored.
    """
    last_runs: list[RunMark]
    """
    The last runs, the newest first, at most ten.
    """


class PagePipelineSummaryView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item21]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class Item29(TypedDict):
    """
    A task of a run.
    """

    name: str
    """
    Its name.
    """
    index: int
    """
    Its position in the plan, from 0.
    """
    template: str
    """
    Its template, `name@version`.
    """
    framework: str
    """
    Its framework.
    """
    needs: list[str]
    """
    The tasks that it needs.
    """
    state: str
    """
    `pending`, `waiting`, `backoff`, `running`, `succeeded`, `reused`, `stopped_early`, `failed`, `upstream_failed`, `skipped` or
    `cancelled`; of a task with several instances, the one that matters most.
    """
    wait: NotRequired[WaitView | None]
    preparing: NotRequired[str | None]
    """
    What is being made before it can start, e.g. its Python environment.
    """
    progress: NotRequired[ProgressView | None]
    for_each: bool
    """
    Whether it runs once for each element.
    """
    instances: TaskCounts
    """
    Its instances; one of a plain task.
    """
    ready_at: NotRequired[str | None]
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    wait_seconds: NotRequired[float | None]
    """
    From `ready_at` to `started_at`; absent while it waits.
    """
    run_seconds: NotRequired[float | None]
    """
    From `started_at` to `ended_at`; absent while it runs.
    """
    attempts: int
    """
    How many attempts there were.
    """
    next_try_at: NotRequired[str | None]
    roles: list[RoleView]
    """
    What each attempt asks for.
    """
    usage: NotRequired[UsageView | None]
    hang: NotRequired[HangView | None]
    effective: NotRequired[EffectiveView | None]
    failure: NotRequired[FailureView | None]
    outputs: dict[str, Any]
    """
    What it reported; of a task with several instances, nothing: see its instances.
    """
    reused: NotRequired[ReusedView | None]
    note: NotRequired[str | None]
    """
    What somebody should know, e.g. why an earlier result was not reused.
    """


class PageTaskView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item29]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class PipelineSummaryView(TypedDict):
    """
    A pipeline in a list.
    """

    project: str
    """
    The project.
    """
    name: str
    """
    The name.
    """
    description: str
    """
    What it is for.
    """
    labels: dict[str, str]
    """
    Its labels.
    """
    version: int
    """
    The newest version, from 1.
    """
    message: str
    """
    What its author said of it.
    """
    user: str
    """
    Its author.
    """
    updated_at: str
    """
    When it was stored.
    """
    last_runs: list[RunMark]
    """
    The last runs, the newest first, at most ten.
    """


class PreviewView(TypedDict):
    """
    What edits would do now. What jobs do later is not guessed.
    """

    problems: list[ProblemView]
    """
    Why the edits would be refused; of code `conflict` where `below_use` allows it. Paths begin with `/edits/N`.
    """
    over: Affected
    """
    Running jobs beyond what their queue could hold: they go on, and nothing more of it starts until enough has ended.
    """
    give_back: Affected
    """
    Running jobs that would have to give back what they have borrowed.
    """
    start: Affected
    """
    Waiting jobs that would start.
    """
    wait: Affected
    """
    Waiting jobs that would have started, and would not.
    """
    unknown: list[str]
    """
    Clusters whose queue could not be asked now: nothing is told of their jobs.
    """


class RunWaitView(TypedDict):
    """
    Why a run has not begun.
    """

    message: str
    """
    The same in a sentence.
    """
    rule: str
    """
    The rule that keeps it: `max_active_runs` (as many runs of its pipeline are active as may be, or older ones wait for
    that), or `starting` (nothing: a server lets it begin as soon as it looks).
    """
    limit: NotRequired[int | None]
    """
    How many runs of its pipeline may be active at once; absent where there is no limit.
    """
    active: int
    """
    How many are active.
    """
    ahead: int
    """
    How many older ones wait, too: they begin before it.
    """
    runs: list[RunAheadView]
    """
    These runs: the active ones, then those that wait, the oldest first; twenty of them at the most. Whoever sees a run
    sees the others of its pipeline.
    """
    start: NotRequired[StartView | None]


class TaskPair(TypedDict):
    """
    A task on both sides.
    """

    name: str
    """
    The task's name.
    """
    side: str
    """
    `both`, `left` or `right`: which run has it.
    """
    changed: list[str]
    """
    What of its plan differs: `template`, `needs`, `arguments`, `env`, `roles`, `for_each`, `when`, ...
    """
    left: NotRequired[TaskSide | None]
    right: NotRequired[TaskSide | None]
    ratio: NotRequired[float | None]
    """
    How long the left one ran for each second of the right one.
    """
    outputs: list[ValuePair]
    """
    Outputs, by name.
    """
    arguments: list[ValuePair]
    """
    Arguments that differ, by name; of late ones, their expressions.
    """


class TaskUsageView(TypedDict):
    """
    What the workers of an attempt used.
    """

    attempt: int
    """
    The attempt's number; 0 where there was none yet.
    """
    live: bool
    """
    Whether it goes on.
    """
    workers: list[WorkerUsageView]
    """
    By worker; empty where nothing is known, or not any more.
    """
    missing: list[str]
    """
    What the cluster does not tell of its workers: `cpu`, `throttled`, `memory`, `disk`, `network`, `io_wait`,
    `cards`.
    """


class TaskView(TypedDict):
    """
    A task of a run.
    """

    name: str
    """
    Its name.
    """
    index: int
    """
    Its position in the plan, from 0.
    """
    template: str
    """
    Its template, `name@version`.
    """
    framework: str
    """
    Its framework.
    """
    needs: list[str]
    """
    The tasks that it needs.
    """
    state: str
    """
    `pending`, `waiting`, `backoff`, `running`, `succeeded`, `reused`, `stopped_early`, `failed`, `upstream_failed`, `skipped` or
    `cancelled`; of a task with several instances, the one that matters most.
    """
    wait: NotRequired[WaitView | None]
    preparing: NotRequired[str | None]
    """
    What is being made before it can start, e.g. its Python environment.
    """
    progress: NotRequired[ProgressView | None]
    for_each: bool
    """
    Whether it runs once for each element.
    """
    instances: TaskCounts
    """
    Its instances; one of a plain task.
    """
    ready_at: NotRequired[str | None]
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    wait_seconds: NotRequired[float | None]
    """
    From `ready_at` to `started_at`; absent while it waits.
    """
    run_seconds: NotRequired[float | None]
    """
    From `started_at` to `ended_at`; absent while it runs.
    """
    attempts: int
    """
    How many attempts there were.
    """
    next_try_at: NotRequired[str | None]
    roles: list[RoleView]
    """
    What each attempt asks for.
    """
    usage: NotRequired[UsageView | None]
    hang: NotRequired[HangView | None]
    effective: NotRequired[EffectiveView | None]
    failure: NotRequired[FailureView | None]
    outputs: dict[str, Any]
    """
    What it reported; of a task with several instances, nothing: see its instances.
    """
    reused: NotRequired[ReusedView | None]
    note: NotRequired[str | None]
    """
    What somebody should know, e.g. why an earlier result was not reused.
    """


class ClusterDetail(ClusterView):
    """
    One cluster, with what runs there and what could.
    """

    aside: NotRequired[list[AsideView]]
    """
    The nodes that are set aside, to which no new job goes. They count to nothing above.
    """
    running: list[RunningView]
    """
    The attempts that hold something there, of runs that the caller may see, the newest first.
    """
    others: int
    """
    How many others there are, of projects that the caller is no member of.
    """
    templates: list[RunnableView]
    """
    The newest version of each task template, and whether it can run there.
    """


class LiveEvent3(TypedDict):
    """
    A task has changed.
    """

    run_id: str
    """
    The run.
    """
    task: TaskView
    """
    The task as it is now.
    """
    kind: Literal['task']


class Item26(TypedDict):
    """
    A run.
    """

    id: str
    """
    Its id.
    """
    project: str
    """
    The project.
    """
    pipeline: str
    """
    The pipeline.
    """
    cluster: NotRequired[str | None]
    """
    The cluster that it runs on; absent in lists.
    """
    version: NotRequired[int | None]
    """
    The version of the pipeline; absent when a document was posted.
    """
    user: str
    """
    The name of who started it.
    """
    acting_user: NotRequired[str | None]
    """
    The name of who last resumed it or ran a part of it again: what it does since, it does for them.
    """
    state: str
    """
    `queued`, `running`, `cancelling`, `succeeded`, `failed` or `cancelled`.
    """
    created_at: str
    """
    When it was asked for.
    """
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    duration_seconds: NotRequired[float | None]
    """
    From its beginning to its end; absent before that: count from `started_at`.
    """
    queued_seconds: NotRequired[float | None]
    """
    How long it waited for other runs of its pipeline; absent while it does.
    """
    wait: NotRequired[RunWaitView | None]
    tasks: TaskCounts
    """
    Its tasks.
    """
    effective: NotRequired[EffectiveView | None]
    message: NotRequired[str | None]
    """
    What somebody should know about it.
    """
    parameters: dict[str, Any]
    """
    The parameters that it was started with, without the pipeline's own defaults.
    """
    parent: NotRequired[ParentView | None]
    trigger: str
    """
    What started it: `person`, `schedule`, `backfill`, `pipeline` (the end of another one), `file` (one that arrived), `hook`
    or `task`.
    """
    logical_date: NotRequired[str | None]
    late_at: NotRequired[str | None]


class PageRunView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item26]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
    """


class RunView(TypedDict):
    """
    A run.
    """

    id: str
    """
    Its id.
    """
    project: str
    """
    The project.
    """
    pipeline: str
    """
    The pipeline.
    """
    cluster: NotRequired[str | None]
    """
    The cluster that it runs on; absent in lists.
    """
    version: NotRequired[int | None]
    """
    The version of the pipeline; absent when a document was posted.
    """
    user: str
    """
    The name of who started it.
    """
    acting_user: NotRequired[str | None]
    """
    The name of who last resumed it or ran a part of it again: what it does since, it does for them.
    """
    state: str
    """
    `queued`, `running`, `cancelling`, `succeeded`, `failed` or `cancelled`.
    """
    created_at: str
    """
    When it was asked for.
    """
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    duration_seconds: NotRequired[float | None]
    """
    From its beginning to its end; absent before that: count from `started_at`.
    """
    queued_seconds: NotRequired[float | None]
    """
    How long it waited for other runs of its pipeline; absent while it does.
    """
    wait: NotRequired[RunWaitView | None]
    tasks: TaskCounts
    """
    Its tasks.
    """
    effective: NotRequired[EffectiveView | None]
    message: NotRequired[str | None]
    """
    What somebody should know about it.
    """
    parameters: dict[str, Any]
    """
    The parameters that it was started with, without the pipeline's own defaults.
    """
    parent: NotRequired[ParentView | None]
    trigger: str
    """
    What started it: `person`, `schedule`, `backfill`, `pipeline` (the end of another one), `file` (one that arrived), `hook`
    or `task`.
    """
    logical_date: NotRequired[str | None]
    late_at: NotRequired[str | None]


class Snapshot(TypedDict):
    """
    The whole present state of what a stream is about.
    """

    at: str
    """
    The server's time.
    """
    runs: list[RunView]
    """
    Of a run's stream, the run; otherwise the newest runs, those that go on among them.
    """
    tasks: list[TaskView]
    """
    Of a run's stream, its tasks.
    """
    truncated: bool
    """
    Whether there are more tasks or runs than are sent: ask the lists.
    """


class StartedView(TypedDict):
    """
    A run that was started.
    """

    run: RunView
    """
    The run.
    """
    warnings: list[ProblemView]
    """
    What runs, and probably not as meant.
    """


VersionsComparisonView = TypedDict(
    'VersionsComparisonView',
    {
        'from': VersionView,
        'to': VersionView,
        'structure': NotRequired[StructureView | None],
        'text': Difference,
        'code_differs': bool,
        'from_run': NotRequired[RunView | None],
        'to_run': NotRequired[RunView | None],
    },
)


class ComparisonView(TypedDict):
    """
    Two runs beside each other.
    """

    left: RunView
    """
    The run of the path.
    """
    right: RunView
    """
    The run that it is compared with.
    """
    parameters: list[ValuePair]
    """
    Parameters, by name; equal ones too.
    """
    tasks: list[TaskPair]
    """
    Tasks, in the order of the left run, then those that only the right one has.
    """
    metrics: list[MetricPair]
    """
    Metrics, by name, task and instance, those of both runs.
    """


class LiveEvent1(Snapshot):
    """
    The whole present state: what was known before is to be replaced by it.
    """

    kind: Literal['snapshot']


class LiveEvent2(TypedDict):
    """
    A run is new or has changed.
    """

    run: RunView
    """
    The run as it is now.
    """
    kind: Literal['run']


LiveEvent: TypeAlias = LiveEvent1 | LiveEvent2 | LiveEvent3 | LiveEvent4 | LiveEvent5 | LiveEvent6
"""
Something that happened.
"""
