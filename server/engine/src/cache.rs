//! Looks up earlier results: the only part of the engine that reads files.
//!
//! The key covers the template's version and files, the arguments, the content of files that arguments name, and
//! that of the inputs that the task declares. It is computed off the engine's loop.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cubeloom_domain::Timestamp;
use cubeloom_domain::job::Job;
use cubeloom_domain::plan::{CachePolicy, RunPlan};
use cubeloom_domain::record::CacheEntry;
use cubeloom_store::{Store, StoreError};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::core::{Answer, LookUp};

/// Where the paths that a document names lie on this machine.
#[derive(Clone, Debug)]
pub struct Roots {
    /// Copies of pipelines' folders, one a digest.
    pub code: PathBuf,
    /// The projects' shared storage, one folder a project.
    pub workspace: PathBuf,
}

/// Answers a look-up. Whatever goes wrong is a miss that says why.
pub async fn answer(store: &Store, roots: &Roots, look_up: LookUp, now: Timestamp) -> Answer {
    let LookUp { run, task, instance, plan, job } = look_up;
    let miss =
        |key, note: String| Answer { run: run.clone(), task, instance, key, hit: None, note: Some(note) };
    let digests = {
        let (plan, job, roots) = (plan.clone(), job.clone(), roots.clone());
        let planned = task;
        tokio::task::spawn_blocking(move || digests(&plan, planned.index(), &job, &roots)).await
    };
    let digests = match digests {
        Ok(Ok(digests)) => digests,
        Ok(Err(error)) => return miss(None, format!("not reused: {error}")),
        Err(error) => return miss(None, format!("not reused: {error}")),
    };
    let (key, parts) = cubeloom_compiler::cache_key(&plan, task, &job, &digests);
    let policy = plan.task(task).cache.clone().unwrap_or_default();
    match find(store, &plan, &job, &key, &parts, &policy, now).await {
        Ok(Found::Hit(entry)) => {
            let note = format!("reused from run {}, task {}", entry.run, entry.task);
            Answer { run, task, instance, key: Some((key, parts)), hit: Some(*entry), note: Some(note) }
        }
        Ok(Found::Miss(note)) => miss(Some((key, parts)), note),
        Err(error) => miss(Some((key, parts)), format!("not reused: {error}")),
    }
}

enum Found {
    Hit(Box<CacheEntry>),
    Miss(String),
}

async fn find(
    store: &Store,
    plan: &RunPlan,
    job: &Job,
    key: &str,
    parts: &Value,
    policy: &CachePolicy,
    now: Timestamp,
) -> Result<Found, StoreError> {
    let young = |entry: &CacheEntry| policy.max_age.is_none_or(|age| now.since(entry.created_at) <= age.0);
    let entry = store.cached(&plan.context.project, &[key.to_owned()]).await?.into_iter().next();
    match entry {
        Some(entry) if young(&entry) => Ok(Found::Hit(Box::new(entry))),
        Some(_) => Ok(Found::Miss("not reused: the earlier result is older than max_age".into())),
        None => {
            let last = store.last_cache_entry(&plan.context.project, &plan.pipeline, &job.key.task).await?;
            Ok(Found::Miss(changed(last.as_ref().map(|entry| &entry.parts), parts)))
        }
    }
}

/// Names the parts of the key that differ from those of the newest earlier result.
fn changed(last: Option<&Value>, parts: &Value) -> String {
    let Some(last) = last else { return "not reused: it has not run before".into() };
    let differs = |(name, value): (&String, &Value)| (last.get(name) != Some(value)).then(|| name.clone());
    let names: Vec<String> = parts.as_object().into_iter().flatten().filter_map(differs).collect();
    if names.is_empty() {
        "not reused: something was removed since it last ran".into()
    } else {
        format!("not reused: changed since it last ran: {}", names.join(", "))
    }
}

/// SHA-256 of every file that counts, by the name that the document gives it.
fn digests(plan: &RunPlan, task: usize, job: &Job, roots: &Roots) -> io::Result<BTreeMap<String, String>> {
    let planned = &plan.tasks[task];
    let mut digests = BTreeMap::new();
    let code = job.code.as_ref().map(|digest| roots.code.join(digest));
    for name in &plan.template_of(planned).path_arguments {
        if let Some(cubeloom_domain::plan::Late::Value(Value::String(path))) = planned.arguments.get(name)
            && let Some(code) = &code
        {
            digests.insert(format!("code:{path}"), of_file(&code.join(path))?);
        }
    }
    let workspace = roots.workspace.join(&job.project);
    let run_dir = workspace.join("runs").join(plan.context.id.as_str());
    for input in planned.cache.iter().flat_map(|policy| &policy.inputs) {
        let path = input
            .replace("$(CUBELOOM_RUN_DIR)", &run_dir.to_string_lossy())
            .replace("$(CUBELOOM_WORKSPACE)", &workspace.to_string_lossy())
            .replace("$(CUBELOOM_CODE)", &code.as_deref().unwrap_or(Path::new("")).to_string_lossy());
        digests.insert(format!("input:{input}"), of_tree(&workspace.join(path))?);
    }
    Ok(digests)
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn of_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path).map_err(|error| named(path, &error))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 128 * 1024];
    loop {
        match file.read(&mut buffer).map_err(|error| named(path, &error))? {
            0 => return Ok(hex(&hash.finalize())),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// Of a file its digest; of a folder that of the names and digests of everything below it.
fn of_tree(path: &Path) -> io::Result<String> {
    let metadata = std::fs::metadata(path).map_err(|error| named(path, &error))?;
    if metadata.is_file() {
        return of_file(path);
    }
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?;
    entries.sort();
    let mut hash = Sha256::new();
    for entry in entries {
        hash.update(entry.file_name().unwrap_or_default().as_encoded_bytes());
        hash.update([0]);
        hash.update(of_tree(&entry)?);
    }
    Ok(hex(&hash.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
