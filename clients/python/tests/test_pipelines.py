from pathlib import Path

import pytest

from cubeloom import Client, Forbidden, Invalid, NotFound, NotSignedIn, Stale

ONE = """\
apiVersion: cubeloom/v1
kind: Pipeline
name: {name}
parameters: {{word: {{type: string, default: hello}}}}
tasks:
  - {{name: say, template: command, arguments: {{command: [echo, "{{{{ params.word }}}}"]}}}}
"""


def test_a_pipeline_is_stored_in_versions(client: Client) -> None:
    pipeline = client.pipeline("py-versions")
    with pytest.raises(NotFound):
        pipeline.load()
    first = ONE.format(name="py-versions")
    pipeline.put(first, message="first")
    pipeline.put(first + "# more\n", message="second")
    assert pipeline.load()["document"] == first + "# more\n"
    assert pipeline.load(1)["document"] == first
    assert "py-versions" in [each.name for each in client.pipelines()]


def test_who_was_slower_is_told(client: Client) -> None:
    pipeline = client.pipeline("py-stale")
    document = ONE.format(name="py-stale")
    pipeline.put(document)
    etag = pipeline.etag()
    pipeline.put(document + "# mine\n", etag=etag)
    with pytest.raises(Stale) as told:
        pipeline.put(document + "# yours\n", etag=etag)
    assert told.value.status == 412
    assert "difference" in told.value.document


def test_mistakes_are_named(client: Client) -> None:
    with pytest.raises(Invalid) as told:
        client.run_document("apiVersion: cubeloom/v1\nkind: Pipeline\nname: wrong\ntasks: [{name: A_B, template: x}]\n")
    assert told.value.problems
    assert all(problem["message"] for problem in told.value.problems)


def test_refusals_are_exceptions_of_their_own(client: Client, viewer: Client) -> None:
    with pytest.raises(Forbidden):
        viewer.pipeline("py-viewer").put(ONE.format(name="py-viewer"))
    with Client(client.transport.url, token="clt_nobody_nothing") as nobody, pytest.raises(NotSignedIn):
        nobody.me()
    with pytest.raises(NotFound) as missing:
        client.run("01m7za7fzgj10ryyt14jnvkftj")
    assert "01m7za7fzgj10ryyt14jnvkftj" in missing.value.detail
    with pytest.raises(Invalid) as wrong:
        client.pipeline("no-such").run()
    assert wrong.value.problems[0]["path"] == "/pipeline"


def test_a_folder_of_programs_goes_with_it(client: Client, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "said.py").write_text("print('from the folder')\n")
    (tmp_path / ".hidden").write_text("not this\n")
    document = ONE.format(name="py-code").replace('[echo, "{{ params.word }}"]', '[python3, "{{ code }}/lib/said.py"]')
    pipeline = client.pipeline("py-code")
    assert pipeline.upload(tmp_path) == pipeline.upload(tmp_path), "the same content has the same digest"
    pipeline.put(document, folder=tmp_path)
    run = pipeline.run().wait(60)
    assert [line.text for line in run.logs("say") if line.stream == "stdout"] == ["from the folder"]


TEMPLATE = """
apiVersion: cubeloom/v1
kind: TaskTemplate
name: python-client
version: "1.0.0"
group: basics
label: {en: From Python, zh: 来自 Python}
help: {en: Says hello., zh: 问好。}
framework: single
parameters: {type: object, additionalProperties: false, properties: {}}
roles: [{name: worker, replicas: 1, resources: {cpu: 100m, memory: 64Mi}}]
command: [sh, $(CUBELOOM_TEMPLATE_DIR)/hello.sh]
"""


def test_a_template_is_installed_with_its_programs(admin: Client, tmp_path: Path) -> None:
    (tmp_path / "template.yaml").write_text(TEMPLATE)
    with pytest.raises(Invalid, match="hello.sh"):
        admin.install_template(tmp_path)
    (tmp_path / "hello.sh").write_text("echo hello from a template")
    made = admin.install_template(tmp_path)
    assert admin.install_template(tmp_path)["digest"] == made["digest"]
    document = "apiVersion: cubeloom/v1\nkind: Pipeline\nname: p\ntasks:\n  - {name: a, template: python-client}\n"
    run = admin.run_document(document).wait()
    assert "hello from a template" in [line.text for line in run.logs("a")]
