//! `cubeloom run FILE` with a server: uploads the file's folder, stores the document as a version of its pipeline, and
//! starts a run of that version.

use cubeloom_storage::snapshot::{self, Limits, Snapshot};
use cubeloom_web::api::runs::view::RunView;
use cubeloom_web::error::ProblemView;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Remote;
use super::client::Refused;
use super::follow::await_run;
use super::validate::check;
use crate::cli::Run;
use crate::commands::announce;
use crate::exit::{Exit, Invalid};
use crate::planning::{self, Source};
use crate::problems;

/// A stored version.
#[derive(Deserialize)]
struct Stored {
    version: u32,
}

/// An uploaded folder.
#[derive(Deserialize)]
struct Uploaded {
    digest: String,
}

/// A started run.
#[derive(Deserialize)]
struct Started {
    run: RunView,
    #[serde(default)]
    warnings: Vec<ProblemView>,
}

pub async fn run(remote: &Remote, args: &Run) -> anyhow::Result<Exit> {
    let source = Source::read(&args.file)?;
    let parameters = planning::parameters(&args.parameters)?;
    let part = part(remote, args).await?;
    let checked = check(remote, &source).await?;
    let Some(name) = checked.name.filter(|_| problems::none_stops(&checked.problems)) else {
        problems::print(&source.file, &checked.problems, remote.output)?;
        return Ok(Exit::Invalid);
    };
    let code = upload(remote, &source).await?;
    let stored = store(remote, &source, &name, &code).await?;
    let mut body = json!({"pipeline": name, "version": stored.version, "parameters": parameters});
    if let Some(part) = part {
        body["tasks"] = part;
    }
    let path = ["projects", remote.project.as_str(), "runs"];
    let started: Started = match remote.client.post(&path, &body).await {
        Ok(started) => started,
        Err(error) => return refused(remote, &source, error),
    };
    problems::warn(&source.file, &started.warnings);
    announce(&started.run.id, &args.follow, remote.output)?;
    if args.follow.detach {
        return Ok(Exit::Ok);
    }
    await_run(remote, started.run, &args.follow).await
}

/// Problems of the document or the parameters, with their lines; other errors as they are.
fn refused(remote: &Remote, source: &Source, error: anyhow::Error) -> anyhow::Result<Exit> {
    match error.downcast_ref::<Refused>().filter(|refused| !refused.problems.is_empty()) {
        Some(refused) => {
            problems::print(&source.file, &refused.problems, remote.output)?;
            Ok(Exit::Invalid)
        }
        None => Err(error),
    }
}

/// The selected tasks, if not all.
async fn part(remote: &Remote, args: &Run) -> anyhow::Result<Option<Value>> {
    let mut part = Map::new();
    for (key, task) in [("only", &args.only), ("from", &args.from)] {
        if let Some(task) = task {
            part.insert(key.into(), json!(task));
        }
    }
    match &args.of {
        Some(_) if part.is_empty() => {
            return Err(Invalid::error("--of needs a partial run: add --from or --only"));
        }
        Some(run) => {
            part.insert("of".into(), json!(remote.find_run(run).await?.id));
        }
        None => {}
    }
    Ok((!part.is_empty()).then_some(part.into()))
}

/// Uploads the folder of the file, unless the server has it. Returns its digest.
async fn upload(remote: &Remote, source: &Source) -> anyhow::Result<String> {
    let folder = Snapshot::take(&snapshot::folder_of(&source.file)?, Limits::CODE)?;
    let code = ["projects", remote.project.as_str(), "code"];
    let known = remote.client.find::<Value>(&[code[0], code[1], code[2], folder.digest.as_str()]).await?;
    if known.is_some() {
        return Ok(folder.digest);
    }
    let archive = folder.archive()?;
    let uploaded: Uploaded = remote.client.upload(&code, "application/gzip", archive).await?;
    Ok(uploaded.digest)
}

/// Stores the document as the newest version of its pipeline.
async fn store(remote: &Remote, source: &Source, name: &str, code: &str) -> anyhow::Result<Stored> {
    let pipelines = ["projects", remote.project.as_str(), "pipelines"];
    let pipeline = [pipelines[0], pipelines[1], pipelines[2], name];
    let body = json!({"document": source.text, "code": code});
    match remote.client.find::<Value>(&pipeline).await? {
        Some((_, tag)) => remote.client.put(&pipeline, &tag, &body).await,
        None => remote.client.post(&pipelines, &body).await,
    }
}
