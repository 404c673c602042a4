"""The shapes of requests and answers. Generated from docs/openapi.json by `make openapi`."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict


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


class Health(TypedDict):
    """
    How the server is.
    """

    status: str
    """
    `ok`
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
    folder that it has.
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


class Place(TypedDict):
    """
    Somebody's place.
    """

    role: str
    """
    `viewer`, `editor` or `owner`.
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


class Item(TypedDict):
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

    items: list[Item3]
    """
    The items, in the list's order.
    """
    next_cursor: NotRequired[str | None]
    """
    Ask for the next page with this as `cursor`; absent on the last page.
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
    created_at: str
    """
    Since when there is one.
    """
    revision: int
    """
    Counts its changes, from 1: its ETag.
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


class Item1(TypedDict):
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

    items: list[Item1]
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


ComparisonView = TypedDict(
    'ComparisonView',
    {
        'from': VersionView,
        'to': VersionView,
        'structure': NotRequired[StructureView | None],
        'text': Difference,
        'code_differs': bool,
    },
)
