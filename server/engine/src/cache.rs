//! Looks up earlier results. This is the only part of the engine that reads files.
//!
//! The key covers the template's version and files, the arguments, the content of files that arguments name,
//! and that of the inputs that the task declares. It is computed off the engine's loop.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use cubeloom_compiler::Digests;
use cubeloom_domain::Timestamp;
use cubeloom_domain::belongings::VolumePlace;
use cubeloom_domain::job::Job;
use cubeloom_domain::plan::{CachePolicy, Late, RunPlan};
use cubeloom_domain::record::CacheEntry;
use cubeloom_files::{Dir, Links};
use cubeloom_store::{Store, StoreError};
use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::core::{Answer, LookUp};

/// Maximum depth of nested folders in an input.
const MAX_DEPTH: usize = 128;

/// Where the paths of a document are on this machine.
#[derive(Clone, Debug)]
pub struct Roots {
    /// Copies of pipelines' folders, one per digest.
    pub code: PathBuf,
    /// The projects' shared storage, one folder per project.
    pub workspace: PathBuf,
}

/// Answers a look-up. Any error is a miss with a note that says why.
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

/// The parts of the key that consist of files.
const FILES: [&str; 2] = ["code", "inputs"];
/// How many of the changed files are named.
const NAMED: usize = 3;

/// A part of the key with its changed files: `inputs (data/a.csv)`.
fn with_files(part: &str, last: &Value, now: &Value) -> String {
    let files = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let (last, now) = (files(last), files(now));
    let all: BTreeSet<&String> = last.keys().chain(now.keys()).collect();
    let changed: Vec<&str> =
        all.into_iter().filter(|file| last.get(*file) != now.get(*file)).map(String::as_str).collect();
    let more = if changed.len() > NAMED { ", ..." } else { "" };
    let named = changed.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    format!("{part} ({named}{more})")
}

/// Names the parts of the key that differ from those of the newest earlier result.
fn changed(last: Option<&Value>, parts: &Value) -> String {
    let Some(last) = last else { return "not reused: it has not run before".into() };
    let differs = |(name, value): (&String, &Value)| (last.get(name) != Some(value)).then(|| name.clone());
    let names: Vec<String> = parts
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(differs)
        .map(|name| {
            let of_files = FILES.contains(&name.as_str());
            if of_files { with_files(&name, &last[&name], &parts[&name]) } else { name }
        })
        .collect();
    if names.is_empty() {
        "not reused: something was removed since it last ran".into()
    } else {
        format!("not reused: changed since it last ran: {}", names.join(", "))
    }
}

/// SHA-256 of every relevant file, by its name in the document.
fn digests(plan: &RunPlan, task: usize, job: &Job, roots: &Roots) -> io::Result<Digests> {
    let planned = &plan.tasks[task];
    let mut digests = Digests::default();
    let code = job.code.as_ref().map(|digest| roots.code.join(digest));
    let workspace = roots.workspace.join(&job.project);
    let volumes = job.volumes.iter().filter_map(|volume| match &volume.place {
        Some(VolumePlace::Folder { path }) => Some(PathBuf::from(path)),
        _ => None,
    });
    let reach: Vec<PathBuf> = [workspace.clone()].into_iter().chain(code.clone()).chain(volumes).collect();
    for name in &plan.template_of(planned).path_arguments {
        if let Some(Late::Value(Value::String(path))) = planned.arguments.get(name)
            && let Some(code) = &code
        {
            digests.code.insert(path.clone(), of_path(&reach, &code.join(path))?);
        }
    }
    let run_dir = workspace.join("runs").join(plan.context.id.as_str());
    for input in planned.cache.iter().flat_map(|policy| &policy.inputs) {
        let path = input
            .replace("$(CUBELOOM_RUN_DIR)", &run_dir.to_string_lossy())
            .replace("$(CUBELOOM_WORKSPACE)", &workspace.to_string_lossy())
            .replace("$(CUBELOOM_CODE)", &code.as_deref().unwrap_or(Path::new("")).to_string_lossy());
        digests.inputs.insert(shown(input), of_path(&reach, &workspace.join(path))?);
    }
    Ok(digests)
}

/// An input as documents name it, with its folder as an expression.
fn shown(input: &str) -> String {
    let folders = [("RUN_DIR", "run.dir"), ("WORKSPACE", "workspace"), ("CODE", "code")];
    folders.into_iter().fold(input.to_owned(), |text, (variable, name)| {
        text.replace(&format!("$(CUBELOOM_{variable})"), &format!("{{{{ {name} }}}}"))
    })
}

/// The digest of a path inside one of these folders. Documents name the path, and tasks may have put anything
/// there. The server can read everything, so it must not follow a path out of these folders.
fn of_path(reach: &[PathBuf], path: &Path) -> io::Result<String> {
    let inside = reach.iter().find_map(|root| Some((root, path.strip_prefix(root).ok()?)));
    let Some((root, inside)) = inside else {
        let why = "it is not in the project's storage, a volume of the task, or the pipeline's folder";
        return Err(named(path, &io::Error::new(io::ErrorKind::InvalidInput, why)));
    };
    let dir = Dir::open(root).map_err(|errno| named(root, &errno.into()))?;
    of_tree(&dir, inside, &mut Vec::new()).map_err(|(below, error)| named(&root.join(below), &error))
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// A file's digest. A folder's is that of the names and digests of everything below it. Links are followed as
/// long as they stay inside; `above` are the enclosing folders.
fn of_tree(dir: &Dir, path: &Path, above: &mut Vec<(u64, u64)>) -> Result<String, (PathBuf, io::Error)> {
    let failed = |error: io::Error| (path.to_owned(), error);
    let refused = |why: &str| failed(io::Error::new(io::ErrorKind::InvalidInput, why));
    // Without NONBLOCK, opening a pipe would block until a writer opens it.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let found = dir.at(path, flags, Links::Inside).map_err(|errno| match errno {
        Errno::XDEV => refused("it is, or is behind, a link that leads out of the folder"),
        errno => failed(errno.into()),
    })?;
    let stat = rustix::fs::fstat(&found).map_err(|errno| failed(errno.into()))?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return of_file(found.into()).map_err(failed),
        FileType::Directory => {}
        _ => return Err(refused("it is neither a file nor a folder")),
    }
    let own = (stat.st_dev, stat.st_ino);
    if above.len() == MAX_DEPTH || above.contains(&own) {
        return Err(refused("its folders are nested too deeply, or contain themselves"));
    }
    let names = rustix::fs::Dir::read_from(&found).and_then(|entries| {
        entries.map(|entry| Ok(entry?.file_name().to_owned())).collect::<Result<Vec<_>, _>>()
    });
    let mut names = names.map_err(|errno| failed(errno.into()))?;
    names.retain(|name| ![&b"."[..], b".."].contains(&name.to_bytes()));
    names.sort();
    above.push(own);
    let mut hash = Sha256::new();
    for name in names {
        hash.update(name.to_bytes());
        hash.update([0]);
        hash.update(of_tree(dir, &path.join(OsStr::from_bytes(name.to_bytes())), above)?);
    }
    above.pop();
    Ok(hex(&hash.finalize()))
}

fn of_file(mut file: File) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 128 * 1024];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hash.finalize())),
            read => hash.update(&buffer[..read]),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_what_the_project_may_read_has_a_digest() {
        let all = tempfile::tempdir().unwrap();
        let (alice, keys) = (all.path().join("alice"), all.path().join("keys"));
        fs::create_dir_all(alice.join("sets/deep")).unwrap();
        fs::create_dir(&keys).unwrap();
        fs::write(keys.join("sealing"), "secret").unwrap();
        fs::write(alice.join("sets/deep/rows"), "1,2").unwrap();
        symlink("sets", alice.join("current")).unwrap();
        for (name, to) in [("out", "../keys"), ("root", "/"), ("zero", "/dev/zero")] {
            symlink(to, alice.join(name)).unwrap();
        }
        rustix::fs::mkfifoat(rustix::fs::CWD, alice.join("pipe"), rustix::fs::Mode::RUSR).unwrap();
        let reach = [alice.clone()];
        let of = |path: &str| of_path(&reach, &alice.join(path)).map_err(|error| error.to_string());
        assert_eq!(of("sets"), of("current"), "links that stay inside are followed");
        for (path, why) in [
            ("../keys/sealing", "leads out"),
            ("sets/../../keys", "leads out"),
            ("out/sealing", "leads out"),
            ("root", "leads out"),
            ("zero", "leads out"),
            ("pipe", "neither a file nor a folder"),
            ("/dev/zero", "is not in the project's storage"),
            ("/etc/passwd", "is not in the project's storage"),
        ] {
            assert!(of(path).unwrap_err().contains(why), "{path}: {:?}", of(path));
        }
        let before = of("sets");
        fs::write(alice.join("sets/deep/rows"), "1,3").unwrap();
        assert_ne!(of("sets"), before);
        symlink("..", alice.join("sets/deep/up")).unwrap();
        assert!(of("sets").unwrap_err().contains("contain themselves"));
    }
}
