"""The shapes of requests and answers. Generated from docs/openapi.json by `make openapi`."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class AliasBody(TypedDict):
    """
    Target of an alias.
    """

    version: int
    """
    Version.
    """


class AmountView(TypedDict):
    """
    Amount of resources.
    """

    cpu: float
    """
    CPU, in cores.
    """
    memory: int
    """
    Memory, in bytes.
    """
    gpus: int
    """
    GPUs.
    """


class Answer(TypedDict):
    """
    Decision on a task that asks for approval.
    """

    approved: bool
    """
    Whether it is approved.
    """
    comment: NotRequired[str | None]
    """
    Reason for the decision, for later readers. At most 2,000 characters.
    """


class AsideBody(TypedDict):
    """
    Reason for cordoning a node.
    """

    note: str
    """
    Single line of text.
    """


class AxisView(TypedDict):
    """
    A parameter that a search varies.
    """

    name: str
    """
    Parameter name. Trials read it as `item.NAME`.
    """
    values: NotRequired[list[Any] | None]
    """
    Values, if they are listed.
    """
    minimum: NotRequired[float | None]
    """
    Minimum of a range.
    """
    maximum: NotRequired[float | None]
    """
    Maximum of a range.
    """
    log: bool
    """
    Whether the range is spread evenly on a logarithmic scale.
    """


class BeforeAfter(TypedDict):
    """
    The same program twice: for one process, and as the template runs it.
    """

    before: str
    """
    Program for one process.
    """
    after: str
    """
    Program as the template runs it.
    """


class BehindView(TypedDict):
    """
    Log copies that are still outstanding. They are retried every 30 seconds.
    """

    attempts: int
    """
    Number of attempts with outstanding copies that are known. It is 0 if only the store has this information and
    the store is unreachable.
    """
    why: str
    """
    Reason why the last try failed.
    """


class BlamedView(TypedDict):
    """
    Worker that failed the test.
    """

    worker: str
    """
    Worker, in the form `<role>-<index>`.
    """
    why: str
    """
    Reason, as a sentence.
    """
    sure: bool
    """
    Whether this worker is certainly at fault. If so, its node is cordoned.
    """


class BudgetBody(TypedDict):
    """
    Budget of a project from a month on.
    """

    amount: NotRequired[str | None]
    """
    Amount per month, e.g. `1200` or `99.50`. Omitted if spending is unlimited from then on.
    """
    warn_percent: NotRequired[int]
    """
    Percentage of the budget at which the project is marked, from 1 to 100.
    """
    stop: NotRequired[bool]
    """
    Whether nothing new is started after the budget is spent. What is running continues.
    """


class BudgetStandingView(TypedDict):
    """
    Spent amount of this month's budget.
    """

    month: str
    """
    Month, in UTC.
    """
    amount: str
    """
    Budget amount, with a decimal point.
    """
    spent: str
    """
    Amount spent, including what is still running.
    """
    percent: int
    """
    Spent percentage of the budget, rounded down.
    """
    level: str
    """
    `within`, `warned` (the project is marked), `spent`, or `stopped` (nothing new is started).
    """
    warn_percent: int
    """
    Percentage of the budget at which the project is marked.
    """
    stop: bool
    """
    Whether nothing new is started after the budget is spent.
    """


class BudgetView(TypedDict):
    """
    Monthly budget of a project, from a month until the next budget.
    """

    month: str
    """
    First month, in UTC, e.g. `2026-01`.
    """
    amount: NotRequired[str | None]
    """
    Amount, with a decimal point. Omitted if spending is unlimited from then on.
    """
    warn_percent: int
    """
    Percentage of the budget at which the project is marked.
    """
    stop: bool
    """
    Whether nothing new is started after the budget is spent.
    """
    revision: int
    """
    Revision number, starting at 1 and incremented on each change. It is the ETag.
    """


class CancelBackfill(TypedDict):
    """
    Options for cancelling a back-fill.
    """

    runs: NotRequired[bool]
    """
    Whether to cancel active runs of the back-fill.
    """


class CardSeriesView(TypedDict):
    """
    Time series of one metric.
    """

    of: str
    """
    Metric: `usage`, `tensor`, `node_cpu` and `io_wait` (from 0 to 1), `memory` (bytes), `temperature` (°C),
    `power` (watts), `nvlink` (bytes per second) or `holder_cpu` (cores).
    """
    values: list[float | None]
    """
    Values of the metric. `null` where no value is available.
    """


class ChangedView(TypedDict):
    """
    A changed queue.
    """

    queue: str
    """
    Queue, as `project/NAME` or `group/NAME`.
    """
    revision: int
    """
    Revision of the queue after the change.
    """


class ChangesView(TypedDict):
    """
    Edits that were applied together.
    """

    items: list[ChangedView]
    """
    Changed queues, in the order of the edits.
    """


class CheckedTask(TypedDict):
    """
    A task of a validated document.
    """

    name: str
    """
    Name.
    """
    template: str
    """
    Template, as named in the document.
    """
    needs: list[str]
    """
    Tasks that it depends on.
    """
    description: NotRequired[str | None]
    """
    Description.
    """
    for_each: bool
    """
    Whether it runs once for each of several items.
    """


class ClusterGpuView(TypedDict):
    """
    GPU.
    """

    name: str
    """
    Product name.
    """
    memory: int
    """
    GPU memory, in bytes.
    """
    uuid: str
    """
    UUID.
    """
    xid: NotRequired[int | None]
    """
    XID error of this GPU that keeps jobs from using it. Omitted while a job uses the GPU.
    """


class ClusterNodeView(TypedDict):
    """
    Node of a cluster.
    """

    name: str
    """
    Name.
    """
    amount: AmountView
    """
    Allocatable resources.
    """
    gpus: list[ClusterGpuView]
    """
    GPUs of the node.
    """
    groups: list[str]
    """
    Node groups of the cluster that the node belongs to.
    """


class CodeFile(TypedDict):
    """
    File of a code folder.
    """

    path: str
    """
    Path of the file, relative to the folder, with `/` as separator.
    """
    bytes: int
    """
    Size, in bytes.
    """
    executable: bool
    """
    Whether it is executable.
    """


class CodeView(TypedDict):
    """
    Code folder.
    """

    digest: str
    """
    Digest of the folder.
    """
    files: list[CodeFile]
    """
    Files of the folder, by name.
    """


class ComparedTaskView(TypedDict):
    """
    A task of a run in a comparison.
    """

    name: str
    """
    Name of the task.
    """
    state: str
    """
    State of the task, as in the list of tasks.
    """
    run_seconds: NotRequired[float | None]
    """
    Time from the start of its first attempt to the end of its last instance, in seconds. Omitted until then.
    """


class Confirmation(TypedDict):
    """
    Confirmation of your identity.
    """

    current: str
    """
    Your current password.
    """


class Content1(TypedDict):
    """
    Text.
    """

    text: str
    """
    Text.
    """
    shown_as: Literal['text']


class Content2(TypedDict):
    """
    JSON, formatted with one member per line.
    """

    text: str
    """
    Text.
    """
    shown_as: Literal['json']


class Content3(TypedDict):
    """
    A table.
    """

    columns: list[str]
    """
    First row.
    """
    rows: list[list[str]]
    """
    Other rows.
    """
    shown_as: Literal['table']


class Content4(TypedDict):
    """
    Picture. Display the file itself.
    """

    shown_as: Literal['image']


class Content5(TypedDict):
    """
    Page. Display the file itself, in a frame with `sandbox`.
    """

    shown_as: Literal['page']


class Content6(TypedDict):
    """
    No preview is available. The file can be downloaded.
    """

    shown_as: Literal['nothing']


Content: TypeAlias = Content1 | Content2 | Content3 | Content4 | Content5 | Content6
"""
Preview content of a file.
"""


class Credentials(TypedDict):
    """
    Credentials for signing in.
    """

    name: str
    """
    Name.
    """
    password: str
    """
    Password of the user.
    """


class DeviceCodeView(TypedDict):
    """
    Codes of a command line.
    """

    device_code: str
    """
    Secret with which the command line fetches the token.
    """
    user_code: str
    """
    Code that the command line shows and the user confirms.
    """
    verification_uri: str
    """
    URL at which the user enters the user code.
    """
    verification_uri_complete: str
    """
    The same with the user code.
    """
    expires_in: int
    """
    Lifetime of the codes, in seconds.
    """
    interval: int
    """
    Minimum interval between requests for the token, in seconds.
    """


class DocumentToCheck(TypedDict):
    """
    A document.
    """

    document: str
    """
    Document text, YAML or JSON.
    """


class DurationsView(TypedDict):
    """
    Durations of runs.
    """

    succeeded: int
    """
    Number of runs that succeeded.
    """
    median_seconds: NotRequired[float | None]
    """
    Median of their durations, in seconds.
    """
    p90_seconds: NotRequired[float | None]
    """
    90th percentile of their durations, in seconds.
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
    Metrics exporter of a cluster.
    """

    name: str
    """
    Name.
    """
    purpose: str
    """
    Purpose of the component.
    """
    found: bool
    """
    Whether Prometheus has series from the exporter.
    """


class FailureView(TypedDict):
    """
    Cause of a failure: the first one.
    """

    kind: str
    """
    Kind of failure: `exit`, `signal`, `out_of_memory`, `timeout`, `setup_failed`, `could_not_start`,
    `missing_output`, `lost`, `preempted`, `expression`, `rejected`, `run`, `hung`, `preflight` or `disk_limit`.
    """
    message: str
    """
    Message.
    """
    instance: NotRequired[int | None]
    """
    Instance that failed first, for a task with several instances.
    """
    attempt: NotRequired[int | None]
    """
    Attempt.
    """
    worker: NotRequired[str | None]
    """
    Worker that failed first, e.g. `worker-1`.
    """
    exit_code: NotRequired[int | None]
    """
    Exit code.
    """
    signal: NotRequired[int | None]
    """
    Signal that terminated it.
    """
    last_lines: NotRequired[list[str]]
    """
    Last lines of its output.
    """


class FaultyCardView(TypedDict):
    """
    A GPU excluded from scheduling.
    """

    index: int
    """
    Index on its node.
    """
    uuid: str
    """
    UUID.
    """
    xid: int
    """
    XID error that the driver reported for the GPU.
    """


class FaultyCardsView(TypedDict):
    """
    Total number of GPUs, and the unhealthy GPUs that are excluded from scheduling.
    """

    all: int
    """
    Total number of GPUs, including the excluded ones.
    """
    cards: list[FaultyCardView]
    """
    GPUs excluded from scheduling.
    """


class FieldChange(TypedDict):
    """
    A field that differs.
    """

    path: str
    """
    Location as a JSON pointer.
    """
    before: NotRequired[dict[str, Any]]
    """
    Old value. Omitted if the field did not exist.
    """
    after: NotRequired[dict[str, Any]]
    """
    New value. Omitted if the field does not exist.
    """


class FiguresView(TypedDict):
    """
    Allocations, usage and cost. Monetary amounts are strings with a decimal point, exact to a millionth.
    """

    cpu_hours: float
    """
    Requested CPU cores multiplied by hours.
    """
    used_cpu_hours: NotRequired[float | None]
    """
    Used CPU, in core-hours. Omitted if nothing was measured.
    """
    memory_gib_hours: float
    """
    Requested memory, in GiB-hours.
    """
    used_memory_gib_hours: NotRequired[float | None]
    """
    Used memory, in GiB-hours: peak memory times the hours that the job ran. Omitted if nothing was measured.
    """
    gpu_hours: float
    """
    GPU-hours.
    """
    used_gpu_hours: NotRequired[float | None]
    """
    GPU-hours in which the GPUs were busy. Omitted if nothing was measured.
    """
    measured_gpu_hours: float
    """
    Part of `gpu_hours` in which GPU activity was measured.
    """
    attempts: int
    """
    Number of attempts that ended.
    """
    failed: int
    """
    Number of these attempts that failed. Preempted attempts do not count as failed.
    """
    cost: str
    """
    Cost.
    """
    cpu_cost: str
    """
    Cost of the CPU.
    """
    memory_cost: str
    """
    Cost of the memory.
    """
    gpu_cost: str
    """
    Cost of the GPUs.
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


class FoundNameView(TypedDict):
    """
    A pipeline or a model in search results.
    """

    project: str
    """
    Project.
    """
    name: str
    """
    Name.
    """


class FoundProjectView(TypedDict):
    """
    A project in search results.
    """

    name: str
    """
    Name of the project.
    """
    label: str
    """
    Display name.
    """


class FrameworkView(TypedDict):
    """
    How the tasks of a framework run on a cluster.
    """

    name: str
    """
    Framework.
    """
    object: str
    """
    Kind of the manifest that a job of the framework becomes.
    """
    why: str
    """
    Reason for this kind.
    """


class GangView(TypedDict):
    """
    Workers on several nodes.
    """

    nodes: int
    """
    Number of nodes.
    """
    gpus: int
    """
    GPUs on each node.
    """


class GpuGroupView(TypedDict):
    """
    GPUs of a group over time. Only the fields that the history is grouped by are set.
    """

    project: NotRequired[str | None]
    """
    Project.
    """
    user: NotRequired[str | None]
    """
    User that the tasks run as.
    """
    pipeline: NotRequired[str | None]
    """
    Pipeline of the project.
    """
    task: NotRequired[str | None]
    """
    Task. Omitted for the sum of a project's smallest tasks, if there were more than 500 at a time.
    """
    model: NotRequired[str | None]
    """
    Product name. Omitted if unknown.
    """
    node: NotRequired[str | None]
    """
    Node.
    """
    node_group: NotRequired[str | None]
    """
    Node group. Omitted for nodes without a group. Of a node in several groups, all of them.
    """
    total: NotRequired[list[float | None] | None]
    """
    GPUs of the group's nodes. Omitted for projects, users and tasks.
    """
    allocated: list[float | None]
    """
    Allocated GPUs.
    """
    used: list[float | None]
    """
    Sum of the utilization of its GPUs. `null` if it is unknown.
    """


class GpuView(TypedDict):
    """
    GPUs: whole GPUs, a fraction of one GPU, or an amount of its memory.
    """

    count: NotRequired[int | None]
    """
    Number of whole GPUs.
    """
    fraction: NotRequired[float | None]
    """
    Fraction of one GPU.
    """
    memory: NotRequired[int | None]
    """
    Memory of one GPU, in bytes.
    """
    type: NotRequired[str | None]
    """
    GPU product.
    """


class GpusNowView(TypedDict):
    """
    GPUs of a cluster now.
    """

    total: float
    """
    GPUs of all nodes.
    """
    allocated: float
    """
    Allocated GPUs.
    """
    free: int
    """
    Free GPUs. Unhealthy and missing GPUs are not free.
    """
    largest_gang: NotRequired[GangView | None]


class GridCellView(TypedDict):
    """
    A task of a run in the grid.
    """

    run: int
    """
    Position of the run in `runs`, from 0.
    """
    state: str
    """
    State of the task, as in the run's list of tasks.
    """
    instances: int
    """
    Number of instances so far.
    """
    attempts: int
    """
    Number of attempts.
    """
    run_seconds: NotRequired[float | None]
    """
    Time from the start of the first attempt to the end of the last instance, in seconds. Omitted while the task
    runs, and for runs with more than 5,000 attempts.
    """


class GridTaskView(TypedDict):
    """
    A task in the grid.
    """

    name: str
    """
    Name.
    """
    removed: bool
    """
    Whether the newest version of the pipeline does not have this task.
    """
    failures: int
    """
    Number of these runs in which the task failed.
    """
    cells: list[GridCellView]
    """
    Outcome of the task in each run that has it, in the order of the runs.
    """


class HeadView(TypedDict):
    """
    A job that another job must not delay.
    """

    project: str
    """
    Project.
    """
    run: NotRequired[str | None]
    """
    Run of the job. Omitted for a task of the requested run.
    """
    task: str
    """
    Task.
    """


class Health(TypedDict):
    """
    Health of the server.
    """

    status: str
    """
    Status: `ok`.
    """
    database_reserve: str
    """
    Disk space reserved beside a SQLite database, for when its disk is full: `kept`, `missing` (released, or could
    not be created), or `none`.
    """


class HolderView(TypedDict):
    """
    A job that uses resources that another job needs.
    """

    project: str
    """
    Project.
    """
    user: str
    """
    User that it runs for.
    """
    run: NotRequired[str | None]
    """
    Run of the job. Omitted for a task of the requested run.
    """
    task: str
    """
    Task.
    """
    instance: int
    """
    Instance of the task, from 0.
    """
    amounts: dict[str, float]
    """
    Allocated amounts by resource, in cores, bytes or units.
    """


class HookCall(TypedDict):
    """
    Body that a hook accepts. All other fields are ignored, so that other programs can send their own messages
    unchanged.
    """

    parameters: NotRequired[dict[str, Any]]
    """
    Parameters of the run. They override the hook's own.
    """


class HookChange(TypedDict):
    """
    Changes to apply. Omitted fields keep their values.
    """

    name: NotRequired[str | None]
    """
    Name.
    """
    parameters: NotRequired[dict[str, Any] | None]
    """
    Parameters of the runs that the hook starts.
    """


class IdleGpusGroup(TypedDict):
    """
    GPU-hours of a group. Only the fields that they are grouped by are set.
    """

    project: NotRequired[str | None]
    """
    Project.
    """
    user: NotRequired[str | None]
    """
    User that the tasks run as.
    """
    pipeline: NotRequired[str | None]
    """
    Pipeline of the project.
    """
    task: NotRequired[str | None]
    """
    Task. Omitted for the sum of a project's smallest tasks, if there were more than 500 at a time.
    """
    gpu_hours: float
    """
    Allocated GPU-hours.
    """
    measured_gpu_hours: float
    """
    Part of `gpu_hours` in which the utilization is known.
    """
    idle_gpu_hours: NotRequired[float | None]
    """
    Idle part of `measured_gpu_hours`. Omitted if the utilization is unknown.
    """
    idle_cost: NotRequired[str | None]
    """
    Cost of the idle GPU-hours, with a decimal point. Omitted without a price or if the utilization is unknown.
    """


class ImportLine(TypedDict):
    """
    Result for one value of the files.
    """

    fate: str
    """
    Result: `changed`, `left_out`, or `problem` (action required).
    """
    path: str
    """
    Location of the value, as a JSON pointer. In the second file, it is prefixed with `templates:`.
    """
    message: str
    """
    Message.
    """


class ImportedView(TypedDict):
    """
    Created document.
    """

    kind: str
    """
    Kind of the document: `pipeline` or `task_template`.
    """
    name: str
    """
    Name.
    """
    document: str
    """
    YAML document.
    """
    notes: list[str]
    """
    Report messages about it.
    """
    taken: NotRequired[str | None]
    """
    Existing document with the same name: `same` if it is identical, `other` if it differs.
    """


class KeepingView(TypedDict):
    """
    Retention settings of a project for finished jobs.
    """

    objects: NotRequired[int | None]
    """
    TTL after finish of the jobs' objects on a Kubernetes cluster, in seconds. If omitted, the settings of the
    cluster apply.
    """
    logs: NotRequired[str | None]
    """
    Project volume in an object store to which logs are copied when jobs have ended. If omitted, logs are not
    copied and exist only on the server.
    """


class LevelsView(TypedDict):
    """
    Capacity, requests and usage of a resource.
    """

    capacity: NotRequired[float | None]
    """
    Capacity.
    """
    requested: NotRequired[float | None]
    """
    Amount requested by the workloads that run there.
    """
    used: NotRequired[float | None]
    """
    Amount in use.
    """


class LimitBody(TypedDict):
    """
    Definition of a concurrency limit. Set at least one of `at_once` and `a_minute`.
    """

    at_once: NotRequired[int | None]
    """
    Maximum number of concurrent jobs. With 0, no job starts.
    """
    a_minute: NotRequired[int | None]
    """
    Maximum number of jobs started per minute, at least 1.
    """
    description: NotRequired[str | None]
    """
    What the limit protects, in one line.
    """


class LineView(TypedDict):
    """
    Time series of one usage metric of a worker.
    """

    name: str
    """
    Metric: `cpu`, `throttled` (time that its threads were throttled at the CPU limit), `cpu_wait`, `memory`,
    `disk_read`, `disk_written`, `network_received`, `network_sent` or `io_wait`. `cpu_wait` is the share of time
    that a thread of the worker waited for a CPU. `io_wait` is the share of time that the worker waited for
    storage. If this is not measured, it is the share for its node. Metrics of all its GPUs together: `card_use`
    (mean), `card_memory` and `card_power`.
    """
    unit: str
    """
    Unit: `cores`, `bytes`, `bytes_per_second`, `percent` or `watts`.
    """
    peak: float
    """
    Largest value.
    """
    points: list[list[float]]
    """
    Points as `[seconds since the epoch, value]`, at most 1,000. Thinning keeps the smallest and largest values.
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
    Run.
    """
    kind: Literal['deleted']


class LiveEvent5(TypedDict):
    """
    The session or token that opened this stream is no longer valid. The stream ends.
    """

    kind: Literal['revoked']


class LogStreamView(TypedDict):
    """
    A log stream of a worker.
    """

    worker: str
    """
    Worker.
    """
    stream: str
    """
    Stream: `stdout` or `stderr`.
    """
    length: int
    """
    Current length of the stream, in bytes.
    """


class LogStreams(TypedDict):
    """
    Log streams of an attempt.
    """

    attempt: int
    """
    Attempt that the logs belong to.
    """
    ended: bool
    """
    Whether the attempt has ended. Nothing is added after that.
    """
    streams: list[LogStreamView]
    """
    Streams by rank.
    """


class ManyRuns(TypedDict):
    """
    Several runs.
    """

    runs: list[str]
    """
    IDs of the runs, at most 200.
    """


class MissingLimitView(TypedDict):
    """
    Referenced limit that does not exist.
    """

    name: str
    """
    Name.
    """
    held: int
    """
    Number of running jobs that reference it.
    """
    waiting: int
    """
    Number of pending jobs that reference it.
    """


class ModelChange(TypedDict):
    """
    Changes to a model.
    """

    description: str
    """
    Description.
    """


class NewBackfill(TypedDict):
    """
    A back-fill to create.
    """

    first: str
    """
    Start of the range: a day or a time, in the time zone of the schedule or in UTC.
    """
    last: str
    """
    End of the range: a day, which is included, or a time. It must not be in the future.
    """
    parallelism: NotRequired[int | None]
    """
    Maximum number of parallel runs. Defaults to 1.
    """
    again: NotRequired[bool]
    """
    Whether to include dates whose run has ended.
    """


class NewDocument(TypedDict):
    """
    A document to store.
    """

    document: str
    """
    Text of the document, in YAML or JSON. It is stored byte for byte.
    """
    message: NotRequired[str]
    """
    Message that describes the change.
    """
    code: NotRequired[str | None]
    """
    Digest of the uploaded code folder that belongs to the document. If omitted, an existing pipeline keeps its
    current folder. If empty, the folder is removed from the pipeline.
    """


class NewFolder(TypedDict):
    """
    Folder to create.
    """

    path: str
    """
    Path of the folder in the volume.
    """


class NewHook(TypedDict):
    """
    Hook to create.
    """

    name: str
    """
    Name.
    """
    parameters: NotRequired[dict[str, Any]]
    """
    Parameters of the runs that the hook starts.
    """


NewMark = TypedDict(
    'NewMark',
    {
        'as': Literal['succeeded', 'failed', 'skipped'],
        'reason': str,
        'outputs': NotRequired[dict[str, Any]],
    },
)


class NewPassword(TypedDict):
    """
    New password and current password.
    """

    current: str
    """
    Current password.
    """
    password: str
    """
    New value.
    """


class NewPrice(TypedDict):
    """
    A new price.
    """

    cluster: str
    """
    Cluster.
    """
    node_group: NotRequired[str | None]
    """
    Node group. Omitted for all nodes whose node group has no price of its own.
    """
    valid_from: NotRequired[str | None]
    """
    First day on which the price is valid, in UTC. Defaults to today.
    """
    cpu_hour: NotRequired[str]
    """
    Price of one CPU core for one hour, e.g. `0.04`.
    """
    memory_gib_hour: NotRequired[str]
    """
    Price of one GiB of memory for one hour.
    """
    gpu_hour: NotRequired[str]
    """
    Price of one GPU for one hour.
    """


class NewProject(TypedDict):
    """
    A project to create.
    """

    name: str
    """
    Name of the project: lower-case letters, digits and `-`, at most 40 characters. The name cannot be changed.
    """
    label: NotRequired[str | None]
    """
    Display name of the project. Defaults to its name.
    """
    description: NotRequired[str]
    """
    Description.
    """


class NewRegistry(TypedDict):
    """
    A registry to add.
    """

    name: str
    """
    Name of the registry in the project: lower-case letters, digits and `-`, at most 63 characters.
    """
    host: str
    """
    Host of the registry, optionally with a port: `registry.example.org:5000`.
    """
    user: NotRequired[str]
    """
    Account on the registry. Empty for a public registry.
    """
    secret: NotRequired[str | None]
    """
    Name of the project secret that contains the password.
    """


class NewSecret(TypedDict):
    """
    A new secret.
    """

    name: str
    """
    Name that tasks use: lower-case letters, digits and `-`, at most 63 characters.
    """
    value: str
    """
    Value of the secret: text of at most 64 KiB. Values shorter than four bytes cannot be masked in logs.
    """
    description: NotRequired[str]
    """
    Description.
    """


class NewTemplate(TypedDict):
    """
    A template to install.
    """

    document: str
    """
    Template document, YAML or JSON.
    """


class NewUser(TypedDict):
    """
    Account to create.
    """

    name: str
    """
    Sign-in name. It never changes.
    """
    display_name: NotRequired[str]
    """
    Display name. Defaults to the name.
    """
    email: NotRequired[str | None]
    """
    Email address.
    """
    admin: NotRequired[bool]
    """
    Whether the user is a platform administrator.
    """
    password: NotRequired[str | None]
    """
    Password. If omitted, a link is created with which the user sets a password.
    """


class NodeGroupBody(TypedDict):
    """
    Definition of the nodes of a group.
    """

    selector: NotRequired[dict[str, str]]
    """
    Labels of the nodes.
    """
    tolerations: NotRequired[list[dict[str, Any]]]
    """
    Taints of the nodes that jobs of the group tolerate.
    """
    env: NotRequired[dict[str, str]]
    """
    Environment variables of workers on these nodes, such as NCCL variables for their network. Tasks can override
    them.
    """
    spares: NotRequired[int]
    """
    Number of standby nodes, kept free to replace nodes that are unreachable or cordoned. At least one node
    remains available to jobs, regardless of this value.
    """


class NodeView(TypedDict):
    """
    A task in the graph.
    """

    id: str
    """
    Name of the task.
    """
    template: str
    """
    Task template, as `name@version`.
    """
    framework: str
    """
    Framework of the task.
    """
    state: str
    """
    State of the task, as in the list of tasks.
    """
    instances: NotRequired[int | None]
    """
    Number of instances, if known.
    """
    workers: int
    """
    Number of workers per attempt.
    """
    for_each: bool
    """
    Whether the task runs once for each item.
    """


class NotFiniteView(TypedDict):
    """
    Values of a metric that are NaN or infinite.
    """

    count: int
    """
    Number of these values.
    """
    step: float
    """
    Step of the first one.
    """
    value: str
    """
    First one: `NaN`, `Infinity` or `-Infinity`.
    """


class ObjectsView(TypedDict):
    """
    Manifests that an attempt submits to its cluster.
    """

    task: str
    """
    Task.
    """
    instance: int
    """
    Instance.
    """
    attempt: NotRequired[int | None]
    """
    Number of the attempt. Omitted before the first attempt.
    """
    bound: bool
    """
    Whether the manifest was submitted exactly as shown. Otherwise, it contains placeholders.
    """
    object: NotRequired[dict[str, Any] | None]
    """
    Manifest in the format of the cluster.
    """
    message: NotRequired[str | None]
    """
    Reason why there is no manifest yet.
    """


class OneResult(TypedDict):
    """
    Result for one of several runs.
    """

    run: str
    """
    Run from the request.
    """
    ok: bool
    """
    Whether the operation succeeded.
    """
    message: NotRequired[str | None]
    """
    Reason why the operation failed.
    """
    started: NotRequired[str | None]
    """
    New run, if one was started.
    """


class OutputsView(TypedDict):
    """
    Outputs that a task reported.
    """

    task: str
    """
    Task.
    """
    instance: int
    """
    Instance.
    """
    outputs: dict[str, Any]
    """
    Outputs, by name.
    """
    warnings: list[str]
    """
    Parts of its reports that could not be read, one message each.
    """


class Item4(TypedDict):
    """
    Monthly budget of a project, from a month until the next budget.
    """

    month: str
    """
    First month, in UTC, e.g. `2026-01`.
    """
    amount: NotRequired[str | None]
    """
    Amount, with a decimal point. Omitted if spending is unlimited from then on.
    """
    warn_percent: int
    """
    Percentage of the budget at which the project is marked.
    """
    stop: bool
    """
    Whether nothing new is started after the budget is spent.
    """
    revision: int
    """
    Revision number, starting at 1 and incremented on each change. It is the ETag.
    """


class PageBudgetView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item4]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item20(TypedDict):
    """
    Outputs that a task reported.
    """

    task: str
    """
    Task.
    """
    instance: int
    """
    Instance.
    """
    outputs: dict[str, Any]
    """
    Outputs, by name.
    """
    warnings: list[str]
    """
    Parts of its reports that could not be read, one message each.
    """


class PageOutputsView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item20]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class ParentView(TypedDict):
    """
    Attempt of a task of another run that corresponds to a run.
    """

    run: str
    """
    The other run.
    """
    task: str
    """
    Task.
    """
    instance: int
    """
    Instance.
    """
    attempt: int
    """
    Attempt.
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
    Optional component of a cluster.
    """

    name: str
    """
    Name.
    """
    purpose: str
    """
    Purpose of the component.
    """
    found: bool
    """
    Whether it is installed.
    """
    version: NotRequired[str | None]
    """
    Version of the component, if it can be determined.
    """


class PathHintView(TypedDict):
    """
    Something that would shorten the run, or that nothing stands out.
    """

    kind: str
    """
    Kind: `pending` (a task is pending now, with the reason), `waiting` (for capacity, quota or a concurrency
    limit), `decision` (of an approver), `parallelism` (the max concurrency of a task), `starting` (between
    submission and start), `retries`, `long_task` (half of the run or more) or `balanced` (nothing stands out).
    """
    task: NotRequired[str | None]
    """
    Task concerned. Omitted for `balanced`.
    """
    seconds: float
    """
    Time concerned, in seconds.
    """
    message: str
    """
    The same as a sentence.
    """


class Pixels(TypedDict):
    """
    Dimensions of an image, in pixels.
    """

    width: int
    """
    Width.
    """
    height: int
    """
    Height.
    """


class Place(TypedDict):
    """
    Membership of a user.
    """

    role: str
    """
    Role: `viewer`, `editor` or `owner`.
    """


class PlacesView(TypedDict):
    """
    Allowed target clusters of a project's jobs. Targets have the form `CLUSTER` or `CLUSTER/NODE_GROUP`. A cluster
    includes all of its node groups.
    """

    allowed: NotRequired[list[str]]
    """
    Allowed clusters and node groups. If empty, all are allowed.
    """
    usual: NotRequired[str | None]
    """
    Default target of pipelines that do not name one. If omitted, the first allowed target is used.
    """


class PoolShareView(TypedDict):
    """
    A resource of a pool.
    """

    resource: str
    """
    Name of the resource: `cpu` (cores), `memory` (bytes), `gpus`, `gpus/TYPE`, `pods` or `runs`.
    """
    capacity: NotRequired[float | None]
    """
    Total amount. Omitted if it is unknown or unlimited.
    """
    guaranteed: float
    """
    Amount that is guaranteed to all queues together.
    """
    held: float
    """
    Amount in use by all jobs. For a whole cluster, this includes jobs in its node groups.
    """


class PoolView(TypedDict):
    """
    A cluster or a node group of a cluster.
    """

    pool: str
    """
    Name of the pool in quotas: `CLUSTER` or `CLUSTER/NODE_GROUP`.
    """
    cluster: str
    """
    Cluster.
    """
    node_group: NotRequired[str | None]
    """
    Node group. Omitted if the pool is the whole cluster, for jobs that do not name a node group.
    """
    resources: list[PoolShareView]
    """
    Capacity.
    """


class PreflightValues(TypedDict):
    """
    Values of a preflight test. Values that were not measured are omitted.
    """

    cpu: NotRequired[float | None]
    """
    Hash throughput of one core, in MB/s of its own CPU time.
    """
    memory: NotRequired[float | None]
    """
    Memory copy throughput of one core, in MB/s of its own time.
    """
    card: NotRequired[float | None]
    """
    Multiplication throughput of the slowest GPU, in TFLOP/s.
    """
    mount: NotRequired[float | None]
    """
    Time that the slowest folder takes to write, read and delete a small file, in seconds.
    """
    network: NotRequired[float | None]
    """
    Network throughput to another worker, in MB/s. Median over the workers that it was measured with.
    """


class Preview1(TypedDict):
    """
    Text.
    """

    text: str
    """
    Text.
    """
    shown_as: Literal['text']


class Preview2(TypedDict):
    """
    JSON, formatted with one member per line.
    """

    text: str
    """
    Text.
    """
    shown_as: Literal['json']


class Preview3(TypedDict):
    """
    A table.
    """

    columns: list[str]
    """
    First row.
    """
    rows: list[list[str]]
    """
    Other rows.
    """
    shown_as: Literal['table']


class Preview4(TypedDict):
    """
    Picture. Display the file itself.
    """

    shown_as: Literal['image']


class Preview5(TypedDict):
    """
    Page. Display the file itself, in a frame with `sandbox`.
    """

    shown_as: Literal['page']


class Preview6(TypedDict):
    """
    No preview is available. The file can be downloaded.
    """

    shown_as: Literal['nothing']


class Preview7(TypedDict):
    """
    Preview of a file, as far as it can be displayed.
    """

    name: str
    """
    File name.
    """
    size: int
    """
    Size, in bytes.
    """
    media_type: str
    """
    Detected media type, e.g. `text/csv`.
    """
    truncated: bool
    """
    Whether only the beginning of the file is shown.
    """


class Preview8(Preview1, Preview7):
    """
    Preview of a file, as far as it can be displayed.
    """


class Preview9(Preview2, Preview7):
    """
    Preview of a file, as far as it can be displayed.
    """


class Preview10(Preview3, Preview7):
    """
    Preview of a file, as far as it can be displayed.
    """


class Preview11(Preview4, Preview7):
    """
    Preview of a file, as far as it can be displayed.
    """


class Preview12(Preview5, Preview7):
    """
    Preview of a file, as far as it can be displayed.
    """


class Preview13(Preview6, Preview7):
    """
    Preview of a file, as far as it can be displayed.
    """


Preview: TypeAlias = Preview8 | Preview9 | Preview10 | Preview11 | Preview12 | Preview13
"""
Preview of a file, as far as it can be displayed.
"""


class PriceChange(TypedDict):
    """
    New hourly rates of a price.
    """

    cpu_hour: NotRequired[str]
    """
    Price of one CPU core for one hour.
    """
    memory_gib_hour: NotRequired[str]
    """
    Price of one GiB of memory for one hour.
    """
    gpu_hour: NotRequired[str]
    """
    Price of one GPU for one hour.
    """


class PriorityClassBody(TypedDict):
    """
    Definition of a priority class.
    """

    priority: int
    """
    Priority, from -1000 to 1000. Higher goes first.
    """
    preempts: NotRequired[Literal['never', 'lower']]
    """
    Which jobs are preempted for a job of this class that has no capacity. Default: `never`.
    """
    description: NotRequired[str | None]
    """
    What the class is for, in one line.
    """


class PriorityClassView(TypedDict):
    """
    Priority class.
    """

    name: str
    """
    Name by which pipelines and tasks refer to the class.
    """
    priority: int
    """
    Priority, from -1000 to 1000. Higher goes first.
    """
    preempts: Literal['never', 'lower']
    """
    Which jobs are preempted for a job of this class that has no capacity.
    """
    description: NotRequired[str | None]
    """
    What the class is for.
    """
    revision: int
    """
    Revision number, used as the ETag.
    """


class PriorityClassesView(TypedDict):
    """
    All priority classes.
    """

    items: list[PriorityClassView]
    """
    Priority classes, the highest priority first.
    """


class ProblemView(TypedDict):
    """
    A problem in the input.
    """

    severity: str
    """
    Severity: `error` or `warning`.
    """
    code: str
    """
    Problem code. Stable, for use in programs.
    """
    path: str
    """
    Location as a JSON pointer (RFC 6901). Empty for the whole input.
    """
    message: str
    """
    Message that states the problem and how to fix it.
    """
    line: NotRequired[int | None]
    """
    Line in the text, from 1. Omitted if there is no text.
    """
    column: NotRequired[int | None]
    """
    Column in the line, starting at 1.
    """


class Profile(TypedDict):
    """
    Changes to your profile. Omitted fields stay unchanged.
    """

    display_name: NotRequired[str | None]
    """
    Your display name.
    """
    email: NotRequired[str | None]
    """
    Your email address. Empty for none.
    """
    mails: NotRequired[bool | None]
    """
    Whether you receive email about your own runs: hung tasks, GPUs allocated but idle, and right-sizing changes.
    """


class Program(TypedDict):
    """
    A program.
    """

    name: str
    """
    File name.
    """
    text: str
    """
    Content.
    """


class ProgressView(TypedDict):
    """
    Progress, as completed steps and an optional total.
    """

    step: float
    """
    Number of completed steps.
    """
    total: NotRequired[float | None]
    """
    Total number of steps, if known.
    """


class ProjectUseView(TypedDict):
    """
    Resources that a project has requested on a cluster, and its usage.
    """

    project: NotRequired[str | None]
    """
    Name of the project. Omitted if the entry combines several projects.
    """
    attempts: int
    """
    Number of the project's attempts that have resources allocated.
    """
    requested: AmountView
    """
    Resources requested by the attempts.
    """
    cpu_used: NotRequired[float | None]
    """
    CPU cores in use by these attempts.
    """
    memory_used: NotRequired[float | None]
    """
    Memory in use by these attempts, in bytes.
    """
    gpus_used: NotRequired[float | None]
    """
    GPUs in use by these attempts, as the sum of the fractions of time in which each GPU is busy. The usage of a
    shared GPU is divided among the tasks that share it.
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
    Quota of a queue in a pool. Amounts are keyed by resource: `cpu`, `memory`, `gpus`, `gpus/TYPE`, `pods`, `runs`.
    """

    guarantee: NotRequired[dict[str, Any]]
    """
    Guaranteed amounts. The queue gets what it needs of them, if necessary by reclaiming what others borrowed.
    """
    limit: NotRequired[dict[str, Any]]
    """
    Maximum amount that the queue can use, including borrowed resources.
    """
    weight: NotRequired[int]
    """
    Weight of the queue, relative to its siblings, in the distribution of resources that are not guaranteed or not
    in use.
    """
    borrow: NotRequired[bool]
    """
    Whether it may borrow beyond its guarantee.
    """
    lend: NotRequired[bool]
    """
    Whether others may borrow the unused part of its guarantee.
    """
    per_person: NotRequired[dict[str, Any]]
    """
    Maximum amounts allocated to the jobs of one user. Applies to projects only.
    """
    max_priority: NotRequired[int | None]
    """
    Highest priority that its tasks may set. Omitted if any priority is allowed.
    """


class RatesBody(TypedDict):
    """
    Hourly rates, as decimal numbers with a point and a precision of one millionth. An omitted rate is zero.
    """

    cpu_hour: NotRequired[str]
    """
    Hourly price of one CPU core.
    """
    memory_gib_hour: NotRequired[str]
    """
    Hourly price of one GiB of memory.
    """
    gpu_hour: NotRequired[str]
    """
    Price of one GPU for one hour.
    """


class Ready(TypedDict):
    """
    Readiness of the server.
    """

    status: str
    """
    Status of the server: `ready`.
    """
    last_pass_seconds: float
    """
    Seconds since the last scheduling cycle of the server's engine ended.
    """


class RegistryChange(TypedDict):
    """
    New settings of a registry.
    """

    host: str
    """
    Host name, optionally with a port.
    """
    user: NotRequired[str]
    """
    Account on the registry. Empty for a public registry.
    """
    secret: NotRequired[str | None]
    """
    Name of the project secret that contains the password.
    """


class RemedyView(TypedDict):
    """
    A recommended change.
    """

    what: str
    """
    Recommended change.
    """
    pytorch: NotRequired[str | None]
    """
    Corresponding setting in PyTorch.
    """
    tensorflow: NotRequired[str | None]
    """
    Corresponding setting in TensorFlow.
    """
    setting: NotRequired[str | None]
    """
    Corresponding setting of the task in the pipeline, e.g. `resources.cpu`. Includes a recommended value if one
    was found, e.g. `resources.processes_per_gpu: 4`.
    """


RerunFrom = TypedDict(
    'RerunFrom',
    {
        'from': list[str]
    },
)


class ResumeWith(TypedDict):
    """
    Pipeline version to resume with.
    """

    version: NotRequired[int | None]
    """
    Pipeline version. Defaults to the newest version.
    """


class RevokedToken(TypedDict):
    """
    Token to revoke.
    """

    token: str
    """
    The token itself. It needs no scope for this, and may be bound to a project.
    """


class RoleView(TypedDict):
    """
    Resources of the workers of a role.
    """

    name: str
    """
    Role.
    """
    replicas: int
    """
    Number of workers.
    """
    cpu: float
    """
    CPU of each worker, in cores.
    """
    memory: int
    """
    Memory of each worker, in bytes.
    """
    gpu: NotRequired[GpuView | None]


class RulesView(TypedDict):
    """
    Notification rules of a channel.
    """

    events: list[str]
    """
    Kinds of events to report: `run_failed`, `run_recovered` (a run succeeded after one had failed),
    `task_waiting`.
    """
    pipelines: NotRequired[list[str]]
    """
    Pipelines to report on. Empty means all pipelines.
    """
    waiting_seconds: NotRequired[int]
    """
    Minimum time that a task has been pending, in seconds. Defaults to half an hour.
    """
    repeat_seconds: NotRequired[int]
    """
    Minimum time between repeated messages about the same pipeline or task, in seconds. With 0, every event is
    reported.
    """
    language: NotRequired[str]
    """
    Language of messages: `en` or `zh`.
    """
    quiet: NotRequired[QuietView | None]


class RunAgainView(TypedDict):
    """
    A task that would run when a run is resumed.
    """

    task: str
    """
    Task.
    """
    reason: str
    """
    Why it would run: `new`, `changed`, `unfinished` (it did not succeed) or `upstream` (a task upstream of it would run).
    """
    changed: NotRequired[list[str]]
    """
    What has changed: names of fields, and files that its arguments name. Empty for other reasons.
    """


class RunDate(TypedDict):
    """
    Request to run a date now.
    """

    date: str
    """
    Logical date: a day (its start) or a time, in the time zone of the schedule, or a time in UTC.
    """
    again: NotRequired[bool]
    """
    Whether to run the date again if its run has ended.
    """


class RunTimeView(TypedDict):
    """
    Duration of attempts.
    """

    p50_seconds: float
    """
    Median duration of the attempts.
    """
    p90_seconds: float
    """
    90th percentile of the duration.
    """
    attempts: int
    """
    Number of attempts used for the statistics: the latest successful ones.
    """


class RunnableView(TypedDict):
    """
    Whether a task template can run on a cluster.
    """

    name: str
    """
    Name of the template.
    """
    framework: str
    """
    Framework, which determines how workers learn their identity.
    """
    missing: list[str]
    """
    What the template lacks on the cluster. Empty if it can run.
    """


class RunningView(TypedDict):
    """
    Attempt with allocated resources.
    """

    run: str
    """
    Run.
    """
    project: str
    """
    Project.
    """
    pipeline: str
    """
    Pipeline.
    """
    task: str
    """
    Task.
    """
    instance: int
    """
    Instance.
    """
    attempt: int
    """
    Attempt.
    """
    state: str
    """
    State: `submitting`, `running` or `stopping`.
    """
    workers: int
    """
    Number of workers.
    """
    amount: AmountView
    """
    Allocated amount.
    """


class SaidView(TypedDict):
    """
    Settings of a queue, with their revision.
    """

    parent: NotRequired[str | None]
    """
    Parent group. Omitted for a queue at the top level.
    """
    quotas: dict[str, QuotaBody]
    """
    Quotas for each pool, as written in the request.
    """
    revision: int
    """
    Revision of the queue. In quotation marks, it is the ETag. It is 0 for a project without quota settings.
    """


class ScheduleToPreview(TypedDict):
    """
    Schedule to preview.
    """

    schedule: dict[str, Any]
    """
    Schedule as in a document.
    """


class SecretChange(TypedDict):
    """
    New value or description of a secret, or both.
    """

    value: NotRequired[str | None]
    """
    New value. If omitted, the current value is kept.
    """
    description: NotRequired[str | None]
    """
    New description. If omitted, the current description is kept.
    """


class SentDeviceCode(TypedDict):
    """
    Request for the token of a command line.
    """

    device_code: str
    """
    Secret of the command line, from `POST /device/code`.
    """


class SeriesView(TypedDict):
    """
    One metric of one instance, over its steps.
    """

    name: str
    """
    Name.
    """
    task: str
    """
    Task.
    """
    instance: int
    """
    Instance.
    """
    count: int
    """
    Number of reported values.
    """
    last: NotRequired[float | None]
    """
    Last value. Null if it is not finite.
    """
    min: NotRequired[float | None]
    """
    Smallest finite value. Null if there is none.
    """
    max: NotRequired[float | None]
    """
    Largest finite value. Null if there is none.
    """
    not_finite: NotRequired[NotFiniteView | None]
    points: list[list[float | None]]
    """
    `[step, value]` pairs, at most 1,000, downsampled so that the smallest and largest values are kept. If no step
    was reported, the step is the position. A value that is not finite is null.
    """


class ShareView(TypedDict):
    """
    Share of a queue in one resource of a pool.
    """

    resource: str
    """
    Name of the resource: `cpu` (cores), `memory` (bytes), `gpus`, `gpus/TYPE`, `pods` or `runs`.
    """
    guarantee: float
    """
    Guaranteed amount.
    """
    most: NotRequired[float | None]
    """
    Maximum amount that the queue can use: its limit, or its guarantee if it cannot borrow. Omitted if there is no
    maximum.
    """
    held: float
    """
    Allocated amount.
    """
    borrowed: float
    """
    Amount in use beyond the guarantee.
    """
    lent: float
    """
    Part of the guarantee that other queues use.
    """


class ShortageView(TypedDict):
    """
    An insufficient resource.
    """

    resource: str
    """
    Name of the resource: `cpu` (cores), `memory` (bytes), `gpus`, `gpus/TYPE`, `pods` or `runs`.
    """
    asked: float
    """
    Requested amount.
    """
    free: float
    """
    Amount currently available to it.
    """
    held: float
    """
    Allocated amount.
    """
    limit: NotRequired[float | None]
    """
    Total amount, or maximum amount that may be allocated.
    """
    guaranteed: NotRequired[float | None]
    """
    Guaranteed amount of its project.
    """
    borrowed: NotRequired[float | None]
    """
    Amount that its project has allocated beyond its guarantee.
    """


class SizeView(TypedDict):
    """
    Right-sized resources of a worker.
    """

    cpu: float
    """
    CPU, in cores.
    """
    memory: int
    """
    Memory, in bytes.
    """


class StackView(TypedDict):
    """
    Stack traces of a worker's processes.
    """

    worker: str
    """
    Worker, in the form `<role>-<index>`.
    """
    text: str
    """
    Processes with their threads. Python processes that import `cubeloom` include their stack frames.
    """


class StartRun(TypedDict):
    """
    What to start: a stored pipeline, by name, or a document.
    """

    pipeline: NotRequired[str | None]
    """
    Pipeline.
    """
    version: NotRequired[int | None]
    """
    Pipeline version. Defaults to the newest version.
    """
    document: NotRequired[str | None]
    """
    Text of a pipeline document, in YAML or JSON, to run without storing it.
    """
    code: NotRequired[str | None]
    """
    Digest of a folder that was uploaded for the document.
    """
    parameters: NotRequired[dict[str, Any]]
    """
    Parameters. Strings are parsed according to the declared types.
    """
    tasks: NotRequired[PartOfRun | None]
    place: NotRequired[str | None]
    """
    Target cluster of this run, as `CLUSTER` or `CLUSTER/NODE_GROUP`. It overrides the target cluster of the
    pipeline. Tasks with their own node group keep it. Allowed only for runs of a whole pipeline.
    """


class StoreCredentials(TypedDict):
    """
    Secrets of the project with the access key of a bucket.
    """

    id: str
    """
    Name of the secret that contains the access key's id.
    """
    key: str
    """
    Name of the secret that contains the access key's secret.
    """


class SuspendWish(TypedDict):
    """
    Requested action.
    """

    suspended: bool
    """
    `true` suspends the attempt and removes its workers. `false` resumes it and starts them again.
    """


class TakesView(TypedDict):
    """
    Estimated total duration.
    """

    p50_seconds: float
    """
    Median duration, in seconds.
    """
    p90_seconds: float
    """
    90th percentile of the duration, in seconds.
    """


class TaskChange(TypedDict):
    """
    A task that differs.
    """

    task: str
    """
    Task.
    """
    fields: list[FieldChange]
    """
    Fields of the task that differ.
    """


class TaskCounts(TypedDict):
    """
    Number of items in total and in each state.
    """

    total: int
    """
    Total number of tasks.
    """
    states: dict[str, int]
    """
    Number of items in each state. States without items are omitted.
    """


class TaskValueView(TypedDict):
    """
    A value that a task reported.
    """

    task: str
    """
    Task.
    """
    name: str
    """
    Name of the metric or the output.
    """
    value: Any
    """
    The number. A metric that is not finite has `NaN`, `Infinity` or `-Infinity` as a text.
    """


class TemplateOutputView(TypedDict):
    """
    An output of a template's program.
    """

    name: str
    """
    Name.
    """
    description: NotRequired[str | None]
    """
    Description of the output.
    """


class TemplateRoleView(TypedDict):
    """
    A role of a template.
    """

    name: str
    """
    Name.
    """
    replicas: Any
    """
    Number of workers: a number or an expression.
    """
    resources: NotRequired[dict[str, Any]]
    """
    Default resource request of each worker, used if the task sets none.
    """


class TerminalEvent1(TypedDict):
    """
    The terminal ends soon.
    """

    seconds: int
    """
    Seconds until the terminal ends.
    """
    kind: Literal['warning']


class TerminalEvent2(TypedDict):
    """
    The terminal has ended. No messages follow.
    """

    why: Literal['exited', 'closed', 'limit', 'idle', 'away', 'revoked', 'stopping']
    """
    Reason.
    """
    kind: Literal['ended']


class TerminalEvent3(TypedDict):
    """
    The same person has connected from elsewhere. No messages follow on this connection.
    """

    kind: Literal['replaced']


TerminalEvent: TypeAlias = TerminalEvent1 | TerminalEvent2 | TerminalEvent3
"""
JSON text message from a terminal. Output is sent as binary messages.
"""


class TerminalMessage1(TypedDict):
    """
    New size of the terminal.
    """

    columns: int
    """
    Characters per line, from 1.
    """
    rows: int
    """
    Number of lines, from 1.
    """
    kind: Literal['resize']


class TerminalMessage2(TypedDict):
    """
    Acknowledges that further bytes have been displayed. At most 262,144 bytes are sent ahead of this
    acknowledgement.
    """

    bytes: int
    """
    Count.
    """
    kind: Literal['shown']


TerminalMessage: TypeAlias = TerminalMessage1 | TerminalMessage2
"""
JSON text message to a terminal. Typed input is sent as binary messages.
"""


class TerminalWish(TypedDict):
    """
    Terminal to open.
    """

    worker: NotRequired[str | None]
    """
    Worker that the terminal represents, e.g. `worker-0`. Defaults to the worker that failed first.
    """
    columns: NotRequired[int | None]
    """
    Characters per line, from 1. Defaults to 80.
    """
    rows: NotRequired[int | None]
    """
    Number of lines, from 1. Defaults to 24.
    """


class TestView(TypedDict):
    """
    Result of a test message.
    """

    sent: bool
    """
    Whether the receiver accepted the message.
    """
    answer: str
    """
    Response of the receiver, or the reason why it could not be reached.
    """


class TestedWorkerView(PreflightValues):
    """
    Preflight test result of one worker.
    """

    worker: str
    """
    Worker, in the form `<role>-<index>`.
    """
    slow: NotRequired[bool]
    """
    Whether a value is beyond its threshold, that is, slower than normal on the nodes of the group. This alone is
    not a failure.
    """
    wrong: NotRequired[list[str]]
    """
    Problems found, one message each.
    """


class TextView(TypedDict):
    """
    A text in English and Chinese.
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
    Redirect target.
    """

    url: str
    """
    URL of the provider's page. The provider redirects back to this browser within ten minutes.
    """


class TimePartView(TypedDict):
    """
    A part of the total time.
    """

    part: str
    """
    Kind of time: `useful`, `waiting`, `starting`, `saving` (checkpoints), `restoring`, or `again` (steps that an
    earlier attempt had already done). For attempts with GPUs that reported no steps: `idle` (the GPUs did nothing), or
    `unknown` (GPU usage is not known). Time lost to a failure: `program`, `out_of_memory`, `gpu`, `network`,
    `storage`, `preempted`, `node_lost` or `hang`.
    """
    seconds: float
    """
    Duration, in seconds.
    """


class ToCompile(TypedDict):
    """
    Document to compile.
    """

    document: str
    """
    Document text, YAML or JSON.
    """
    parameters: NotRequired[dict[str, Any]]
    """
    Parameters. Strings are parsed according to the declared types.
    """
    code: NotRequired[str | None]
    """
    Digest of the code folder that belongs to the document.
    """


class ToForecast(TypedDict):
    """
    Input of a forecast: a document or a stored pipeline.
    """

    document: NotRequired[str | None]
    """
    Document text, YAML or JSON.
    """
    code: NotRequired[str | None]
    """
    Digest of the code folder that belongs to the document.
    """
    pipeline: NotRequired[str | None]
    """
    Stored pipeline, instead of a document.
    """
    version: NotRequired[int | None]
    """
    Pipeline version. Defaults to the newest version.
    """
    parameters: NotRequired[dict[str, Any]]
    """
    Parameters. Strings are parsed according to the declared types.
    """


class TokenView(TypedDict):
    """
    A token, without its secret part.
    """

    id: str
    """
    Token id: the part of the token between `clt_` and the next `_`.
    """
    name: str
    """
    Name that the user gave the token.
    """
    scope: str
    """
    Scope: `read`, `run`, `write` or `admin`.
    """
    project: NotRequired[str | None]
    """
    Project to which the token is restricted, if set.
    """
    created_at: str
    """
    Creation time.
    """
    expires_at: NotRequired[str | None]
    used_at: NotRequired[str | None]


class TrialView(TypedDict):
    """
    A trial of a search.
    """

    instance: int
    """
    Instance.
    """
    state: str
    """
    State, one of the task states.
    """
    parameters: dict[str, Any]
    """
    Parameter values that it tries, by name.
    """
    value: NotRequired[float | None]
    """
    Value of the metric or output. Omitted until the trial has reported it.
    """


class UploadedView(TypedDict):
    """
    Uploaded code folder of the project.
    """

    digest: str
    """
    SHA-256 digest of names, modes and content, in hexadecimal. Send it as `code` with a document.
    """
    files: int
    """
    Number of files in the folder.
    """


class UsageGroup(FiguresView):
    """
    Usage of a group. Fields that the report is not grouped by are omitted.
    """

    day: NotRequired[str | None]
    """
    Day, UTC, e.g. `2026-01-31`.
    """
    project: NotRequired[str | None]
    """
    Project.
    """
    user: NotRequired[str | None]
    """
    User that it ran for.
    """
    pipeline: NotRequired[str | None]
    """
    Pipeline of the project.
    """
    template: NotRequired[str | None]
    """
    Task template.
    """
    cluster: NotRequired[str | None]
    """
    Cluster.
    """
    node_group: NotRequired[str | None]
    """
    Node group of the cluster. Omitted for nodes without a group.
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
    Resource usage.
    """

    cpu_seconds: float
    """
    CPU time of all workers together, in seconds.
    """
    peak_memory: int
    """
    Peak of anonymous and shared memory of the largest worker, in bytes.
    """


class UseOfLink(TypedDict):
    """
    Request to use a link.
    """

    token: str
    """
    Secret in the link, after `token=`.
    """
    name: NotRequired[str]
    """
    Name to sign in with. Only for a new account.
    """
    display_name: NotRequired[str]
    """
    Display name. Only for a new account.
    """
    password: str
    """
    New password.
    """


class UserChange(TypedDict):
    """
    Changes to apply. Omitted fields keep their values.
    """

    display_name: NotRequired[str | None]
    """
    Display name.
    """
    email: NotRequired[str | None]
    """
    Email address. An empty string removes it.
    """
    admin: NotRequired[bool | None]
    """
    Whether the user is a platform administrator.
    """
    disabled: NotRequired[bool | None]
    """
    Whether sign-in is disabled. Disabling it ends the user's sessions and tokens immediately.
    """


class UserView(TypedDict):
    """
    A user.
    """

    id: str
    """
    ID.
    """
    name: str
    """
    Sign-in name. It never changes.
    """
    display_name: str
    """
    Display name.
    """
    email: NotRequired[str | None]
    """
    Email address.
    """
    admin: bool
    """
    Whether the user is a platform administrator.
    """
    disabled: bool
    """
    Whether sign-in is disabled for the user.
    """
    issuer: NotRequired[str | None]
    """
    OpenID Connect provider that the user signs in with, if any.
    """
    created_at: str
    """
    Creation time.
    """
    seen_at: NotRequired[str | None]
    mails: bool
    """
    Whether the user gets mail about their own runs: hanging tasks, GPUs that are allocated but idle, changed
    sizes.
    """
    revision: int
    """
    Revision of the account, from 1. It is the ETag.
    """


class ValuePair(TypedDict):
    """
    Value on both sides. Null on a side without a value.
    """

    name: str
    """
    Name.
    """
    left: Any
    """
    Left side of the comparison.
    """
    right: Any
    """
    Right side of the comparison.
    """
    same: bool
    """
    Whether both values are equal.
    """


class VersionView(TypedDict):
    """
    A version of a pipeline.
    """

    version: int
    """
    Version number, starting at 1.
    """
    document: NotRequired[str | None]
    """
    Document, byte for byte as it was sent. Omitted in lists.
    """
    digest: str
    """
    SHA-256 digest of the document, in hexadecimal.
    """
    code: NotRequired[str | None]
    """
    Digest of the associated code folder.
    """
    message: str
    """
    Message that the author gave for the change.
    """
    user: str
    """
    Author of the version.
    """
    created_at: str
    """
    Time when the version was stored.
    """


class VolumePlace1(TypedDict):
    """
    Folder of the project's own storage, created when it is first used.
    """

    path: str
    """
    Path below the project's storage, separated by `/`.
    """
    kind: Literal['workspace']


class VolumePlace2(TypedDict):
    """
    A folder on the server. Only administrators can specify one.
    """

    path: str
    """
    Absolute path.
    """
    kind: Literal['folder']


class VolumePlace3(TypedDict):
    """
    A PersistentVolumeClaim on a Kubernetes cluster.
    """

    cluster: str
    """
    Cluster.
    """
    claim: str
    """
    Name of the claim, in the project's namespace.
    """
    folder: NotRequired[str | None]
    """
    Absolute path at which this server sees the claim's files. Without it, only jobs see them. Only an
    administrator may set it.
    """
    kind: Literal['claim']


class VolumePlace4(TypedDict):
    """
    A bucket of an object store.
    """

    scheme: str
    """
    Protocol: `s3` for every store that is compatible with Amazon S3, or `cos`.
    """
    bucket: str
    """
    Bucket.
    """
    prefix: NotRequired[str]
    """
    Prefix within the bucket.
    """
    endpoint: NotRequired[str | None]
    """
    Endpoint of the service. Omitted if it is the vendor's own.
    """
    region: NotRequired[str | None]
    """
    Region.
    """
    credentials: NotRequired[StoreCredentials | None]
    kind: Literal['object_store']


class VolumeView(TypedDict):
    """
    A volume.
    """

    name: str
    """
    Name by which tasks refer to it.
    """
    description: str
    """
    Description.
    """
    place: VolumePlace1 | VolumePlace2 | VolumePlace3 | VolumePlace4
    """
    Location.
    """
    built_in: bool
    """
    Whether every project has it. Such a volume can be neither changed nor deleted.
    """
    browsable: bool
    """
    Whether its files can be browsed here.
    """
    created_at: str
    """
    Creation time.
    """
    revision: int
    """
    Revision number, incremented with each change. In quotes, it is the ETag.
    """


class WantedDeviceCode(TypedDict):
    """
    Command line to sign in.
    """

    client: str
    """
    Description of the program and its machine, which the user sees: `cubeloom on laptop`. It becomes the
    token's name.
    """


class WantedDeviceDecision(TypedDict):
    """
    Decision about a command line.
    """

    user_code: str
    """
    Code that the command line shows.
    """
    approve: bool
    """
    Whether it gets a token.
    """
    scope: NotRequired[str | None]
    """
    Scope of the token. Defaults to `write`.
    """
    project: NotRequired[str | None]
    """
    Project that the token is restricted to.
    """


class WantedLink1(TypedDict):
    """
    Invitation for a new account, valid for seven days.
    """

    project: NotRequired[str | None]
    """
    Project that the new user becomes a member of.
    """
    role: NotRequired[str | None]
    """
    Role in the project. Defaults to `editor`.
    """
    admin: NotRequired[bool]
    """
    Whether the new user becomes an administrator of the whole platform.
    """
    note: NotRequired[str]
    """
    Note about the recipient.
    """
    kind: Literal['invite']


class WantedLink2(TypedDict):
    """
    Link to set a new password, valid for one day.
    """

    user: str
    """
    User whose password is reset: a name or an ID.
    """
    kind: Literal['reset']


WantedLink: TypeAlias = WantedLink1 | WantedLink2
"""
Link to create.
"""


class WantedToken(TypedDict):
    """
    Token to create.
    """

    name: str
    """
    Token name.
    """
    scope: str
    """
    Token scope. `read` only reads, and `run` also starts and stops runs. `write` allows what you may do in
    projects, and `admin` everything that you may do.
    """
    project: NotRequired[str | None]
    """
    Project that the token is restricted to.
    """
    expires_at: NotRequired[str | None]


class WhyView(TypedDict):
    """
    Pending reason: the rule, the amounts, and the jobs that use the missing resources.
    """

    rule: str
    """
    Rule that keeps it pending: `capacity`, `not_lent`, `limit`, `no_borrowing`, `persons_cap`, `named_limit`,
    `apart`, `behind`, `cool_down`, `leaving`, `scattered`, `faulty`, `never_fits`, `task_parallelism` or
    `pipeline_parallelism`.
    """
    pool: str
    """
    Node pool concerned, as `CLUSTER` or `CLUSTER/NODE_GROUP`.
    """
    queue: NotRequired[str | None]
    """
    Queue whose limit or guarantee applies: the project, or a group above it.
    """
    limit: NotRequired[str | None]
    """
    Concurrency limit that is used up.
    """
    shortages: list[ShortageView]
    """
    Insufficient resources.
    """
    faulty: NotRequired[FaultyCardsView | None]
    holders: list[HolderView]
    """
    Jobs that use the missing resources, in the projects that you can see. It starts when these and the other
    counted jobs end. Empty if that would not help. At most 200 jobs are listed.
    """
    more_holders: int
    """
    Number of further blocking jobs in visible projects, beyond those listed in `holders`.
    """
    hidden_holders: int
    """
    Number of blocking jobs in other projects.
    """
    ahead: int
    """
    Number of jobs ahead of it in the same node pool. For `task_parallelism`, instances of its task. For
    `pipeline_parallelism`, jobs of its run.
    """
    parallelism: NotRequired[int | None]
    """
    Concurrency limit, if the rule is about parallelism.
    """
    active: NotRequired[int | None]
    """
    Number of them that are active: running or pending.
    """
    behind: NotRequired[HeadView | None]


class WorkerView(TypedDict):
    """
    A worker of an attempt.
    """

    name: str
    """
    Worker name, `<role>-<index>`.
    """
    rank: int
    """
    Rank across all roles.
    """
    address: NotRequired[str | None]
    """
    Address that it listens on, while it runs on this machine.
    """
    gpus: NotRequired[list[str]]
    """
    UUIDs of its GPUs.
    """
    given_back: NotRequired[bool]
    """
    Whether the job has released the worker.
    """


class AdviceView(TypedDict):
    """
    A recommendation.
    """

    rule: str
    """
    Rule that produced the recommendation: `held_idle`, `cpu_saturated`, `io_wait`, `regular_dips`,
    `memory_empty`, `straggler` or `far_from_peers`.
    """
    run: str
    """
    Run that contains the task.
    """
    task: str
    """
    Task that the recommendation applies to.
    """
    workers: NotRequired[list[str]]
    """
    Workers that the recommendation applies to. Empty if it applies to a GPU.
    """
    evidence: str
    """
    Evidence for the recommendation.
    """
    remedies: list[RemedyView]
    """
    Recommended changes, in order of priority.
    """


class ArtifactView(TypedDict):
    """
    An artifact: a file to display.
    """

    task: str
    """
    Task.
    """
    instance: int
    """
    Instance.
    """
    name: str
    """
    Name.
    """
    path: str
    """
    Path relative to the run's folder.
    """
    size: NotRequired[int | None]
    """
    Size, in bytes. Omitted if the file does not exist.
    """
    content_type: str
    """
    Content type, derived from the file name.
    """
    preview: str
    """
    Preview type: `image`, `text`, `csv`, `json`, `html`, `directory` or `none`.
    """
    pixels: NotRequired[Pixels | None]


class AsideFailureView(TypedDict):
    """
    An attempt that failed because of its node.
    """

    at: str
    """
    Time of the failure.
    """
    message: str
    """
    Description of the failure.
    """
    run: NotRequired[str | None]
    """
    Run, if you have access to it.
    """
    task: NotRequired[str | None]
    """
    Task, if you have access to it.
    """


class AsideView(TypedDict):
    """
    A cordoned node.
    """

    node: str
    """
    Name.
    """
    since: str
    """
    Time at which the node was cordoned.
    """
    why: str
    """
    Reason, as a sentence.
    """
    user: NotRequired[str | None]
    """
    User who cordoned the node. Omitted if it was cordoned automatically.
    """
    note: NotRequired[str | None]
    """
    Note by the user.
    """
    failures: NotRequired[list[AsideFailureView]]
    """
    Attempts that failed because of the node, newest last.
    """
    offered: bool
    """
    Whether the node has been cordoned long enough to be tried again.
    """


class AuditView(TypedDict):
    """
    An audit log entry.
    """

    id: str
    """
    ID. Later entries have greater IDs.
    """
    at: str
    """
    Time of the change.
    """
    user: str
    """
    Name of the user who made the change.
    """
    via: str
    """
    Origin of the change: `session`, `token <name>`, `device <description>`, `hook <name>`, `command line`, `run`
    or `server`.
    """
    address: str
    """
    Source address. Empty for changes made on the server's own machine.
    """
    project: NotRequired[str | None]
    """
    Project, if any.
    """
    action: str
    """
    Action, in the form `<thing>.<verb>`.
    """
    subject: str
    """
    Name or ID of the affected object.
    """
    before: NotRequired[Any]
    """
    State before the change.
    """
    after: NotRequired[Any]
    """
    State after the change.
    """


class BackfillView(TypedDict):
    """
    A back-fill.
    """

    id: str
    """
    ID.
    """
    project: str
    """
    Project.
    """
    pipeline: str
    """
    Pipeline.
    """
    first: str
    """
    Start of the time range.
    """
    last: str
    """
    End of the range.
    """
    parallelism: int
    """
    Maximum number of its runs that can be active concurrently.
    """
    state: str
    """
    State of the back-fill: `running`, `done` or `cancelled`.
    """
    total: int
    """
    Number of dates in the back-fill.
    """
    due: int
    """
    Number of dates whose run is still to start.
    """
    running: int
    """
    Number of dates whose run is active.
    """
    succeeded: int
    """
    Number of dates whose run succeeded.
    """
    failed: int
    """
    Number of dates whose run failed, was cancelled or could not be started.
    """
    cancelled: int
    """
    Number of dates that did not start because the back-fill was cancelled.
    """
    created_by: str
    """
    Name of the user who created the back-fill.
    """
    created_at: str
    """
    Creation time.
    """
    cancelled_by: NotRequired[str | None]
    """
    User who cancelled the back-fill.
    """
    cancelled_at: NotRequired[str | None]


class CardHistoryView(TypedDict):
    """
    Values over time.
    """

    start: float
    """
    Time of the first values, in seconds since the Unix epoch.
    """
    step: float
    """
    Interval between two values, in seconds.
    """
    series: list[CardSeriesView]
    """
    Time series of each available metric.
    """


class CardHolderView(TypedDict):
    """
    An attempt that a GPU is allocated to.
    """

    run: str
    """
    Run.
    """
    project: str
    """
    Project.
    """
    pipeline: str
    """
    Pipeline.
    """
    task: str
    """
    Task.
    """
    instance: int
    """
    Instance.
    """
    attempt: int
    """
    Attempt.
    """
    user: str
    """
    User who started the run.
    """
    since: NotRequired[str | None]


class ChannelChange(TypedDict):
    """
    Changes to apply. Omitted fields keep their values.
    """

    name: NotRequired[str | None]
    """
    Name.
    """
    address: NotRequired[str | None]
    """
    Destination address.
    """
    secret: NotRequired[str | None]
    """
    Secret that signs messages. An empty string disables signing.
    """
    rules: NotRequired[RulesView | None]
    enabled: NotRequired[bool | None]
    """
    Whether the channel is enabled. If it is disabled, its pending messages are not sent.
    """


class ChannelView(TypedDict):
    """
    A channel that delivers alerts of the project.
    """

    id: str
    """
    ID.
    """
    name: str
    """
    Name.
    """
    kind: str
    """
    `webhook`, `slack`, `feishu`, `dingtalk`, `wecom` or `email`.
    """
    address: str
    """
    Destination address, without the parts that would let others send to it.
    """
    signed: bool
    """
    Whether its messages are signed.
    """
    rules: RulesView
    """
    Notification rules.
    """
    enabled: bool
    """
    Whether it is enabled.
    """
    created_by: str
    """
    Name of the creator.
    """
    created_at: str
    """
    Creation time.
    """
    revision: int
    """
    Revision number, incremented on each change.
    """


class CheckedView(TypedDict):
    """
    Validation result of a document.
    """

    valid: bool
    """
    Whether the pipeline could run here, given values for parameters without a default.
    """
    problems: list[ProblemView]
    """
    All errors and warnings, in document order.
    """
    name: NotRequired[str | None]
    """
    Pipeline name. Omitted if the document structure is invalid.
    """
    parameters: NotRequired[dict[str, Any]]
    """
    Pipeline parameters. Omitted if the document structure is invalid.
    """
    tasks: NotRequired[list[CheckedTask] | None]
    """
    Tasks and their dependencies. Omitted if the document structure is invalid.
    """


class ClusterBody(TypedDict):
    """
    Settings of a cluster. A Slurm cluster uses only `slurm`; other clusters use the remaining fields. In `namespace`
    and `workspace_path`, `{project}` is replaced by the project's name.
    """

    description: NotRequired[str]
    """
    Description.
    """
    access: Literal['in_cluster', 'kubeconfig', 'slurm']
    """
    Access method.
    """
    slurm: NotRequired[dict[str, Any] | None]
    """
    Properties of a Slurm cluster (`facts`), and the user that its jobs run as (`way`). See docs/slurm.md.
    """
    context: NotRequired[str | None]
    """
    Context of the kubeconfig. Defaults to its current context.
    """
    namespace: NotRequired[str]
    """
    Namespace of a project's jobs.
    """
    service_account: NotRequired[str]
    """
    Service account of the job pods. It needs no permissions.
    """
    spark_account: NotRequired[str | None]
    """
    Service account of Spark drivers, which is allowed to create pods in the namespace. If omitted, drivers start
    no executors.
    """
    workspace_claim: NotRequired[str]
    """
    Persistent volume claim, in the namespace, that holds workspaces. This server must see the same files.
    """
    workspace_path: NotRequired[str]
    """
    Folder of the claim that is the project's workspace. If empty, the workspace is the whole claim.
    """
    uid: NotRequired[int]
    """
    UID and GID of workers. Must not be 0.
    """
    pull_secrets: NotRequired[list[str]]
    """
    Secrets in the namespace used to pull images.
    """
    operators_gang: NotRequired[bool]
    """
    Whether the operators on the cluster were started with Volcano gang scheduling.
    """
    volcano_queue: NotRequired[str]
    """
    Volcano queue for the jobs, used if Volcano is installed.
    """
    kueue_queue: NotRequired[str | None]
    """
    Kueue local queue for the jobs. Kueue is used if this field is set and Volcano is not installed.
    """
    kai_queue: NotRequired[str | None]
    """
    KAI-Scheduler queue for pods that request a GPU fraction. `{project}` is replaced by the project's name.
    KAI-Scheduler shares GPUs if it is installed, this field is set, and Volcano is not installed.
    """
    priority_class: NotRequired[str | None]
    """
    Priority class of the jobs.
    """
    host_network: NotRequired[bool]
    """
    Whether pods may use the host network.
    """
    node_groups: NotRequired[dict[str, NodeGroupBody]]
    """
    Node groups that a placement can refer to.
    """
    keep_seconds: NotRequired[int]
    """
    Retention of the manifests of a finished job, in seconds.
    """
    patience_seconds: NotRequired[int]
    """
    Pending timeout: maximum time that a pod may wait for a missing dependency (an image, a volume, a Secret), in
    seconds.
    """
    prometheus: NotRequired[str | None]
    """
    Prometheus with the cluster's metrics: `http://prometheus.monitoring:9090`.
    """
    prometheus_user: NotRequired[str | None]
    """
    User name for Prometheus, used with a password. If omitted, the stored bearer token is sent, if any.
    """
    prometheus_labels: NotRequired[dict[str, str]]
    """
    Labels of the cluster's series in Prometheus, if it holds series of several clusters.
    """
    grafana: NotRequired[str | None]
    """
    URL of a Grafana page about the cluster.
    """


class ClusterChange(ClusterBody):
    """
    Changes to a cluster.
    """

    kubeconfig: NotRequired[str | None]
    """
    New kubeconfig. If omitted, the current one is kept.
    """
    prometheus_secret: NotRequired[str | None]
    """
    New password or token for Prometheus. If omitted, the current one is kept; if empty, it is removed.
    """


class ClusterCheck(TypedDict):
    """
    Capabilities of a cluster for a project's jobs, and missing components.
    """

    version: NotRequired[str | None]
    """
    Version of the cluster. Omitted if the cluster did not respond.
    """
    error: NotRequired[str | None]
    """
    Reason why the cluster did not respond.
    """
    parts: list[PartView]
    """
    Installed components.
    """
    frameworks: list[FrameworkView]
    """
    How the tasks of each framework run on the cluster.
    """
    exporters: list[ExporterView]
    """
    Metrics exporters of the cluster. Empty when no Prometheus is configured.
    """
    problems: list[str]
    """
    Problems that prevent the project's jobs from running, each with a remedy.
    """


class CodeFolder(TypedDict):
    """
    Code folder of a project.
    """

    digest: str
    """
    Digest of the folder.
    """
    files: int
    """
    Number of files in the folder.
    """
    bytes: int
    """
    Total size, in bytes.
    """
    sent_at: str
    """
    Time when the folder was last uploaded, or when a version or run started to reference it.
    """
    removed_at: NotRequired[str | None]


class CodeFolders(TypedDict):
    """
    Code folders of a project.
    """

    folders: int
    """
    Total number of folders, on all pages.
    """
    bytes: int
    """
    Total size, in bytes.
    """
    items: list[CodeFolder]
    """
    Folders on this page, by digest.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class CompiledTaskView(TypedDict):
    """
    Compiled task.
    """

    task: str
    """
    Name.
    """
    needs: list[str]
    """
    Tasks that it depends on.
    """
    template: str
    """
    Task template, as `name@version`.
    """
    framework: str
    """
    Framework, which determines how workers learn their identity.
    """
    roles: list[RoleView]
    """
    Worker roles and the resources of each.
    """
    gang: int
    """
    Number of workers that must start together.
    """
    instances: NotRequired[int | None]
    """
    Number of instances. Omitted when earlier tasks determine it.
    """
    jobs: Any
    """
    Jobs of the first instances, at most 20, as they would be submitted to the cluster. Contains a sentence
    instead if the jobs are known only later or the cluster would reject them.
    """


class CompiledView(TypedDict):
    """
    Compiled document.
    """

    run: dict[str, Any]
    """
    Run as it would be created: an unused ID, project, user and date.
    """
    pipeline: str
    """
    Name of the pipeline.
    """
    cluster: str
    """
    Cluster that the run would use.
    """
    parameters: dict[str, Any]
    """
    Parameter values, including defaults.
    """
    tasks: list[CompiledTaskView]
    """
    Tasks, in the order of the document.
    """
    warnings: list[ProblemView]
    """
    Warnings about what is valid but probably unintended.
    """


class CreatedToken(TokenView):
    """
    A new token.
    """

    token: str
    """
    Token value, shown only in this response: `Authorization: Bearer <token>`.
    """


class CreatedUser(UserView):
    """
    A new account.
    """

    link: NotRequired[str | None]
    """
    One-time link with which the user sets a password, if the request has none. Shown only in this response.
    """


class DateView(TypedDict):
    """
    Result of one date.
    """

    project: str
    """
    Project.
    """
    pipeline: str
    """
    Pipeline.
    """
    date: str
    """
    Logical date.
    """
    state: str
    """
    State of the date: `coming`, `due` (its run is about to start), `started`, `missed`, `skipped`, `refused`,
    `failed` or `cancelled`.
    """
    trigger: str
    """
    What requested the date: `schedule`, `pipeline` (a run of another pipeline ended), `file`, `backfill` or
    `person`.
    """
    user: str
    """
    User that it runs as.
    """
    why: NotRequired[str | None]
    """
    Code of the reason why the date is waiting or has no run. Values: `past_underway`, `past_failed`, `running`,
    `paused`, `missed`, `there_before` (its file existed before the schedule waited for it), `user_no_reader`,
    `user_gone`, `user_disabled`, `user_no_editor`, `invalid`, `unavailable`, `backfill_cancelled`,
    `pipeline_deleted`.
    """
    detail: NotRequired[str | None]
    """
    Details of the reason.
    """
    run: NotRequired[str | None]
    """
    Run, if one exists.
    """
    run_state: NotRequired[str | None]
    """
    State.
    """
    late: bool
    """
    Whether the run did not succeed in time.
    """
    backfill: NotRequired[str | None]
    """
    Back-fill that it belongs to.
    """
    after_run: NotRequired[str | None]
    """
    Run of another pipeline whose end triggered the date.
    """
    file: NotRequired[str | None]
    """
    Path of the file whose arrival triggered the date.
    """


class DeliveryView(TypedDict):
    """
    A message and its delivery state.
    """

    id: str
    """
    ID, which is also sent to receivers.
    """
    channel: str
    """
    Channel. For an email to the owner of the run, the ID of that user.
    """
    kind: str
    """
    Kind of event.
    """
    pipeline: NotRequired[str | None]
    """
    Pipeline that the message is about.
    """
    run: NotRequired[str | None]
    """
    Run.
    """
    task: NotRequired[str | None]
    """
    Task.
    """
    user: NotRequired[str | None]
    """
    User who owns the run.
    """
    state: str
    """
    `waiting`, `sent` or `failed`.
    """
    created_at: str
    """
    Time of the event.
    """
    due_at: NotRequired[str | None]
    tries: int
    """
    Number of delivery attempts.
    """
    ended_at: NotRequired[str | None]
    answer: NotRequired[str | None]
    """
    Last response of the receiver, or the reason why it could not be reached.
    """


class DeviceTokenView(TypedDict):
    """
    Token of a command line.
    """

    token: str
    """
    Token value, shown only in this response: `Authorization: Bearer <token>`.
    """
    user: str
    """
    Name of the user whose token it is.
    """
    scope: str
    """
    Scope: `read`, `run` or `write`.
    """
    project: NotRequired[str | None]
    """
    Project to which the token is restricted, if set.
    """
    expires_at: NotRequired[str | None]


class EarlierView(TypedDict):
    """
    Number of workers that an attempt had for a period.
    """

    workers: int
    """
    Number of workers.
    """
    until: str
    """
    End of the period.
    """


class EditBody(TypedDict):
    """
    Proposed settings of a queue.
    """

    kind: Literal['group', 'project']
    """
    Whether the queue is a group or a project.
    """
    name: str
    """
    Name.
    """
    parent: NotRequired[str | None]
    """
    Proposed parent group.
    """
    quotas: NotRequired[dict[str, QuotaBody]]
    """
    Proposed quotas for each pool.
    """
    delete: NotRequired[bool]
    """
    Whether the edit removes the queue.
    """
    revision: NotRequired[int | None]
    """
    Revision that the edit is based on, or 0 if the queue has no settings yet. Not required for a simulation.
    """


class EffectiveView(TypedDict):
    """
    Goodput breakdown of a task, or of all tasks of a run together. It covers the time from when each task was ready
    until it ended.
    """

    share: NotRequired[float | None]
    """
    Share of useful time in the total time (goodput), from 0 to 1. Time of the part `unknown` does not count. Omitted if
    nothing is known.
    """
    seconds: float
    """
    Total time of all instances together, in seconds.
    """
    parts: list[TimePartView]
    """
    Parts of the total time that occurred. They add up to the total.
    """
    attempts: int
    """
    Number of attempts that ran.
    """
    attempts_with_steps: int
    """
    Number of attempts that reported steps. Of the other attempts, the time during which their GPUs worked counts as
    useful; without GPUs, all time unless they failed.
    """


class EntryView(TypedDict):
    """
    An entry of a folder.
    """

    name: str
    """
    Name.
    """
    kind: str
    """
    Entry kind: `folder`, `file`, or `other` for entries that cannot be opened: devices, pipes, links that lead
    outside.
    """
    link: bool
    """
    Whether it is a symbolic link.
    """
    size: int
    """
    Size, in bytes; 0 for a folder.
    """
    modified_at: NotRequired[str | None]


class Example(TypedDict):
    """
    Example pipeline that shows how to use a template.
    """

    document: str
    """
    Pipeline document.
    """
    program: NotRequired[Program | None]


class ExportView(TypedDict):
    """
    A pipeline exported as a file.
    """

    format: Literal['yaml', 'json', 'argo']
    """
    Format of the file.
    """
    document: str
    """
    Text.
    """
    report: list[str]
    """
    What the format cannot express, one sentence per item.
    """


class FiredView(TypedDict):
    """
    Run started by a hook.
    """

    run: str
    """
    ID of the run.
    """
    warnings: list[ProblemView]
    """
    Warnings about what is valid but probably unintended.
    """


class FoundRunView(TypedDict):
    """
    A run in search results.
    """

    id: str
    """
    ID.
    """
    project: str
    """
    Project.
    """
    pipeline: str
    """
    Pipeline of the run.
    """
    state: str
    """
    State of the run: `queued`, `running`, `cancelling`, `succeeded`, `failed` or `cancelled`.
    """
    created_at: str
    """
    Time at which the run was requested.
    """


class FoundView(TypedDict):
    """
    Results of a search, by kind. Each list has at most eight items, the best matches first.
    """

    projects: list[FoundProjectView]
    """
    Projects.
    """
    pipelines: list[FoundNameView]
    """
    Pipelines.
    """
    runs: list[FoundRunView]
    """
    Runs, newest first.
    """
    models: list[FoundNameView]
    """
    Models.
    """


GpuHistoryView = TypedDict(
    'GpuHistoryView',
    {
        'cluster': str,
        'from': str,
        'until': str,
        'step_seconds': int,
        'total': list[float | None],
        'allocated': list[float | None],
        'measured': list[float | None],
        'used': list[float | None],
        'power': list[float | None],
        'energy_kwh': NotRequired[float | None],
        'pending_jobs': list[float | None],
        'pending_gpus': list[float | None],
        'oldest_wait_seconds': list[float | None],
        'groups': list[GpuGroupView],
        'others': NotRequired[GpuGroupView | None],
        'now': NotRequired[GpusNowView | None],
    },
)


class GraphView(TypedDict):
    """
    A run as a graph of tasks and their dependencies.
    """

    nodes: list[NodeView]
    """
    Tasks, in document order.
    """
    edges: list[EdgeView]
    """
    Edges between tasks, in execution order.
    """


class GridRunView(TypedDict):
    """
    A run in the grid.
    """

    id: str
    """
    ID.
    """
    state: str
    """
    State of the run: `queued`, `running`, `cancelling`, `succeeded`, `failed` or `cancelled`.
    """
    created_at: str
    """
    Time at which the run was requested.
    """
    started_at: NotRequired[str | None]
    duration_seconds: NotRequired[float | None]
    """
    Time from start to end, in seconds. Omitted until the run has ended.
    """
    queued_seconds: NotRequired[float | None]
    """
    Time that the run waited for other runs of its pipeline, in seconds. Omitted while it is waiting.
    """
    version: NotRequired[int | None]
    """
    Version of the pipeline. Omitted if the run was started from a document.
    """
    logical_date: NotRequired[str | None]
    trigger: str
    """
    What started the run: `person`, `schedule`, `backfill`, `pipeline` (another run ended), `file` (a file
    arrived), `hook` or `task`.
    """


class GridView(TypedDict):
    """
    Runs of a pipeline by their tasks.
    """

    runs: list[GridRunView]
    """
    Runs, oldest first.
    """
    tasks: list[GridTaskView]
    """
    Tasks of the newest version in document order, followed by tasks that only other versions have. At most 500.
    """
    truncated: bool
    """
    Whether tasks are missing. Only the first 500 tasks of each run are read.
    """
    durations: DurationsView
    """
    Durations of the runs that succeeded.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of older runs, to be sent as `cursor`. Omitted if there are none.
    """


class HangView(TypedDict):
    """
    Current or past hang of an attempt: it reported no step for longer than its own step pattern explains.
    """

    message: str
    """
    Reason, as a sentence.
    """
    rank: int
    """
    Rank that had gone longest without reporting a step.
    """
    since: str
    """
    Time at which that rank last reported a step.
    """
    seen_at: str
    """
    Time at which the hang was detected.
    """
    over_at: NotRequired[str | None]
    stacks: NotRequired[list[StackView]]
    """
    Stack traces of the workers when the hang was detected. Included only in the attempts of one instance, and
    only if the cluster can collect them.
    """


class HistoryView(TypedDict):
    """
    An attempt of this run or an earlier one.
    """

    run: str
    """
    Run of the attempt.
    """
    instance: int
    """
    Instance.
    """
    attempt: int
    """
    Attempt.
    """
    outcome: str
    """
    Outcome: `succeeded`, `failed` or `cancelled`.
    """
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    run_seconds: NotRequired[float | None]
    """
    Run time, in seconds.
    """
    cpu: float
    """
    Allocated CPU, in cores.
    """
    memory: int
    """
    Allocated memory, in bytes.
    """
    usage: UsageView
    """
    Resource usage.
    """


class HoldsView(TypedDict):
    """
    Resources allocated to a user in a project on a cluster.
    """

    cluster: str
    """
    Cluster.
    """
    project: NotRequired[str | None]
    """
    Project. Omitted for the combined entry of all projects that the caller is not a member of.
    """
    user: NotRequired[str | None]
    """
    User who started the runs. Omitted for the combined entry.
    """
    attempts: int
    """
    Number of attempts with allocations.
    """
    requested: AmountView
    """
    Resources requested by the attempts.
    """
    since: NotRequired[str | None]
    tasks: NotRequired[list[CardHolderView]]
    """
    Attempts, newest first, at most 20.
    """


class HookView(TypedDict):
    """
    A URL that starts a pipeline.
    """

    id: str
    """
    ID.
    """
    pipeline: str
    """
    Pipeline to start. The newest version is used.
    """
    name: str
    """
    Name.
    """
    url: str
    """
    URL including its signature. Anyone who has it can start the pipeline.
    """
    parameters: dict[str, Any]
    """
    Parameters of the runs that it starts. Parameters sent by the caller take precedence.
    """
    created_by: str
    """
    Name of the user who created it. Its runs belong to this user.
    """
    created_at: str
    """
    Creation time.
    """
    used_at: NotRequired[str | None]
    revision: int
    """
    Revision number, starting at 1, used as the ETag. Every change creates a new URL.
    """


class Hunk(TypedDict):
    """
    Consecutive lines.
    """

    kind: Literal['equal', 'removed', 'added']
    """
    Location.
    """
    text: str
    """
    Lines, verbatim.
    """
    old_line: int
    """
    Number of the first line in the old text, from 1. For added lines, the number of the line that follows them.
    """
    new_line: int
    """
    Number of the first line in the new text, from 1. For removed lines, the number of the line that follows them.
    """


IdleGpusView = TypedDict(
    'IdleGpusView',
    {
        'from': str,
        'until': str,
        'currency': NotRequired[str | None],
        'groups': list[IdleGpusGroup],
        'others': NotRequired[IdleGpusGroup | None],
    },
)


class ImportView(TypedDict):
    """
    Result of the import. Nothing is stored.
    """

    documents: list[ImportedView]
    """
    Created documents.
    """
    report: list[ImportLine]
    """
    Values that could not be converted unchanged.
    """


class JobView(TypedDict):
    """
    A running or pending job.
    """

    run: str
    """
    Run.
    """
    project: str
    """
    Project.
    """
    pipeline: str
    """
    Pipeline.
    """
    task: str
    """
    Task.
    """
    instance: int
    """
    Instance.
    """
    user: str
    """
    User who started the run.
    """
    pool: str
    """
    Node pool.
    """
    amounts: dict[str, Any]
    """
    Amounts allocated to or requested by the job, in human-readable form.
    """
    since: str
    """
    Time at which the allocation or the wait started.
    """


class LimitView(TypedDict):
    """
    Concurrency limit.
    """

    name: str
    """
    Name by which tasks reference the limit.
    """
    at_once: NotRequired[int | None]
    """
    Maximum number of concurrent jobs. If omitted, the number is unlimited.
    """
    a_minute: NotRequired[int | None]
    """
    Maximum number of jobs started per minute. If omitted, the number is unlimited.
    """
    description: NotRequired[str | None]
    """
    Description of what the limit protects.
    """
    held: int
    """
    Number of jobs that use the limit now, in all projects and on all clusters.
    """
    started: int
    """
    Number of jobs started with the limit in the last minute.
    """
    waiting: int
    """
    Number of pending jobs that reference the limit, among the thousand that have waited longest.
    """
    holders: list[JobView]
    """
    Jobs that use the limit: the newest twenty that you may see.
    """
    revision: int
    """
    Revision number, used as the ETag.
    """


class LimitsView(TypedDict):
    """
    All limits.
    """

    items: list[LimitView]
    """
    Limits by name.
    """
    missing: NotRequired[list[MissingLimitView]]
    """
    Limits that tasks reference but that do not exist. They restrict nothing. Visible to administrators only.
    """


class LineTime(TypedDict):
    """
    Arrival time of all lines from this line up to the start of the next entry.
    """

    line: int
    """
    Line in the text, starting at 0.
    """
    at: str
    """
    Arrival time.
    """


class LinkView(TypedDict):
    """
    Unused link, without its secret.
    """

    id: str
    """
    ID.
    """
    kind: str
    """
    Kind of the link: `first`, `invite` or `reset`.
    """
    note: str
    """
    Note about the recipient, as entered by the link's creator. For a password reset, the user's name.
    """
    project: NotRequired[str | None]
    """
    Project that the user of the link becomes a member of.
    """
    role: NotRequired[str | None]
    """
    Role in the project.
    """
    admin: bool
    """
    Whether the user of the link becomes an administrator of the whole platform.
    """
    created_by: str
    """
    Name of the user who created it.
    """
    created_at: str
    """
    Creation time.
    """
    expires_at: str
    """
    Expiration time.
    """


class LogChunk(TypedDict):
    """
    Chunk of one stream. It contains whole lines, except when a line is longer than 64 KiB or incomplete for a second.
    """

    worker: str
    """
    Worker.
    """
    stream: str
    """
    Stream: `stdout` or `stderr`.
    """
    offset: int
    """
    Start position of the chunk in the stream, in bytes.
    """
    text: str
    """
    Text, including line endings. Bytes that are not valid UTF-8 are replaced by U+FFFD.
    """
    times: NotRequired[list[LineTime]]
    """
    Arrival times of the lines, accurate to about a tenth of a second while the worker writes, and to a second
    after a silence. Omitted for logs written before times were recorded.
    """


class LogMatch(TypedDict):
    """
    Matching line.
    """

    worker: str
    """
    Worker.
    """
    stream: str
    """
    Stream: `stdout` or `stderr`.
    """
    offset: int
    """
    Start position of the line in its stream, in bytes.
    """
    line: int
    """
    Number of the line in its stream, starting at 1.
    """
    text: str
    """
    Line, truncated after 2,000 characters. Text before a carriage return is omitted.
    """
    at: NotRequired[str | None]
    cursor: str
    """
    Cursor of the line: `cursor` or `before` of a request for the logs around it, with the same worker and stream.
    """


class LogMatches(TypedDict):
    """
    Result of a log search.
    """

    matches: list[LogMatch]
    """
    Matching lines, by their arrival times, then by rank.
    """
    complete: bool
    """
    Whether the search covered all logs. If not, there may be more matches.
    """
    searched: int
    """
    Number of bytes searched.
    """
    lines: int
    """
    Number of lines searched.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor to continue an incomplete search: `cursor` of the next request.
    """


class LogText(TypedDict):
    """
    Part of the logs.
    """

    attempt: int
    """
    Attempt that the logs belong to.
    """
    chunks: list[LogChunk]
    """
    Chunks of the streams, in reading order.
    """
    cursor: str
    """
    Cursor to continue from: `cursor` of the next request, or `Last-Event-ID` of the event stream.
    """
    start: NotRequired[str | None]
    """
    Cursor to read backwards from: `before` of the next request. Omitted at the beginning of the logs.
    """
    ended: bool
    """
    Whether this is the end of the logs. Nothing more will be added.
    """


class LookView(TypedDict):
    """
    Result of checking for files.
    """

    looked_at: NotRequired[str | None]
    tried_at: NotRequired[str | None]
    next_at: NotRequired[str | None]
    failures: int
    """
    Number of consecutive failed requests since the last successful one. The time between requests grows with it.
    """
    error: NotRequired[str | None]
    """
    Last error.
    """


class ManyResults(TypedDict):
    """
    Results for several runs.
    """

    results: list[OneResult]
    """
    Result for each processed run, in the order of the request.
    """
    left: NotRequired[list[str]]
    """
    Runs that are not yet processed, in the order of the request.
    """


class MeView(TypedDict):
    """
    Your account and how you authenticated.
    """

    user: UserView
    """
    Your account.
    """
    via: str
    """
    Authentication method: `session` or `token`.
    """
    scope: str
    """
    Scope: `read`, `run`, `write` or `admin`.
    """
    project: NotRequired[str | None]
    """
    Project that the token is limited to, if any.
    """


class MemberView(TypedDict):
    """
    Membership of a user in a project.
    """

    user_id: str
    """
    ID of the user.
    """
    user: str
    """
    Name that the user signs in with.
    """
    display_name: str
    """
    Display name.
    """
    disabled: bool
    """
    Whether sign-in is disabled for the user.
    """
    role: str
    """
    Role: `viewer`, `editor` or `owner`.
    """
    created_at: str
    """
    Time when the user became a member.
    """
    revision: int
    """
    Revision number of the membership, starting at 1, used as the ETag.
    """


class MetricPair(TypedDict):
    """
    Metric on both sides.
    """

    name: str
    """
    Name.
    """
    task: str
    """
    Task.
    """
    instance: int
    """
    Instance.
    """
    left: NotRequired[SeriesView | None]
    right: NotRequired[SeriesView | None]


class MetricsView(TypedDict):
    """
    Series by name.
    """

    series: list[SeriesView]
    """
    Series by name, task and instance.
    """
    truncated: bool
    """
    Whether there are more series than were sent. To get them, filter by one task or name.
    """


class ModelVersionView(TypedDict):
    """
    Version of a model. It never changes, except for its aliases.
    """

    model: str
    """
    Model.
    """
    version: int
    """
    Version number, starting at 1. A number is never reused, even after its version is deleted.
    """
    aliases: list[str]
    """
    Aliases that point to the version now.
    """
    path: str
    """
    Folder of the version in the volume `workspace`.
    """
    format: NotRequired[str | None]
    """
    File format: `onnx`, `pytorch`, ...
    """
    digest: NotRequired[str | None]
    """
    Digest of the content, such as `sha256:...`.
    """
    size: NotRequired[int | None]
    """
    Size, in bytes.
    """
    metrics: dict[str, float]
    """
    Quality metrics.
    """
    parameters: dict[str, Any]
    """
    Training parameters.
    """
    data: list[str]
    """
    Training data: paths, URLs, digests.
    """
    description: str
    """
    Description from the program that registered the version.
    """
    run: str
    """
    Run that created the version. It may have been deleted since.
    """
    task: str
    """
    Task.
    """
    instance: int
    """
    Instance.
    """
    attempt: int
    """
    Attempt.
    """
    pipeline: str
    """
    Pipeline of the run.
    """
    pipeline_version: NotRequired[int | None]
    """
    Version of the pipeline, if the pipeline is stored.
    """
    code: NotRequired[str | None]
    """
    Digest of the pipeline's code folder.
    """
    user: str
    """
    User who started the run or last resumed it.
    """
    created_at: str
    """
    Registration time.
    """


class ModelView(TypedDict):
    """
    Model.
    """

    name: str
    """
    Name.
    """
    description: str
    """
    Description.
    """
    aliases: dict[str, int]
    """
    Version that each alias refers to.
    """
    versions: int
    """
    Number of versions.
    """
    newest: NotRequired[ModelVersionView | None]
    created_at: str
    """
    Creation time.
    """
    updated_at: str
    """
    Time of the last change or of the last version registration.
    """
    revision: int
    """
    Revision number, incremented with each change. In quotes, it is the ETag.
    """


class MonitoredCardView(TypedDict):
    """
    GPU.
    """

    uuid: str
    """
    UUID.
    """
    index: NotRequired[int | None]
    """
    Index on its node.
    """
    model: str
    """
    Product name.
    """
    state: str
    """
    State of the GPU: `busy`, `idle`, `free`, `fragment`, `faulty` or `away`.
    """
    usage: NotRequired[float | None]
    """
    Fraction of time in which the GPU is busy, from 0 to 1.
    """
    recent_usage: NotRequired[float | None]
    """
    Mean GPU usage over the last 15 minutes.
    """
    tensor: NotRequired[float | None]
    """
    Fraction of time in which the tensor cores are busy, from 0 to 1.
    """
    memory_used: NotRequired[float | None]
    """
    Memory in use, in bytes.
    """
    memory_total: NotRequired[float | None]
    """
    GPU memory, in bytes.
    """
    temperature: NotRequired[float | None]
    """
    Temperature, in degrees Celsius.
    """
    power: NotRequired[float | None]
    """
    Power draw, in watts.
    """
    power_limit: NotRequired[float | None]
    """
    Power limit, in watts.
    """
    nvlink: NotRequired[float | None]
    """
    NVLink throughput, in bytes per second.
    """
    xid: NotRequired[int | None]
    """
    Last XID error that the driver reported.
    """
    holders: NotRequired[list[CardHolderView]]
    """
    Attempts that the GPU is allocated to, in projects of which the caller is a member.
    """
    others: int
    """
    Number of other attempts that the GPU is allocated to.
    """


class MonitoredNodeView(TypedDict):
    """
    A node and its GPUs.
    """

    name: str
    """
    Name.
    """
    groups: NotRequired[list[str]]
    """
    Node groups of the cluster that the node belongs to.
    """
    cpu: LevelsView
    """
    CPU, in cores.
    """
    memory: LevelsView
    """
    Memory, in bytes.
    """
    gpus: LevelsView
    """
    GPUs.
    """
    cards: list[MonitoredCardView]
    """
    GPUs of the node, sorted by index.
    """
    links: NotRequired[list[LinksView]]
    """
    Known links between the GPUs, both direct and through switches.
    """


class MonitoringView(TypedDict):
    """
    Cluster as a whole.
    """

    cluster: str
    """
    Name.
    """
    at: str
    """
    Time when the data was read.
    """
    source: str
    """
    Source of the metrics: `machine` (the server's own), `prometheus`, `cluster` (only the metrics API of
    Kubernetes, without GPUs), or `none`.
    """
    grafana: NotRequired[str | None]
    """
    URL of a Grafana page about the cluster.
    """
    nodes: int
    """
    Number of nodes.
    """
    cpu: LevelsView
    """
    CPU, in cores.
    """
    memory: LevelsView
    """
    Memory, in bytes.
    """
    gpus: LevelsView
    """
    GPUs. Usage is the sum of the fractions of time in which each GPU is busy.
    """
    cards: dict[str, int]
    """
    Number of GPUs in each state: `busy`, `idle` (allocated, idle), `free`, `fragment` (free, but other GPUs of
    the node are allocated), `faulty` and `away` (missing).
    """
    projects: list[ProjectUseView]
    """
    Projects with allocations on the cluster of which the caller is a member.
    """
    others: NotRequired[ProjectUseView | None]
    problems: list[str]
    """
    Data that could not be read or is unreliable, one message each.
    """


class NewChannel(TypedDict):
    """
    A channel to create.
    """

    name: str
    """
    Name.
    """
    kind: str
    """
    `webhook`, `slack`, `feishu`, `dingtalk`, `wecom` or `email`.
    """
    address: str
    """
    URL, or comma-separated addresses for email. It is stored encrypted and never shown in full again.
    """
    secret: NotRequired[str]
    """
    Secret that signs messages. Only the kinds `webhook`, `feishu` and `dingtalk` sign messages.
    """
    rules: RulesView
    """
    Notification rules.
    """


class NewCluster(ClusterBody):
    """
    Cluster to add.
    """

    name: str
    """
    Name of the cluster, as used in pipelines: lower-case letters, digits and `-`, at most 63 characters.
    """
    kubeconfig: NotRequired[str | None]
    """
    Kubeconfig text. Stored encrypted and never returned.
    """
    prometheus_secret: NotRequired[str | None]
    """
    Password for `prometheus_user`, or the Prometheus bearer token if `prometheus_user` is omitted. Stored
    encrypted and never returned.
    """


class NewVolume(TypedDict):
    """
    Volume to add.
    """

    name: str
    """
    Name that tasks use: lower-case letters, digits and `-`, at most 63 characters.
    """
    description: NotRequired[str]
    """
    Description.
    """
    place: VolumePlace1 | VolumePlace2 | VolumePlace3 | VolumePlace4
    """
    Location.
    """


class NextDateView(TypedDict):
    """
    A next date.
    """

    date: str
    """
    Logical date.
    """
    local: str
    """
    The same time in the time zone of the schedule, with its offset from UTC: `2026-01-31T06:00:00+08:00`.
    """


class NoticeView(TypedDict):
    """
    Cluster event of an attempt: why a worker is pending, what could not be mounted, where a worker was placed.
    """

    at: str
    """
    Time at which the event was last reported.
    """
    of: str
    """
    Kubernetes object that the event is about, `Pod/cl-train-...`.
    """
    warning: bool
    """
    Whether the event is a warning.
    """
    reason: str
    """
    Reason code, e.g. `FailedMount`.
    """
    message: str
    """
    Message, in the cluster's wording.
    """


class Item(TypedDict):
    """
    An artifact: a file to display.
    """

    task: str
    """
    Task.
    """
    instance: int
    """
    Instance.
    """
    name: str
    """
    Name.
    """
    path: str
    """
    Path relative to the run's folder.
    """
    size: NotRequired[int | None]
    """
    Size, in bytes. Omitted if the file does not exist.
    """
    content_type: str
    """
    Content type, derived from the file name.
    """
    preview: str
    """
    Preview type: `image`, `text`, `csv`, `json`, `html`, `directory` or `none`.
    """
    pixels: NotRequired[Pixels | None]


class PageArtifactView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item2(TypedDict):
    """
    An audit log entry.
    """

    id: str
    """
    ID. Later entries have greater IDs.
    """
    at: str
    """
    Time of the change.
    """
    user: str
    """
    Name of the user who made the change.
    """
    via: str
    """
    Origin of the change: `session`, `token <name>`, `device <description>`, `hook <name>`, `command line`, `run`
    or `server`.
    """
    address: str
    """
    Source address. Empty for changes made on the server's own machine.
    """
    project: NotRequired[str | None]
    """
    Project, if any.
    """
    action: str
    """
    Action, in the form `<thing>.<verb>`.
    """
    subject: str
    """
    Name or ID of the affected object.
    """
    before: NotRequired[Any]
    """
    State before the change.
    """
    after: NotRequired[Any]
    """
    State after the change.
    """


class PageAuditView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item2]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item3(TypedDict):
    """
    A back-fill.
    """

    id: str
    """
    ID.
    """
    project: str
    """
    Project.
    """
    pipeline: str
    """
    Pipeline.
    """
    first: str
    """
    Start of the time range.
    """
    last: str
    """
    End of the range.
    """
    parallelism: int
    """
    Maximum number of its runs that can be active concurrently.
    """
    state: str
    """
    State of the back-fill: `running`, `done` or `cancelled`.
    """
    total: int
    """
    Number of dates in the back-fill.
    """
    due: int
    """
    Number of dates whose run is still to start.
    """
    running: int
    """
    Number of dates whose run is active.
    """
    succeeded: int
    """
    Number of dates whose run succeeded.
    """
    failed: int
    """
    Number of dates whose run failed, was cancelled or could not be started.
    """
    cancelled: int
    """
    Number of dates that did not start because the back-fill was cancelled.
    """
    created_by: str
    """
    Name of the user who created the back-fill.
    """
    created_at: str
    """
    Creation time.
    """
    cancelled_by: NotRequired[str | None]
    """
    User who cancelled the back-fill.
    """
    cancelled_at: NotRequired[str | None]


class PageBackfillView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item3]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item5(TypedDict):
    """
    A channel that delivers alerts of the project.
    """

    id: str
    """
    ID.
    """
    name: str
    """
    Name.
    """
    kind: str
    """
    `webhook`, `slack`, `feishu`, `dingtalk`, `wecom` or `email`.
    """
    address: str
    """
    Destination address, without the parts that would let others send to it.
    """
    signed: bool
    """
    Whether its messages are signed.
    """
    rules: RulesView
    """
    Notification rules.
    """
    enabled: bool
    """
    Whether it is enabled.
    """
    created_by: str
    """
    Name of the creator.
    """
    created_at: str
    """
    Creation time.
    """
    revision: int
    """
    Revision number, incremented on each change.
    """


class PageChannelView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item5]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item7(TypedDict):
    """
    Result of one date.
    """

    project: str
    """
    Project.
    """
    pipeline: str
    """
    Pipeline.
    """
    date: str
    """
    Logical date.
    """
    state: str
    """
    State of the date: `coming`, `due` (its run is about to start), `started`, `missed`, `skipped`, `refused`,
    `failed` or `cancelled`.
    """
    trigger: str
    """
    What requested the date: `schedule`, `pipeline` (a run of another pipeline ended), `file`, `backfill` or
    `person`.
    """
    user: str
    """
    User that it runs as.
    """
    why: NotRequired[str | None]
    """
    Code of the reason why the date is waiting or has no run. Values: `past_underway`, `past_failed`, `running`,
    `paused`, `missed`, `there_before` (its file existed before the schedule waited for it), `user_no_reader`,
    `user_gone`, `user_disabled`, `user_no_editor`, `invalid`, `unavailable`, `backfill_cancelled`,
    `pipeline_deleted`.
    """
    detail: NotRequired[str | None]
    """
    Details of the reason.
    """
    run: NotRequired[str | None]
    """
    Run, if one exists.
    """
    run_state: NotRequired[str | None]
    """
    State.
    """
    late: bool
    """
    Whether the run did not succeed in time.
    """
    backfill: NotRequired[str | None]
    """
    Back-fill that it belongs to.
    """
    after_run: NotRequired[str | None]
    """
    Run of another pipeline whose end triggered the date.
    """
    file: NotRequired[str | None]
    """
    Path of the file whose arrival triggered the date.
    """


class PageDateView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item7]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item8(TypedDict):
    """
    A message and its delivery state.
    """

    id: str
    """
    ID, which is also sent to receivers.
    """
    channel: str
    """
    Channel. For an email to the owner of the run, the ID of that user.
    """
    kind: str
    """
    Kind of event.
    """
    pipeline: NotRequired[str | None]
    """
    Pipeline that the message is about.
    """
    run: NotRequired[str | None]
    """
    Run.
    """
    task: NotRequired[str | None]
    """
    Task.
    """
    user: NotRequired[str | None]
    """
    User who owns the run.
    """
    state: str
    """
    `waiting`, `sent` or `failed`.
    """
    created_at: str
    """
    Time of the event.
    """
    due_at: NotRequired[str | None]
    tries: int
    """
    Number of delivery attempts.
    """
    ended_at: NotRequired[str | None]
    answer: NotRequired[str | None]
    """
    Last response of the receiver, or the reason why it could not be reached.
    """


class PageDeliveryView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item8]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item9(TypedDict):
    """
    An entry of a folder.
    """

    name: str
    """
    Name.
    """
    kind: str
    """
    Entry kind: `folder`, `file`, or `other` for entries that cannot be opened: devices, pipes, links that lead
    outside.
    """
    link: bool
    """
    Whether it is a symbolic link.
    """
    size: int
    """
    Size, in bytes; 0 for a folder.
    """
    modified_at: NotRequired[str | None]


class PageEntryView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item9]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item10(TypedDict):
    """
    An attempt of this run or an earlier one.
    """

    run: str
    """
    Run of the attempt.
    """
    instance: int
    """
    Instance.
    """
    attempt: int
    """
    Attempt.
    """
    outcome: str
    """
    Outcome: `succeeded`, `failed` or `cancelled`.
    """
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    run_seconds: NotRequired[float | None]
    """
    Run time, in seconds.
    """
    cpu: float
    """
    Allocated CPU, in cores.
    """
    memory: int
    """
    Allocated memory, in bytes.
    """
    usage: UsageView
    """
    Resource usage.
    """


class PageHistoryView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item10]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item11(TypedDict):
    """
    Resources allocated to a user in a project on a cluster.
    """

    cluster: str
    """
    Cluster.
    """
    project: NotRequired[str | None]
    """
    Project. Omitted for the combined entry of all projects that the caller is not a member of.
    """
    user: NotRequired[str | None]
    """
    User who started the runs. Omitted for the combined entry.
    """
    attempts: int
    """
    Number of attempts with allocations.
    """
    requested: AmountView
    """
    Resources requested by the attempts.
    """
    since: NotRequired[str | None]
    tasks: NotRequired[list[CardHolderView]]
    """
    Attempts, newest first, at most 20.
    """


class PageHoldsView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item11]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item12(TypedDict):
    """
    A URL that starts a pipeline.
    """

    id: str
    """
    ID.
    """
    pipeline: str
    """
    Pipeline to start. The newest version is used.
    """
    name: str
    """
    Name.
    """
    url: str
    """
    URL including its signature. Anyone who has it can start the pipeline.
    """
    parameters: dict[str, Any]
    """
    Parameters of the runs that it starts. Parameters sent by the caller take precedence.
    """
    created_by: str
    """
    Name of the user who created it. Its runs belong to this user.
    """
    created_at: str
    """
    Creation time.
    """
    used_at: NotRequired[str | None]
    revision: int
    """
    Revision number, starting at 1, used as the ETag. Every change creates a new URL.
    """


class PageHookView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item12]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item14(TypedDict):
    """
    Unused link, without its secret.
    """

    id: str
    """
    ID.
    """
    kind: str
    """
    Kind of the link: `first`, `invite` or `reset`.
    """
    note: str
    """
    Note about the recipient, as entered by the link's creator. For a password reset, the user's name.
    """
    project: NotRequired[str | None]
    """
    Project that the user of the link becomes a member of.
    """
    role: NotRequired[str | None]
    """
    Role in the project.
    """
    admin: bool
    """
    Whether the user of the link becomes an administrator of the whole platform.
    """
    created_by: str
    """
    Name of the user who created it.
    """
    created_at: str
    """
    Creation time.
    """
    expires_at: str
    """
    Expiration time.
    """


class PageLinkView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item14]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item15(TypedDict):
    """
    Membership of a user in a project.
    """

    user_id: str
    """
    ID of the user.
    """
    user: str
    """
    Name that the user signs in with.
    """
    display_name: str
    """
    Display name.
    """
    disabled: bool
    """
    Whether sign-in is disabled for the user.
    """
    role: str
    """
    Role: `viewer`, `editor` or `owner`.
    """
    created_at: str
    """
    Time when the user became a member.
    """
    revision: int
    """
    Revision number of the membership, starting at 1, used as the ETag.
    """


class PageMemberView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item15]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item16(TypedDict):
    """
    Version of a model. It never changes, except for its aliases.
    """

    model: str
    """
    Model.
    """
    version: int
    """
    Version number, starting at 1. A number is never reused, even after its version is deleted.
    """
    aliases: list[str]
    """
    Aliases that point to the version now.
    """
    path: str
    """
    Folder of the version in the volume `workspace`.
    """
    format: NotRequired[str | None]
    """
    File format: `onnx`, `pytorch`, ...
    """
    digest: NotRequired[str | None]
    """
    Digest of the content, such as `sha256:...`.
    """
    size: NotRequired[int | None]
    """
    Size, in bytes.
    """
    metrics: dict[str, float]
    """
    Quality metrics.
    """
    parameters: dict[str, Any]
    """
    Training parameters.
    """
    data: list[str]
    """
    Training data: paths, URLs, digests.
    """
    description: str
    """
    Description from the program that registered the version.
    """
    run: str
    """
    Run that created the version. It may have been deleted since.
    """
    task: str
    """
    Task.
    """
    instance: int
    """
    Instance.
    """
    attempt: int
    """
    Attempt.
    """
    pipeline: str
    """
    Pipeline of the run.
    """
    pipeline_version: NotRequired[int | None]
    """
    Version of the pipeline, if the pipeline is stored.
    """
    code: NotRequired[str | None]
    """
    Digest of the pipeline's code folder.
    """
    user: str
    """
    User who started the run or last resumed it.
    """
    created_at: str
    """
    Registration time.
    """


class PageModelVersionView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item16]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item17(TypedDict):
    """
    Model.
    """

    name: str
    """
    Name.
    """
    description: str
    """
    Description.
    """
    aliases: dict[str, int]
    """
    Version that each alias refers to.
    """
    versions: int
    """
    Number of versions.
    """
    newest: NotRequired[ModelVersionView | None]
    created_at: str
    """
    Creation time.
    """
    updated_at: str
    """
    Time of the last change or of the last version registration.
    """
    revision: int
    """
    Revision number, incremented with each change. In quotes, it is the ETag.
    """


class PageModelView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item17]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item18(TypedDict):
    """
    A node and its GPUs.
    """

    name: str
    """
    Name.
    """
    groups: NotRequired[list[str]]
    """
    Node groups of the cluster that the node belongs to.
    """
    cpu: LevelsView
    """
    CPU, in cores.
    """
    memory: LevelsView
    """
    Memory, in bytes.
    """
    gpus: LevelsView
    """
    GPUs.
    """
    cards: list[MonitoredCardView]
    """
    GPUs of the node, sorted by index.
    """
    links: NotRequired[list[LinksView]]
    """
    Known links between the GPUs, both direct and through switches.
    """


class PageMonitoredNodeView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item18]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item19(TypedDict):
    """
    Cluster event of an attempt: why a worker is pending, what could not be mounted, where a worker was placed.
    """

    at: str
    """
    Time at which the event was last reported.
    """
    of: str
    """
    Kubernetes object that the event is about, `Pod/cl-train-...`.
    """
    warning: bool
    """
    Whether the event is a warning.
    """
    reason: str
    """
    Reason code, e.g. `FailedMount`.
    """
    message: str
    """
    Message, in the cluster's wording.
    """


class PageNoticeView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item19]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item22(RatesBody):
    """
    Price of a node group, or of the nodes of a cluster whose node group has no price.
    """

    id: str
    """
    ID.
    """
    cluster: str
    """
    Cluster.
    """
    node_group: NotRequired[str | None]
    """
    Node group. Omitted for all nodes whose node group has no price of its own.
    """
    valid_from: str
    """
    First day on which the price is valid, in UTC. It is valid until the next price of the same cluster and node
    group.
    """
    user: str
    """
    User who created the price or last changed it.
    """
    open: bool
    """
    Whether the price can still be changed. This is the case until the statements of the month in which it took
    effect are sent.
    """
    revision: int
    """
    Revision number, starting at 1 and incremented on each change. It is the ETag.
    """


class PagePriceView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item22]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item23(TypedDict):
    """
    A project.
    """

    name: str
    """
    Name of the project: letters, digits and `-`. The name cannot be changed.
    """
    label: str
    """
    Display name.
    """
    description: str
    """
    Description.
    """
    role: NotRequired[str | None]
    """
    Your role in the project: `viewer`, `editor` or `owner`. Omitted for administrators who are not members.
    """
    keeping: KeepingView
    """
    Retention settings for finished jobs.
    """
    places: PlacesView
    """
    Allowed clusters and default placement of its jobs.
    """
    sizing: Literal['off', 'advise', 'auto']
    """
    Right-sizing mode of CPU and memory for pipelines and tasks that do not set one.
    """
    logs_behind: NotRequired[BehindView | None]
    budget: NotRequired[BudgetStandingView | None]
    created_at: str
    """
    Creation time.
    """
    revision: int
    """
    Revision number, starting at 1 and incremented on each change. It is the ETag.
    """


class PageProjectView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item23]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item24(TypedDict):
    """
    A change of the quota tree, of a concurrency limit or of a priority class.
    """

    id: str
    """
    ID of the entry in the audit log. Later changes have greater IDs.
    """
    at: str
    """
    Time of the change.
    """
    user: str
    """
    Name of the user who made the change.
    """
    queue: str
    """
    What changed: `project/NAME`, `group/NAME`, `limit/NAME` or `priority-class/NAME`. If several items changed, their names are
    separated by spaces, and `before` and `after` contain each item by name.
    """
    before: NotRequired[Any]
    """
    Previous state. Omitted if the item was created.
    """
    after: NotRequired[Any]
    """
    New state. Omitted if the item was removed.
    """


class PageQuotaChangeView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item24]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item25(TypedDict):
    """
    A container image registry.
    """

    name: str
    """
    Name of the registry in Cubeloom.
    """
    host: str
    """
    Host name, optionally with a port.
    """
    user: str
    """
    Account name.
    """
    secret: NotRequired[str | None]
    """
    Name of the project secret that contains the password.
    """
    created_at: str
    """
    Creation time.
    """
    revision: int
    """
    Revision number, incremented with each change. In quotes, it is the ETag.
    """


class PageRegistryView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item25]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item27(TypedDict):
    """
    A secret. Its value is never returned.
    """

    name: str
    """
    Name by which tasks refer to it.
    """
    description: str
    """
    Description.
    """
    created_at: str
    """
    Creation time.
    """
    updated_at: str
    """
    Time of the last change.
    """
    updated_by: str
    """
    User who last updated it.
    """
    revision: int
    """
    Revision number, incremented with each change. In quotes, it is the ETag.
    """


class PageSecretView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item27]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item28(TypedDict):
    """
    Browser in which you are signed in.
    """

    id: str
    """
    ID.
    """
    current: bool
    """
    Whether this request was made from this session.
    """
    address: str
    """
    Address from which the user signed in.
    """
    agent: str
    """
    Browser, as it identifies itself.
    """
    created_at: str
    """
    Creation time.
    """
    used_at: str
    """
    Time of last use, accurate to 15 minutes.
    """
    expires_at: str
    """
    Expiry time if the session is not used.
    """


class PageSessionView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item28]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item30(TypedDict):
    """
    Summary of a template in a list.
    """

    name: str
    """
    Name.
    """
    label: TextView
    """
    Display name.
    """
    help: TextView
    """
    Description, in Markdown.
    """
    group: str
    """
    Group that the template is listed in.
    """
    framework: str
    """
    Framework, which defines how workers learn their identity: `single`, `indexed`, `mpi`, `pytorch`, ...
    """
    version: str
    """
    Default version, used by tasks that name no version.
    """
    versions: list[str]
    """
    All installed versions, oldest first.
    """


class PageTemplateSummaryView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item30]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item31(TypedDict):
    """
    A token, without its secret part.
    """

    id: str
    """
    Token id: the part of the token between `clt_` and the next `_`.
    """
    name: str
    """
    Name that the user gave the token.
    """
    scope: str
    """
    Scope: `read`, `run`, `write` or `admin`.
    """
    project: NotRequired[str | None]
    """
    Project to which the token is restricted, if set.
    """
    created_at: str
    """
    Creation time.
    """
    expires_at: NotRequired[str | None]
    used_at: NotRequired[str | None]


class PageTokenView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item31]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item32(TypedDict):
    """
    A user.
    """

    id: str
    """
    ID.
    """
    name: str
    """
    Sign-in name. It never changes.
    """
    display_name: str
    """
    Display name.
    """
    email: NotRequired[str | None]
    """
    Email address.
    """
    admin: bool
    """
    Whether the user is a platform administrator.
    """
    disabled: bool
    """
    Whether sign-in is disabled for the user.
    """
    issuer: NotRequired[str | None]
    """
    OpenID Connect provider that the user signs in with, if any.
    """
    created_at: str
    """
    Creation time.
    """
    seen_at: NotRequired[str | None]
    mails: bool
    """
    Whether the user gets mail about their own runs: hanging tasks, GPUs that are allocated but idle, changed
    sizes.
    """
    revision: int
    """
    Revision of the account, from 1. It is the ETag.
    """


class PageUserView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item32]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item33(TypedDict):
    """
    A version of a pipeline.
    """

    version: int
    """
    Version number, starting at 1.
    """
    document: NotRequired[str | None]
    """
    Document, byte for byte as it was sent. Omitted in lists.
    """
    digest: str
    """
    SHA-256 digest of the document, in hexadecimal.
    """
    code: NotRequired[str | None]
    """
    Digest of the associated code folder.
    """
    message: str
    """
    Message that the author gave for the change.
    """
    user: str
    """
    Author of the version.
    """
    created_at: str
    """
    Time when the version was stored.
    """


class PageVersionView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item33]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item34(TypedDict):
    """
    A volume.
    """

    name: str
    """
    Name by which tasks refer to it.
    """
    description: str
    """
    Description.
    """
    place: VolumePlace1 | VolumePlace2 | VolumePlace3 | VolumePlace4
    """
    Location.
    """
    built_in: bool
    """
    Whether every project has it. Such a volume can be neither changed nor deleted.
    """
    browsable: bool
    """
    Whether its files can be browsed here.
    """
    created_at: str
    """
    Creation time.
    """
    revision: int
    """
    Revision number, incremented with each change. In quotes, it is the ETag.
    """


class PageVolumeView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item34]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class PastView(TypedDict):
    """
    Resources and usage of the largest worker of a role in an earlier attempt.
    """

    attempt: str
    """
    ID of the attempt, in the form `<run>.<task>.<instance>.<n>`.
    """
    ended_at: str
    """
    End time.
    """
    run_seconds: float
    """
    Run time, in seconds.
    """
    asked: SizeView
    """
    Requested resources.
    """
    had: SizeView
    """
    Allocated amount.
    """
    recommended: SizeView
    """
    Resources that the attempt would have got in mode `auto`. They are computed for the current nodes, from the
    retained attempts that had ended when the attempt started. For the oldest attempts, less history is available
    than at that time.
    """
    peak_memory: int
    """
    Peak memory usage, in bytes.
    """
    memory_middle: NotRequired[int | None]
    """
    Median memory usage per second, in bytes. Omitted if unknown.
    """
    memory_high: NotRequired[int | None]
    """
    95th percentile of memory usage per second, in bytes. Omitted if unknown.
    """
    cpu: float
    """
    Average CPU usage, in cores.
    """
    cpu_high: float
    """
    95th percentile of CPU usage per second, in cores.
    """
    throttled: NotRequired[float | None]
    """
    Fraction of time in which the worker was throttled by its CPU limit, from 0 to 1. Omitted if unknown.
    """
    cpu_waited: NotRequired[float | None]
    """
    Fraction of time in which a thread of the worker waited for a CPU (pressure stall information), from 0 to 1. Omitted
    if unknown.
    """
    short_of_cpu: bool
    """
    Whether it could have used more CPU. It was throttled in a quarter of its time. Or it used all its CPU, and waited
    for more in a quarter of its time.
    """
    input: NotRequired[int | None]
    """
    Input size in bytes, if known.
    """
    out_of_memory: bool
    """
    Whether it was OOM killed.
    """
    counts: bool
    """
    Whether the attempt counts: it used the same template, image and program as the current task.
    """


class PathTaskView(TypedDict):
    """
    A task on the critical path. Of several instances, the one that ended last.
    """

    task: str
    """
    Name of the task.
    """
    instance: int
    """
    Instance that ended last, or that has not ended.
    """
    attempts: int
    """
    Number of attempts since it became ready.
    """
    ready_at: str
    """
    Time when its upstream tasks had ended.
    """
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    seconds: float
    """
    Time from ready to its end or until now, in seconds: the sum of `waiting_seconds`, `retry_seconds` and
    `running_seconds`.
    """
    waiting_seconds: float
    """
    Time from ready to the start of its first attempt, in seconds.
    """
    starting_seconds: float
    """
    Part of `waiting_seconds` between its submission and the start of its workers.
    """
    retry_seconds: float
    """
    Time from the start of its first attempt to that of its last, in seconds: failed attempts and backoff.
    """
    running_seconds: float
    """
    Time of its last attempt, in seconds.
    """


class PipelineView(VersionView):
    """
    A pipeline with its newest document.
    """

    project: str
    """
    Project.
    """
    name: str
    """
    Name.
    """
    description: str
    """
    Description.
    """
    labels: dict[str, str]
    """
    Labels.
    """
    parameters: dict[str, Any]
    """
    Parameters of the pipeline's runs, with type, default and bounds.
    """
    tasks: int
    """
    Number of tasks.
    """
    problems: list[ProblemView]
    """
    Problems that prevent the pipeline from running here, and probable mistakes.
    """


class PositionView(FiguresView):
    """
    Resources allocated in a node group while one price was valid.
    """

    cluster: str
    """
    Cluster.
    """
    node_group: NotRequired[str | None]
    """
    Node group. Omitted for nodes without a group.
    """
    price_since: NotRequired[str | None]
    """
    Date from which the price is valid. Omitted if there is no price.
    """
    price: RatesBody
    """
    Prices per hour.
    """


class PreflightView(TypedDict):
    """
    Preflight test results of an attempt's workers.
    """

    bounds: PreflightValues
    """
    Thresholds: half of the normal value on these nodes. For `mount`, the threshold is a maximum. A worker beyond
    a threshold is slow. It fails only if it is also worse than its peers, or below what every healthy machine
    reaches.
    """
    workers: list[TestedWorkerView]
    """
    Workers by rank. Empty while they are being tested.
    """
    blamed: NotRequired[BlamedView | None]


class PreviewBody(TypedDict):
    """
    Edits to simulate together.
    """

    edits: list[EditBody]
    """
    Edits, at most 20.
    """


class PriceView(RatesBody):
    """
    Price of a node group, or of the nodes of a cluster whose node group has no price.
    """

    id: str
    """
    ID.
    """
    cluster: str
    """
    Cluster.
    """
    node_group: NotRequired[str | None]
    """
    Node group. Omitted for all nodes whose node group has no price of its own.
    """
    valid_from: str
    """
    First day on which the price is valid, in UTC. It is valid until the next price of the same cluster and node
    group.
    """
    user: str
    """
    User who created the price or last changed it.
    """
    open: bool
    """
    Whether the price can still be changed. This is the case until the statements of the month in which it took
    effect are sent.
    """
    revision: int
    """
    Revision number, starting at 1 and incremented on each change. It is the ETag.
    """


class ProblemDocument(TypedDict):
    """
    A problem document (RFC 9457).
    """

    type: str
    """
    Problem type: `urn:cubeloom:problem:<kind>`.
    """
    title: str
    """
    Problem kind, in words.
    """
    status: int
    """
    HTTP status code.
    """
    detail: str
    """
    Explanation of the problem in this request, and how to fix it.
    """
    instance: NotRequired[str]
    """
    Request id, as in the `x-request-id` header.
    """
    problems: NotRequired[list[ProblemView]]
    """
    Individual problems in the input.
    """


class ProjectChange(TypedDict):
    """
    Changes to apply. Omitted fields keep their values.
    """

    label: NotRequired[str | None]
    """
    Display name.
    """
    description: NotRequired[str | None]
    """
    Description.
    """
    keeping: NotRequired[KeepingView | None]
    sizing: NotRequired[Literal['off', 'advise', 'auto'] | None]


class ProjectView(TypedDict):
    """
    A project.
    """

    name: str
    """
    Name of the project: letters, digits and `-`. The name cannot be changed.
    """
    label: str
    """
    Display name.
    """
    description: str
    """
    Description.
    """
    role: NotRequired[str | None]
    """
    Your role in the project: `viewer`, `editor` or `owner`. Omitted for administrators who are not members.
    """
    keeping: KeepingView
    """
    Retention settings for finished jobs.
    """
    places: PlacesView
    """
    Allowed clusters and default placement of its jobs.
    """
    sizing: Literal['off', 'advise', 'auto']
    """
    Right-sizing mode of CPU and memory for pipelines and tasks that do not set one.
    """
    logs_behind: NotRequired[BehindView | None]
    budget: NotRequired[BudgetStandingView | None]
    created_at: str
    """
    Creation time.
    """
    revision: int
    """
    Revision number, starting at 1 and incremented on each change. It is the ETag.
    """


class QueueBody(TypedDict):
    """
    Desired settings of a queue.
    """

    parent: NotRequired[str | None]
    """
    Parent group. Omitted for a queue at the top level.
    """
    quotas: NotRequired[dict[str, QuotaBody]]
    """
    Quotas for each pool (`CLUSTER` or `CLUSTER/NODE_GROUP`). In all other pools, the queue has no guarantee and
    no limit.
    """
    below_use: NotRequired[bool]
    """
    Whether to accept a limit below the current usage. No running jobs are stopped. New jobs start only after
    enough running jobs have ended.
    """


class QueueView(TypedDict):
    """
    A group or a project.
    """

    kind: str
    """
    Kind of the queue: `group` or `project`.
    """
    name: str
    """
    Name.
    """
    parent: NotRequired[str | None]
    """
    Parent group.
    """
    quotas: dict[str, QuotaBody]
    """
    Quota settings, by pool.
    """
    shares: dict[str, list[ShareView]]
    """
    Current shares, by pool.
    """
    revision: int
    """
    Revision of the queue. In quotation marks, it is the ETag. It is 0 for a project without quota settings.
    """


class QuotaChangeView(TypedDict):
    """
    A change of the quota tree, of a concurrency limit or of a priority class.
    """

    id: str
    """
    ID of the entry in the audit log. Later changes have greater IDs.
    """
    at: str
    """
    Time of the change.
    """
    user: str
    """
    Name of the user who made the change.
    """
    queue: str
    """
    What changed: `project/NAME`, `group/NAME`, `limit/NAME` or `priority-class/NAME`. If several items changed, their names are
    separated by spaces, and `before` and `after` contain each item by name.
    """
    before: NotRequired[Any]
    """
    Previous state. Omitted if the item was created.
    """
    after: NotRequired[Any]
    """
    New state. Omitted if the item was removed.
    """


class QuotasView(TypedDict):
    """
    The quota tree, as far as it is visible to you.
    """

    pools: list[PoolView]
    """
    Clusters and node groups, each with its capacity and the total amounts that are guaranteed and in use.
    """
    queues: list[QueueView]
    """
    Groups and projects, each listed after its group. Members see their projects and the groups above these.
    """


class RangeDateView(TypedDict):
    """
    One date in a range.
    """

    date: str
    """
    Logical date.
    """
    state: str
    """
    State of the date: `none`, or a state as in the history.
    """
    run: NotRequired[str | None]
    """
    Run.
    """
    run_state: NotRequired[str | None]
    """
    State.
    """


class RegistryView(TypedDict):
    """
    A container image registry.
    """

    name: str
    """
    Name of the registry in Cubeloom.
    """
    host: str
    """
    Host name, optionally with a port.
    """
    user: str
    """
    Account name.
    """
    secret: NotRequired[str | None]
    """
    Name of the project secret that contains the password.
    """
    created_at: str
    """
    Creation time.
    """
    revision: int
    """
    Revision number, incremented with each change. In quotes, it is the ETag.
    """


class ResumeWithView(TypedDict):
    """
    What resuming a run with a pipeline version would run.
    """

    version: int
    """
    Pipeline version.
    """
    kept: list[str]
    """
    Tasks that keep their results, in document order.
    """
    again: list[RunAgainView]
    """
    Tasks that would run, in document order.
    """


class ReusedView(TypedDict):
    """
    Source of a reused result.
    """

    run: str
    """
    Run that produced it.
    """
    task: str
    """
    Task that produced the result.
    """
    ended_at: str
    """
    Time at which the result was produced.
    """


class RoleSizingView(TypedDict):
    """
    Known resource usage of the workers of a role.
    """

    role: str
    """
    Role.
    """
    workers: int
    """
    Number of workers.
    """
    asked: SizeView
    """
    Requested resources.
    """
    recommended: SizeView
    """
    Resources that the next attempt would get in mode `auto`.
    """
    memory_reason: str
    """
    Reason for the recommended memory.
    """
    cpu_reason: str
    """
    Reason for the recommended CPU.
    """
    confidence: float
    """
    Confidence in the recommendation, from 0 to 1. It is the share of earlier attempts for which the
    recommendation at that time would have been sufficient. One additional, insufficient attempt is included in
    the calculation.
    """
    risk: NotRequired[float | None]
    """
    Estimated probability that the recommended memory is insufficient, based on the history. `null` if the history
    does not allow an estimate.
    """
    past: list[PastView]
    """
    Known attempts, oldest first.
    """


class RunAheadView(TypedDict):
    """
    A run that is ahead of another run.
    """

    run: str
    """
    Run.
    """
    state: str
    """
    State.
    """
    user: str
    """
    User that it runs for.
    """
    created_at: str
    """
    Time at which the run was requested.
    """


class RunMark(TypedDict):
    """
    A run, in the short form used in lists of pipelines.
    """

    id: str
    """
    ID.
    """
    state: str
    """
    State of the run: `queued`, `running`, `cancelling`, `succeeded`, `failed` or `cancelled`.
    """
    created_at: str
    """
    Time at which the run was requested.
    """
    duration_seconds: NotRequired[float | None]
    """
    Time from start to end, in seconds. Omitted until the run has ended.
    """


class SavedPipeline(TypedDict):
    """
    Pipeline that a user saved.
    """

    project: str
    """
    Project.
    """
    name: str
    """
    Pipeline.
    """
    version: int
    """
    Newest version of the pipeline.
    """
    user: str
    """
    Name of the user who saved the version.
    """
    message: str
    """
    User's message about the change.
    """
    created_at: str
    """
    Time at which the version was saved.
    """


class SchedulePreviewView(TypedDict):
    """
    Next dates of a schedule that is not stored.
    """

    timezone: str
    """
    Time zone of the schedule.
    """
    next: list[NextDateView]
    """
    Next dates, also while the schedule is paused. Empty for a schedule that waits for an event, or that has
    problems.
    """
    problems: list[ProblemView]
    """
    Problems of the schedule, with their paths in a document.
    """


class ScheduleView(TypedDict):
    """
    State of a pipeline's schedule.
    """

    project: str
    """
    Project.
    """
    pipeline: str
    """
    Pipeline.
    """
    schedule: NotRequired[dict[str, Any] | None]
    """
    Schedule in the newest version of the pipeline. Omitted if that version has no schedule.
    """
    active: bool
    """
    Whether the schedule is active.
    """
    set_by: str
    """
    Name of the user who set the schedule or took it over. It runs as this user.
    """
    set_at: str
    """
    Time at which the schedule was set.
    """
    refused: NotRequired[str | None]
    """
    Reason why the schedule can no longer run as this user: `user_gone`, `user_disabled` or `user_no_editor`. A
    user who resumes the schedule takes it over.
    """
    paused_by: NotRequired[str | None]
    """
    User who paused the schedule.
    """
    paused_at: NotRequired[str | None]
    next: list[str]
    """
    Next dates, also while the schedule is paused. Empty for a schedule that waits for an event.
    """
    look: NotRequired[LookView | None]


class SearchView(TypedDict):
    """
    Search of a task: what it tries, and the results.
    """

    goal: str
    """
    Goal: `maximize` or `minimize`.
    """
    of: str
    """
    Metric or output that measures the quality of a trial.
    """
    method: str
    """
    Search method: `grid`, `random` or `tpe`.
    """
    over: list[AxisView]
    """
    Parameters that the search varies, by name.
    """
    planned: int
    """
    Number of planned trials.
    """
    max_failures: int
    """
    Number of trials that may fail.
    """
    best: NotRequired[TrialView | None]
    trials: list[TrialView]
    """
    Trials that were started, in order.
    """


class SecretView(TypedDict):
    """
    A secret. Its value is never returned.
    """

    name: str
    """
    Name by which tasks refer to it.
    """
    description: str
    """
    Description.
    """
    created_at: str
    """
    Creation time.
    """
    updated_at: str
    """
    Time of the last change.
    """
    updated_by: str
    """
    User who last updated it.
    """
    revision: int
    """
    Revision number, incremented with each change. In quotes, it is the ETag.
    """


class SessionView(TypedDict):
    """
    Browser in which you are signed in.
    """

    id: str
    """
    ID.
    """
    current: bool
    """
    Whether this request was made from this session.
    """
    address: str
    """
    Address from which the user signed in.
    """
    agent: str
    """
    Browser, as it identifies itself.
    """
    created_at: str
    """
    Creation time.
    """
    used_at: str
    """
    Time of last use, accurate to 15 minutes.
    """
    expires_at: str
    """
    Expiry time if the session is not used.
    """


class SizeChangeView(TypedDict):
    """
    Change of the resources of a role's workers.
    """

    attempt: str
    """
    First attempt to which the change applied.
    """
    at: str
    """
    Time of the change.
    """
    role: str
    """
    Role.
    """
    asked: SizeView
    """
    Requested resources.
    """
    before: SizeView
    """
    Resources of the previous attempt.
    """
    after: SizeView
    """
    Resources of this attempt.
    """
    reason: str
    """
    Reason for the change.
    """
    not_grown: NotRequired[str | None]
    """
    Why the cluster did not give running workers more resources, in the cluster's own words. Omitted for other
    changes.
    """
    confidence: float
    """
    Confidence, between 0 and 1.
    """
    risk: NotRequired[float | None]
    """
    Probability that the memory of this attempt was too small, estimated from history. `null` if history gives no
    estimate.
    """


class SizeLimitView(TypedDict):
    """
    Resources of a worker, valid from a given time.
    """

    at: str
    """
    Time from which it has them.
    """
    cpu: float
    """
    Guaranteed CPU, in cores.
    """
    memory: int
    """
    Memory limit, in bytes.
    """


class SizingView(TypedDict):
    """
    Known resource usage of a task, and the resulting resources of its workers.
    """

    run: NotRequired[str | None]
    """
    Last run of the pipeline, whose plan is the basis of this data. Omitted if the task has not run yet.
    """
    mode: str
    """
    Effective right-sizing mode: `off`, `advise` (recommend only) or `auto` (automatic). It is set by the task,
    otherwise by the pipeline, otherwise by the project.
    """
    project_mode: str
    """
    Right-sizing mode of the project.
    """
    reverted_by: NotRequired[str | None]
    """
    User who reverted right-sizing of the task. The task gets the requested resources until right-sizing is
    resumed.
    """
    reverted_at: NotRequired[str | None]
    roles: list[RoleSizingView]
    """
    Right-sizing of each role. Empty before the first run of the task.
    """
    changes: list[SizeChangeView]
    """
    Last 100 changes, newest first.
    """


class StandingView(TypedDict):
    """
    Connection state of a cluster.
    """

    state: str
    """
    Connection state: `connected`, `away` (unreachable), `refused` (the cluster no longer recognizes the server),
    `given_up` (an administrator gave it up), or `unknown` (not contacted yet).
    """
    since: NotRequired[str | None]
    why: NotRequired[str | None]
    """
    Attempted operation and its result.
    """


class StartView(TypedDict):
    """
    Estimated start time, from a simulation of the queue with the run times known from history.
    """

    p50: str
    """
    50th percentile of the estimated time.
    """
    p90: str
    """
    90th percentile of the estimated time.
    """


class StatementView(TypedDict):
    """
    Monthly statement of a project: allocations and cost.
    """

    project: str
    """
    Project.
    """
    month: str
    """
    Month, UTC, e.g. `2026-01`.
    """
    open: bool
    """
    Whether the month is still in progress.
    """
    currency: NotRequired[str | None]
    """
    Currency of the prices. Omitted if the settings name none.
    """
    positions: list[PositionView]
    """
    Resources allocated in each node group while one price was valid.
    """
    pipelines: list[UsageGroup]
    """
    The same figures by pipeline.
    """
    users: list[UsageGroup]
    """
    The same figures by user.
    """
    total: FiguresView
    """
    Total.
    """
    budget: NotRequired[BudgetView | None]


class StructureView(TypedDict):
    """
    Structural difference between two pipelines.
    """

    added: list[str]
    """
    Tasks that only the new pipeline has, in its order.
    """
    removed: list[str]
    """
    Tasks that only the old pipeline has, in its order.
    """
    changed: list[TaskChange]
    """
    Tasks that both pipelines have and that differ, in the order of the new pipeline.
    """
    parameters: list[FieldChange]
    """
    Parameters that were added, removed or changed. Paths begin with the parameter name.
    """
    settings: list[FieldChange]
    """
    All other settings: description, labels, env, schedule, ...
    """


class TaskAdviceView(TypedDict):
    """
    Recommendations for a task.
    """

    attempt: int
    """
    Attempt number. 0 if there is no attempt yet.
    """
    live: bool
    """
    Whether the attempt is still in progress.
    """
    workers: int
    """
    Number of workers.
    """
    advice: list[AdviceView]
    """
    Recommendations, one per rule. Those that concern the workers together come first.
    """


class TaskForecastView(TypedDict):
    """
    Forecast of a task.
    """

    task: str
    """
    Name.
    """
    outlook: Literal['starts', 'later', 'waits', 'unknown', 'never']
    """
    Outlook of the task: `starts`, `waits`, `never`, `later` or `unknown`. `never`: the task can never start.
    `later`: it comes after other tasks, and can start later. `unknown`: the cluster's queue is unreachable. For a
    task with many instances, applies to the first one.
    """
    message: NotRequired[str | None]
    """
    Reason why the task is pending or can never start: a sentence with the amounts.
    """
    rule: NotRequired[str | None]
    """
    Rule that blocks the task: `capacity`, `not_lent`, `limit`, `no_borrowing`, `persons_cap`, `named_limit`,
    `apart`, `behind`, `cool_down`, `leaving`, `scattered`, `faulty`, `pipeline_parallelism` or `never_fits`.
    `max_active_runs`: other runs of the pipeline block the whole run. `budget`: the project's budget is spent.
    `not_taken`: the cluster would not accept the run from you, for example because you have no account. With
    `budget` and `not_taken`, the run is rejected.
    """
    pool: NotRequired[str | None]
    """
    Node pool concerned, as `CLUSTER` or `CLUSTER/NODE_GROUP`.
    """
    shortages: list[ShortageView]
    """
    Insufficient resources.
    """
    holders: list[HolderView]
    """
    Blocking jobs in projects visible to you. The task starts once these and the jobs counted in `more_holders`
    and `hidden_holders` end. At most 200 are returned.
    """
    more_holders: int
    """
    Number of further blocking jobs in visible projects, beyond those listed in `holders`.
    """
    hidden_holders: int
    """
    Number of blocking jobs in other projects.
    """
    ahead: NotRequired[int | None]
    """
    Number of jobs ahead in the queue of the same node pool.
    """
    start: NotRequired[StartView | None]
    run_time: NotRequired[RunTimeView | None]


class TaskSide(TypedDict):
    """
    Task in one of the runs.
    """

    template: str
    """
    Task template, as `name@version`.
    """
    state: str
    """
    State.
    """
    wait_seconds: NotRequired[float | None]
    """
    Time that the task was pending, in seconds.
    """
    run_seconds: NotRequired[float | None]
    """
    Run time, in seconds.
    """
    attempts: int
    """
    Number of attempts.
    """
    roles: list[RoleView]
    """
    Resource request of each attempt.
    """
    usage: NotRequired[UsageView | None]


class TemplateSummaryView(TypedDict):
    """
    Summary of a template in a list.
    """

    name: str
    """
    Name.
    """
    label: TextView
    """
    Display name.
    """
    help: TextView
    """
    Description, in Markdown.
    """
    group: str
    """
    Group that the template is listed in.
    """
    framework: str
    """
    Framework, which defines how workers learn their identity: `single`, `indexed`, `mpi`, `pytorch`, ...
    """
    version: str
    """
    Default version, used by tasks that name no version.
    """
    versions: list[str]
    """
    All installed versions, oldest first.
    """


class TemplateView(TemplateSummaryView):
    """
    A version of a template.
    """

    digest: str
    """
    SHA-256 of the template folder, in hexadecimal.
    """
    image: NotRequired[str | None]
    """
    Container image.
    """
    help_html: TextView
    """
    Help text, as HTML that is safe to display.
    """
    readme_html: NotRequired[str | None]
    """
    README, as HTML that is safe to display.
    """
    parameters: dict[str, Any]
    """
    Template parameters, as a JSON Schema (draft 2020-12) with `x-form` hints.
    """
    roles: list[TemplateRoleView]
    """
    Worker roles.
    """
    command: list[str]
    """
    Command of each worker, with expressions.
    """
    outputs: list[TemplateOutputView]
    """
    Outputs that its program reports.
    """
    elastic: bool
    """
    Whether a job can continue with fewer workers, and use more.
    """
    example: NotRequired[Example | None]
    before_after: NotRequired[BeforeAfter | None]


class TerminalView(TypedDict):
    """
    An open terminal.
    """

    id: str
    """
    ID.
    """
    attempt: int
    """
    Attempt that the terminal is opened for.
    """
    worker: str
    """
    Worker that the terminal represents, e.g. `worker-0`.
    """
    socket: str
    """
    WebSocket path on this server. The same person must open the connection.
    """
    ends_at: str
    """
    Latest time at which the terminal ends.
    """


class VolumeChange(TypedDict):
    """
    Changes to a volume. Omitted fields stay unchanged.
    """

    description: NotRequired[str | None]
    """
    Description.
    """
    place: NotRequired[VolumePlace1 | VolumePlace2 | VolumePlace3 | VolumePlace4 | None]


class WaitView(TypedDict):
    """
    Pending reason.
    """

    rule: str
    """
    Rule that keeps it pending: `capacity`, `behind`, `quota`, `named_limit`, `parallelism`, `decision`, or
    `unknown` before the first evaluation. `why` has the exact rule.
    """
    message: str
    """
    Sentence with the amounts. For `decision`, the question to decide.
    """
    approvers: NotRequired[list[str]]
    """
    Approvers for `decision`. Empty if no approvers are named.
    """
    why: NotRequired[WhyView | None]
    start: NotRequired[StartView | None]


class WorkerUsageView(TypedDict):
    """
    Usage of a worker, with its limits.
    """

    worker: str
    """
    Worker name, `<role>-<index>`.
    """
    asked: NotRequired[SizeView | None]
    limits: list[SizeLimitView]
    """
    Resources of the worker over time. Right-sizing may give it different resources than requested, and more
    while it runs.
    """
    cpu_limit: NotRequired[float | None]
    """
    CPU limit, in cores. Omitted if there is none.
    """
    cards: bool
    """
    Whether it requested GPUs.
    """
    card_memory: NotRequired[float | None]
    """
    Total memory of its GPUs, in bytes. Omitted when unknown.
    """
    lines: list[LineView]
    """
    Usage metrics. Metrics that are not reported are omitted.
    """


class AddedClusterView(ClusterBody):
    """
    Kubernetes cluster that was added, without its kubeconfig.
    """

    name: str
    """
    Name.
    """
    created_at: str
    """
    Registration time.
    """
    given_up_at: NotRequired[str | None]
    revision: int
    """
    Revision number, incremented with each change. In quotes, it is the ETag.
    """


class Affected(TypedDict):
    """
    Affected jobs.
    """

    count: int
    """
    Number of affected jobs.
    """
    jobs: list[JobView]
    """
    First 100 affected jobs.
    """


class AttemptView(TypedDict):
    """
    An attempt at an instance.
    """

    key: str
    """
    Attempt key, `<run>.<task>.<instance>.<n>`. Everything that the attempt created carries this key.
    """
    task: str
    """
    Task.
    """
    instance: int
    """
    Instance.
    """
    attempt: int
    """
    Attempt number, from 1.
    """
    state: str
    """
    State: `submitting`, `running`, `stopping` or `ended`.
    """
    suspended: NotRequired[bool | None]
    """
    Whether it is suspended: its workers are removed until it is resumed. Omitted if it cannot be suspended, and
    in the list of all attempts of a run.
    """
    outcome: NotRequired[str | None]
    """
    Outcome: `succeeded`, `failed` or `cancelled`. Omitted until it has ended.
    """
    created_at: str
    """
    Time at which it was admitted.
    """
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    start_seconds: NotRequired[float | None]
    """
    Seconds from `created_at` to `started_at`.
    """
    run_seconds: NotRequired[float | None]
    """
    Seconds from `started_at` to `ended_at`.
    """
    cpu: float
    """
    Total CPU of all workers, in cores.
    """
    memory: int
    """
    Total memory of all workers, in bytes.
    """
    gpus: int
    """
    Number of whole GPUs of all workers together.
    """
    workers: list[WorkerView]
    """
    Workers by rank, including released workers at the end.
    """
    earlier: NotRequired[list[EarlierView]]
    """
    Earlier worker counts, oldest first. Set for an elastic job that gained or released workers while it ran.
    """
    sizing: NotRequired[str | None]
    """
    What its workers got instead of the resource request, and why, as a sentence.
    """
    not_grown: NotRequired[list[str]]
    """
    Why its workers got no more memory when an increase was due, as sentences. One of them may end with the
    cluster's own message.
    """
    usage: NotRequired[UsageView | None]
    failure: NotRequired[FailureView | None]
    hang: NotRequired[HangView | None]
    preflight: NotRequired[PreflightView | None]
    run: NotRequired[str | None]
    """
    Run of another pipeline that this attempt represents. Such an attempt has no workers.
    """


class CalendarView(TypedDict):
    """
    Past and future runs in a period.
    """

    dates: list[DateView]
    """
    Dates in chronological order.
    """
    more: bool
    """
    Whether there are more dates than shown.
    """


class CardDetail(MonitoredCardView):
    """
    A GPU and its metrics for the last hour.
    """

    cluster: str
    """
    Cluster of the GPU.
    """
    node: str
    """
    Node.
    """
    at: str
    """
    Time when the data was read.
    """
    history: CardHistoryView
    """
    History of the last hour.
    """
    advice: list[AdviceView]
    """
    Recommendations for tasks in projects of which the caller is a member.
    """
    problems: list[str]
    """
    Data that could not be read or is unreliable, one message each.
    """


class ChangesBody(TypedDict):
    """
    Edits to apply together.
    """

    edits: list[EditBody]
    """
    From 1 to 20 edits. Each edit is for a different queue and contains a revision.
    """
    below_use: NotRequired[bool]
    """
    Whether to accept limits below the current usage. No running jobs are stopped.
    """


class ClusterView(TypedDict):
    """
    Cluster.
    """

    name: str
    """
    Name.
    """
    kind: str
    """
    Kind of the cluster. `local` is the server's own machine.
    """
    capacity: AmountView
    """
    Total capacity of all nodes.
    """
    used: AmountView
    """
    Resources allocated to attempts that have not ended.
    """
    attempts: int
    """
    Number of attempts counted in `used`.
    """
    nodes: list[ClusterNodeView]
    """
    Nodes.
    """
    node_groups: list[str]
    """
    Node groups that a placement can refer to.
    """
    spares: NotRequired[list[str]]
    """
    Healthy, unoccupied standby nodes, kept to replace other nodes. They are not counted in the fields above.
    """
    standing: StandingView
    """
    Connection state.
    """
    problems: list[str]
    """
    Problems of the cluster, one sentence each.
    """


class ComparedPlaceView(TypedDict):
    """
    Forecast of a run in one placement.
    """

    place: str
    """
    Placement, as `CLUSTER` or `CLUSTER/NODE_GROUP`. Send it as `place` to start a run there.
    """
    cluster: str
    """
    Cluster.
    """
    node_group: NotRequired[str | None]
    """
    Node group. If omitted, the placement is the whole cluster.
    """
    is_usual: bool
    """
    Whether the run uses this placement when no placement is chosen.
    """
    outlook: Literal['starts', 'later', 'waits', 'unknown', 'never']
    """
    Combined outlook of the tasks without dependencies: `starts`, `waits`, `never`, or `unknown` while the
    cluster's queue is unreachable.
    """
    message: NotRequired[str | None]
    """
    Reason why one of the tasks is pending: a sentence with the amounts.
    """
    problems: list[ProblemView]
    """
    Problems that prevent the run in this placement, each with its field: a path into the document, or `/place`.
    """
    first_start: NotRequired[StartView | None]
    start: NotRequired[StartView | None]
    takes: NotRequired[TakesView | None]
    done: NotRequired[StartView | None]
    unknown_tasks: list[str]
    """
    Tasks of unknown duration: too few attempts have ended, a person performs them, or other tasks determine the
    number of instances.
    """
    elsewhere: list[str]
    """
    Tasks whose duration is known only from other placements.
    """
    cost: NotRequired[str | None]
    """
    Estimated cost: the tasks' resource requests for the median duration of their attempts, at the current price.
    Excludes tasks in `unknown_tasks`. Omitted if nothing has a price or no duration is known.
    """


class ComparedPlacesView(TypedDict):
    """
    Comparison of the placements that a run may use.
    """

    at: str
    """
    Time for which the forecast is valid.
    """
    places: list[ComparedPlaceView]
    """
    Placements, at most 32, starting with the default one. Empty for an invalid document.
    """
    left_out: int
    """
    Number of further placements.
    """
    currency: NotRequired[str | None]
    """
    Currency of amounts of money, if configured.
    """
    problems: list[ProblemView]
    """
    Problems of the document that prevent the run on any placement.
    """


class CreatedLink(LinkView):
    """
    Created link.
    """

    url: str
    """
    The link itself, shown only once. Anyone who has it can use it, once.
    """


class CriticalPathView(TypedDict):
    """
    Critical path of a run: the chain of tasks that decided when the run ended.
    """

    seconds: float
    """
    Time from the start of the run to its end or until now, in seconds.
    """
    path_seconds: float
    """
    Total time of the tasks on the path, in seconds.
    """
    waiting_seconds: float
    """
    Part of it in which the tasks waited for the start of their workers or for a decision.
    """
    retry_seconds: float
    """
    Part of it that failed attempts and the time between attempts took.
    """
    tasks: list[PathTaskView]
    """
    Tasks on the path, in order. Each is upstream of the next. Empty before the first task.
    """
    hints: list[PathHintView]
    """
    What would shorten the run, those for the largest times first.
    """


class DatesView(TypedDict):
    """
    Dates in a range, as a back-fill of the range would find them.
    """

    dates: list[RangeDateView]
    """
    First dates in the range, with their results. `state` is `none` for a date that has not been requested yet.
    """
    total: int
    """
    Total number of dates.
    """
    without_run: int
    """
    Number of dates without a run. A back-fill starts these.
    """
    underway: int
    """
    Number of dates with an active run or a run that is about to start.
    """


class Difference(TypedDict):
    """
    Difference between two texts.
    """

    same: bool
    """
    Whether the texts are the same.
    """
    unified: str
    """
    Difference in the format of `diff -u`. Empty if the texts are the same.
    """
    hunks: list[Hunk]
    """
    Hunks that cover both texts from beginning to end.
    """


class ForecastView(TypedDict):
    """
    Forecast of a run started now.
    """

    at: str
    """
    Time for which the forecast is valid.
    """
    cluster: NotRequired[str | None]
    """
    Cluster that the run would use.
    """
    tasks: list[TaskForecastView]
    """
    Tasks, in the order of the document. Empty for an invalid document.
    """
    problems: list[ProblemView]
    """
    Problems that would prevent the run. Tasks that can never start are not included; see the tasks.
    """


class InstanceView(TypedDict):
    """
    An instance of a task.
    """

    instance: int
    """
    Instance number, from 0.
    """
    item: Any
    """
    Item of `for_each`. Null for a plain task.
    """
    state: str
    """
    State, one of the task states.
    """
    wait: NotRequired[WaitView | None]
    preparing: NotRequired[str | None]
    """
    What is being prepared before it can start.
    """
    progress: NotRequired[ProgressView | None]
    attempt: int
    """
    Number of its last attempt. 0 before the first attempt.
    """
    ready_at: str
    """
    Time at which the instance became ready.
    """
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    wait_seconds: NotRequired[float | None]
    """
    Seconds from `ready_at` to `started_at`.
    """
    run_seconds: NotRequired[float | None]
    """
    Run time of its last attempt, in seconds.
    """
    next_try_at: NotRequired[str | None]
    usage: NotRequired[UsageView | None]
    failure: NotRequired[FailureView | None]
    outputs: dict[str, Any]
    """
    Reported outputs.
    """
    reused: NotRequired[ReusedView | None]
    note: NotRequired[str | None]
    """
    Note for the user.
    """


class LiveEvent6(SavedPipeline):
    """
    A pipeline has a new version. Sent on the streams of projects.
    """

    kind: Literal['pipeline']


class Item1(TypedDict):
    """
    An attempt at an instance.
    """

    key: str
    """
    Attempt key, `<run>.<task>.<instance>.<n>`. Everything that the attempt created carries this key.
    """
    task: str
    """
    Task.
    """
    instance: int
    """
    Instance.
    """
    attempt: int
    """
    Attempt number, from 1.
    """
    state: str
    """
    State: `submitting`, `running`, `stopping` or `ended`.
    """
    suspended: NotRequired[bool | None]
    """
    Whether it is suspended: its workers are removed until it is resumed. Omitted if it cannot be suspended, and
    in the list of all attempts of a run.
    """
    outcome: NotRequired[str | None]
    """
    Outcome: `succeeded`, `failed` or `cancelled`. Omitted until it has ended.
    """
    created_at: str
    """
    Time at which it was admitted.
    """
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    start_seconds: NotRequired[float | None]
    """
    Seconds from `created_at` to `started_at`.
    """
    run_seconds: NotRequired[float | None]
    """
    Seconds from `started_at` to `ended_at`.
    """
    cpu: float
    """
    Total CPU of all workers, in cores.
    """
    memory: int
    """
    Total memory of all workers, in bytes.
    """
    gpus: int
    """
    Number of whole GPUs of all workers together.
    """
    workers: list[WorkerView]
    """
    Workers by rank, including released workers at the end.
    """
    earlier: NotRequired[list[EarlierView]]
    """
    Earlier worker counts, oldest first. Set for an elastic job that gained or released workers while it ran.
    """
    sizing: NotRequired[str | None]
    """
    What its workers got instead of the resource request, and why, as a sentence.
    """
    not_grown: NotRequired[list[str]]
    """
    Why its workers got no more memory when an increase was due, as sentences. One of them may end with the
    cluster's own message.
    """
    usage: NotRequired[UsageView | None]
    failure: NotRequired[FailureView | None]
    hang: NotRequired[HangView | None]
    preflight: NotRequired[PreflightView | None]
    run: NotRequired[str | None]
    """
    Run of another pipeline that this attempt represents. Such an attempt has no workers.
    """


class PageAttemptView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item1]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item6(TypedDict):
    """
    Cluster.
    """

    name: str
    """
    Name.
    """
    kind: str
    """
    Kind of the cluster. `local` is the server's own machine.
    """
    capacity: AmountView
    """
    Total capacity of all nodes.
    """
    used: AmountView
    """
    Resources allocated to attempts that have not ended.
    """
    attempts: int
    """
    Number of attempts counted in `used`.
    """
    nodes: list[ClusterNodeView]
    """
    Nodes.
    """
    node_groups: list[str]
    """
    Node groups that a placement can refer to.
    """
    spares: NotRequired[list[str]]
    """
    Healthy, unoccupied standby nodes, kept to replace other nodes. They are not counted in the fields above.
    """
    standing: StandingView
    """
    Connection state.
    """
    problems: list[str]
    """
    Problems of the cluster, one sentence each.
    """


class PageClusterView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item6]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item13(TypedDict):
    """
    An instance of a task.
    """

    instance: int
    """
    Instance number, from 0.
    """
    item: Any
    """
    Item of `for_each`. Null for a plain task.
    """
    state: str
    """
    State, one of the task states.
    """
    wait: NotRequired[WaitView | None]
    preparing: NotRequired[str | None]
    """
    What is being prepared before it can start.
    """
    progress: NotRequired[ProgressView | None]
    attempt: int
    """
    Number of its last attempt. 0 before the first attempt.
    """
    ready_at: str
    """
    Time at which the instance became ready.
    """
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    wait_seconds: NotRequired[float | None]
    """
    Seconds from `ready_at` to `started_at`.
    """
    run_seconds: NotRequired[float | None]
    """
    Run time of its last attempt, in seconds.
    """
    next_try_at: NotRequired[str | None]
    usage: NotRequired[UsageView | None]
    failure: NotRequired[FailureView | None]
    outputs: dict[str, Any]
    """
    Reported outputs.
    """
    reused: NotRequired[ReusedView | None]
    note: NotRequired[str | None]
    """
    Note for the user.
    """


class PageInstanceView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item13]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item21(TypedDict):
    """
    A pipeline in a list.
    """

    project: str
    """
    Project.
    """
    name: str
    """
    Name.
    """
    description: str
    """
    Description.
    """
    labels: dict[str, str]
    """
    Labels.
    """
    version: int
    """
    Newest version, starting at 1.
    """
    message: str
    """
    Message that the author gave for the newest version.
    """
    user: str
    """
    Author of the version.
    """
    updated_at: str
    """
    Time when the version was stored.
    """
    last_runs: list[RunMark]
    """
    Most recent runs, newest first, at most ten.
    """


class PagePipelineSummaryView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item21]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class Item29(TypedDict):
    """
    A task of a run.
    """

    name: str
    """
    Name.
    """
    index: int
    """
    Position in the run plan, from 0.
    """
    template: str
    """
    Task template, as `name@version`.
    """
    framework: str
    """
    Framework of the task.
    """
    needs: list[str]
    """
    Tasks that it depends on.
    """
    state: str
    """
    State: `pending`, `waiting`, `backoff`, `running`, `succeeded`, `reused`, `stopped_early`, `failed`,
    `upstream_failed`, `skipped` or `cancelled`. For a task with several instances, the state that matters most.
    """
    wait: NotRequired[WaitView | None]
    preparing: NotRequired[str | None]
    """
    What is being prepared before it can start, e.g. its Python environment.
    """
    progress: NotRequired[ProgressView | None]
    for_each: bool
    """
    Whether the task runs once for each item.
    """
    instances: TaskCounts
    """
    Instance counts. A plain task has one instance.
    """
    ready_at: NotRequired[str | None]
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    wait_seconds: NotRequired[float | None]
    """
    Seconds from `ready_at` to `started_at`. Omitted while it is pending.
    """
    run_seconds: NotRequired[float | None]
    """
    Seconds from `started_at` to `ended_at`. Omitted while it runs.
    """
    attempts: int
    """
    Number of attempts.
    """
    next_try_at: NotRequired[str | None]
    roles: list[RoleView]
    """
    Resource request of each attempt, by role.
    """
    usage: NotRequired[UsageView | None]
    hang: NotRequired[HangView | None]
    effective: NotRequired[EffectiveView | None]
    failure: NotRequired[FailureView | None]
    outputs: dict[str, Any]
    """
    Outputs that it reported. Empty for a task with several instances: see its instances.
    """
    reused: NotRequired[ReusedView | None]
    note: NotRequired[str | None]
    """
    Note for the user, e.g. why an earlier result was not reused.
    """


class PageTaskView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item29]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class PipelineSummaryView(TypedDict):
    """
    A pipeline in a list.
    """

    project: str
    """
    Project.
    """
    name: str
    """
    Name.
    """
    description: str
    """
    Description.
    """
    labels: dict[str, str]
    """
    Labels.
    """
    version: int
    """
    Newest version, starting at 1.
    """
    message: str
    """
    Message that the author gave for the newest version.
    """
    user: str
    """
    Author of the version.
    """
    updated_at: str
    """
    Time when the version was stored.
    """
    last_runs: list[RunMark]
    """
    Most recent runs, newest first, at most ten.
    """


class PreviewView(TypedDict):
    """
    Immediate impact of edits. Later behaviour of jobs is not predicted.
    """

    problems: list[ProblemView]
    """
    Reasons why the edits would be refused. The code is `conflict` if `below_use` would allow the edit. Paths
    begin with `/edits/N`.
    """
    over: Affected
    """
    Running jobs beyond the new limits of their queue. They continue to run, and no more jobs of the queue start
    until enough have ended.
    """
    give_back: Affected
    """
    Running jobs that would be preempted because borrowed quota is reclaimed.
    """
    start: Affected
    """
    Pending jobs that would start.
    """
    wait: Affected
    """
    Pending jobs that would have started without the edits and would remain pending.
    """
    unknown: list[str]
    """
    Clusters whose queue is unreachable. Their jobs are not included in the impact.
    """


class RunWaitView(TypedDict):
    """
    Reason why a run has not started.
    """

    message: str
    """
    Reason as a sentence.
    """
    rule: str
    """
    Rule that keeps the run queued. `max_active_runs`: the pipeline is at its limit of active runs, or older runs
    are waiting for it. `starting`: nothing blocks the run, and a server starts it in its next scheduling cycle.
    """
    limit: NotRequired[int | None]
    """
    Maximum number of active runs of the pipeline. Omitted if there is no limit.
    """
    active: int
    """
    Number of active runs of the pipeline.
    """
    ahead: int
    """
    Number of older queued runs. They start before this run.
    """
    runs: list[RunAheadView]
    """
    Active runs, followed by queued runs, oldest first, at most 20. Users who can see a run can see the other runs
    of its pipeline.
    """
    start: NotRequired[StartView | None]


class TaskPair(TypedDict):
    """
    Task on both sides.
    """

    name: str
    """
    Name of the task.
    """
    side: str
    """
    Runs that have the task: `both`, `left` or `right`.
    """
    changed: list[str]
    """
    Parts of the task's plan that differ: `template`, `needs`, `arguments`, `env`, `roles`, `for_each`, `when`,
    ...
    """
    left: NotRequired[TaskSide | None]
    right: NotRequired[TaskSide | None]
    ratio: NotRequired[float | None]
    """
    Run time of the left task divided by the run time of the right task.
    """
    outputs: list[ValuePair]
    """
    Outputs by name.
    """
    arguments: list[ValuePair]
    """
    Arguments that differ, by name. Arguments resolved only at run time are given as expressions.
    """


class TaskUsageView(TypedDict):
    """
    Usage of the workers of an attempt.
    """

    attempt: int
    """
    Attempt number. 0 if there is no attempt yet.
    """
    live: bool
    """
    Whether the attempt is still in progress.
    """
    workers: list[WorkerUsageView]
    """
    Usage by worker. Empty if no data is available, or no longer available.
    """
    missing: list[str]
    """
    Metrics that the cluster does not report for its workers: `cpu`, `throttled`, `cpu_wait`, `memory`, `disk`, `network`,
    `io_wait`, `cards`.
    """


class TaskView(TypedDict):
    """
    A task of a run.
    """

    name: str
    """
    Name.
    """
    index: int
    """
    Position in the run plan, from 0.
    """
    template: str
    """
    Task template, as `name@version`.
    """
    framework: str
    """
    Framework of the task.
    """
    needs: list[str]
    """
    Tasks that it depends on.
    """
    state: str
    """
    State: `pending`, `waiting`, `backoff`, `running`, `succeeded`, `reused`, `stopped_early`, `failed`,
    `upstream_failed`, `skipped` or `cancelled`. For a task with several instances, the state that matters most.
    """
    wait: NotRequired[WaitView | None]
    preparing: NotRequired[str | None]
    """
    What is being prepared before it can start, e.g. its Python environment.
    """
    progress: NotRequired[ProgressView | None]
    for_each: bool
    """
    Whether the task runs once for each item.
    """
    instances: TaskCounts
    """
    Instance counts. A plain task has one instance.
    """
    ready_at: NotRequired[str | None]
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    wait_seconds: NotRequired[float | None]
    """
    Seconds from `ready_at` to `started_at`. Omitted while it is pending.
    """
    run_seconds: NotRequired[float | None]
    """
    Seconds from `started_at` to `ended_at`. Omitted while it runs.
    """
    attempts: int
    """
    Number of attempts.
    """
    next_try_at: NotRequired[str | None]
    roles: list[RoleView]
    """
    Resource request of each attempt, by role.
    """
    usage: NotRequired[UsageView | None]
    hang: NotRequired[HangView | None]
    effective: NotRequired[EffectiveView | None]
    failure: NotRequired[FailureView | None]
    outputs: dict[str, Any]
    """
    Outputs that it reported. Empty for a task with several instances: see its instances.
    """
    reused: NotRequired[ReusedView | None]
    note: NotRequired[str | None]
    """
    Note for the user, e.g. why an earlier result was not reused.
    """


class ClusterDetail(ClusterView):
    """
    Cluster with its allocations and the task templates that can run on it.
    """

    aside: NotRequired[list[AsideView]]
    """
    Cordoned nodes, which receive no new jobs. They are not counted in the fields above.
    """
    running: list[RunningView]
    """
    Attempts with allocations on the cluster, from runs that the caller may see, newest first.
    """
    others: int
    """
    Number of other attempts, from projects that the caller is not a member of.
    """
    templates: list[RunnableView]
    """
    Newest version of each task template, and whether it can run on the cluster.
    """


class LiveEvent3(TypedDict):
    """
    A task was changed.
    """

    run_id: str
    """
    Run.
    """
    task: TaskView
    """
    Current state of the task.
    """
    kind: Literal['task']


class Item26(TypedDict):
    """
    A run.
    """

    id: str
    """
    ID.
    """
    project: str
    """
    Project.
    """
    pipeline: str
    """
    Pipeline.
    """
    cluster: NotRequired[str | None]
    """
    Cluster that the run is on. Omitted in lists.
    """
    version: NotRequired[int | None]
    """
    Version of the pipeline. Omitted if the run was started from a document.
    """
    user: str
    """
    Name of the user who started the run.
    """
    acting_user: NotRequired[str | None]
    """
    Name of the user who last resumed the run or reran part of it. Since then, the run runs as this user.
    """
    state: str
    """
    State of the run: `queued`, `running`, `cancelling`, `succeeded`, `failed` or `cancelled`.
    """
    phase: NotRequired[str]
    """
    What the run is doing: the same as `state`, unless the run is running and none of its tasks is. Then it is `approval` if a task is
    waiting for a person's decision, and `pending` if its tasks are waiting for resources.
    """
    created_at: str
    """
    Time at which the run was requested.
    """
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    duration_seconds: NotRequired[float | None]
    """
    Time from start to end, in seconds. Omitted until the run has ended. Until then, calculate it from
    `started_at`.
    """
    queued_seconds: NotRequired[float | None]
    """
    Time that the run waited for other runs of its pipeline, in seconds. Omitted while it is waiting.
    """
    wait: NotRequired[RunWaitView | None]
    tasks: TaskCounts
    """
    Number of tasks, by state.
    """
    effective: NotRequired[EffectiveView | None]
    message: NotRequired[str | None]
    """
    Message with information about the run that users should know.
    """
    parameters: dict[str, Any]
    """
    Parameters that the run was started with, without the defaults of the pipeline.
    """
    parent: NotRequired[ParentView | None]
    trigger: str
    """
    What started the run: `person`, `schedule`, `backfill`, `pipeline` (another run ended), `file` (a file
    arrived), `hook` or `task`.
    """
    logical_date: NotRequired[str | None]
    late_at: NotRequired[str | None]


class PageRunView(TypedDict):
    """
    One page of a list.
    """

    items: list[Item26]
    """
    Items, in the order of the list.
    """
    next_cursor: NotRequired[str | None]
    """
    Cursor of the next page, to be sent as `cursor`. Omitted on the last page.
    """


class RunView(TypedDict):
    """
    A run.
    """

    id: str
    """
    ID.
    """
    project: str
    """
    Project.
    """
    pipeline: str
    """
    Pipeline.
    """
    cluster: NotRequired[str | None]
    """
    Cluster that the run is on. Omitted in lists.
    """
    version: NotRequired[int | None]
    """
    Version of the pipeline. Omitted if the run was started from a document.
    """
    user: str
    """
    Name of the user who started the run.
    """
    acting_user: NotRequired[str | None]
    """
    Name of the user who last resumed the run or reran part of it. Since then, the run runs as this user.
    """
    state: str
    """
    State of the run: `queued`, `running`, `cancelling`, `succeeded`, `failed` or `cancelled`.
    """
    phase: NotRequired[str]
    """
    What the run is doing: the same as `state`, unless the run is running and none of its tasks is. Then it is `approval` if a task is
    waiting for a person's decision, and `pending` if its tasks are waiting for resources.
    """
    created_at: str
    """
    Time at which the run was requested.
    """
    started_at: NotRequired[str | None]
    ended_at: NotRequired[str | None]
    duration_seconds: NotRequired[float | None]
    """
    Time from start to end, in seconds. Omitted until the run has ended. Until then, calculate it from
    `started_at`.
    """
    queued_seconds: NotRequired[float | None]
    """
    Time that the run waited for other runs of its pipeline, in seconds. Omitted while it is waiting.
    """
    wait: NotRequired[RunWaitView | None]
    tasks: TaskCounts
    """
    Number of tasks, by state.
    """
    effective: NotRequired[EffectiveView | None]
    message: NotRequired[str | None]
    """
    Message with information about the run that users should know.
    """
    parameters: dict[str, Any]
    """
    Parameters that the run was started with, without the defaults of the pipeline.
    """
    parent: NotRequired[ParentView | None]
    trigger: str
    """
    What started the run: `person`, `schedule`, `backfill`, `pipeline` (another run ended), `file` (a file
    arrived), `hook` or `task`.
    """
    logical_date: NotRequired[str | None]
    late_at: NotRequired[str | None]


class Snapshot(TypedDict):
    """
    Complete current state of the subject of a stream.
    """

    at: str
    """
    Server time.
    """
    runs: list[RunView]
    """
    On a run's stream, the run. On other streams, the newest runs, including active runs.
    """
    tasks: list[TaskView]
    """
    On a run's stream, the tasks of the run.
    """
    truncated: bool
    """
    Whether more tasks or runs exist than were sent. Use the list operations to get them.
    """


class StartedView(TypedDict):
    """
    A run that was started.
    """

    run: RunView
    """
    Run.
    """
    warnings: list[ProblemView]
    """
    Warnings about what is valid but probably unintended.
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


class ComparedRunView(TypedDict):
    """
    A run in a comparison.
    """

    run: RunView
    """
    The run.
    """
    parameters: dict[str, Any]
    """
    Parameters of the run, including the defaults of the pipeline.
    """
    metrics: list[TaskValueView]
    """
    Last values of metrics, including those of running tasks. Tasks with `for_each` are left out.
    """
    outputs: list[TaskValueView]
    """
    Outputs that are numbers. Tasks with `for_each` are left out.
    """
    tasks: list[ComparedTaskView]
    """
    Tasks in document order, at most 500.
    """


class ComparisonView(TypedDict):
    """
    Comparison of two runs.
    """

    left: RunView
    """
    Run from the path.
    """
    right: RunView
    """
    Run that it is compared with.
    """
    parameters: list[ValuePair]
    """
    Parameters by name, including equal ones.
    """
    tasks: list[TaskPair]
    """
    Tasks in the order of the left run, followed by tasks that only the right run has.
    """
    metrics: list[MetricPair]
    """
    Metrics of both runs, by name, task and instance.
    """


class LiveEvent1(Snapshot):
    """
    Complete current state. It replaces any earlier state.
    """

    kind: Literal['snapshot']


class LiveEvent2(TypedDict):
    """
    A run was created or changed.
    """

    run: RunView
    """
    Current state of the run.
    """
    kind: Literal['run']


LiveEvent: TypeAlias = LiveEvent1 | LiveEvent2 | LiveEvent3 | LiveEvent4 | LiveEvent5 | LiveEvent6
"""
An event.
"""


class RunsComparisonView(TypedDict):
    """
    Several runs for comparison.
    """

    runs: list[ComparedRunView]
    """
    Runs, in the order of the request.
    """
