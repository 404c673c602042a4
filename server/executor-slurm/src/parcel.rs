//! The job bundle that the server sends to a user's account on the cluster, which alone may write there. It
//! is one line of JSON, followed by the contents of files, one after the other. `__slurm-write` reads it from
//! standard input.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use cubeloom_domain::slurm::{SlurmJob, files};
use cubeloom_files::own;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::SlurmError;
use crate::beneath::{Beneath, beside};

/// Maximum length of the first line, in bytes.
const LONGEST_HEAD: u64 = 256 << 20;

/// The head of a bundle.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    /// The administrator's folder, which contains the attempt's.
    top: PathBuf,
    job: SlurmJob,
    secrets: BTreeMap<String, String>,
    folders: Vec<Folder>,
}

/// A folder to create.
#[derive(Debug, Serialize, Deserialize)]
struct Folder {
    /// The administrator's folder, which contains it.
    top: PathBuf,
    to: PathBuf,
    files: Vec<File>,
}

#[derive(Debug, Serialize, Deserialize)]
struct File {
    path: PathBuf,
    length: u64,
    executable: bool,
}

/// A folder of this machine that a job needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needed {
    /// Its path here.
    pub from: PathBuf,
    /// The administrator's folder on the cluster.
    pub top: PathBuf,
    /// Its path in that folder.
    pub to: PathBuf,
}

/// A bundle ready to send: it contains only the paths of the files, however many and large they are.
pub struct Packed {
    head: Vec<u8>,
    files: Vec<(PathBuf, u64)>,
}

/// Packs a job with the folders that it needs. Blocking: it reads folders.
pub fn pack(
    top: &Path,
    job: &SlurmJob,
    secrets: BTreeMap<String, String>,
    folders: &[Needed],
) -> Result<Packed, SlurmError> {
    let mut head = Head { top: top.into(), job: job.clone(), secrets, folders: Vec::new() };
    let mut contents = Vec::new();
    for Needed { from, top, to } in folders {
        let mut files = Vec::new();
        walk(from, Path::new(""), &mut files, &mut contents).map_err(SlurmError::file(from))?;
        head.folders.push(Folder { top: top.clone(), to: to.clone(), files });
    }
    let mut text =
        serde_json::to_vec(&head).map_err(|error| SlurmError::form(Path::new("a parcel"), error))?;
    text.push(b'\n');
    Ok(Packed { head: text, files: contents })
}

fn walk(
    top: &Path,
    below: &Path,
    files: &mut Vec<File>,
    contents: &mut Vec<(PathBuf, u64)>,
) -> io::Result<()> {
    for entry in own::read_dir(top.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        // Follow symlinks, as when a template or a pipeline runs on the server's machine.
        let found = own::metadata(entry.path())?;
        if found.is_dir() {
            if entry.file_name() != "__pycache__" {
                walk(top, &path, files, contents)?;
            }
            continue;
        }
        files.push(File { path, length: found.len(), executable: found.permissions().mode() & 0o100 != 0 });
        contents.push((entry.path(), found.len()));
    }
    Ok(())
}

impl Packed {
    /// Its size, in bytes.
    pub fn len(&self) -> u64 {
        self.head.len() as u64 + self.files.iter().map(|(_, length)| length).sum::<u64>()
    }

    /// Sends it in chunks.
    ///
    /// # Errors
    /// The other side does not accept it, or a file has changed meanwhile.
    #[expect(clippy::disallowed_methods, reason = "the server sends files in their own folders")]
    pub async fn send(&self, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
        to.write_all(&self.head).await?;
        for (path, length) in &self.files {
            let file = tokio::fs::File::open(path).await?;
            if tokio::io::copy(&mut file.take(*length), to).await? != *length {
                let why = format!("{} was truncated", path.display());
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, why));
            }
        }
        to.flush().await
    }
}

/// Unpacks a bundle: everything is ready to submit the script. Idempotent; once the script has begun, nothing
/// is changed.
///
/// # Errors
/// It is not a bundle, or a file cannot be written.
pub fn unpack(parcel: impl Read) -> Result<(), SlurmError> {
    let mut parcel = BufReader::new(parcel);
    let mut line = Vec::new();
    let read = parcel.by_ref().take(LONGEST_HEAD).read_until(b'\n', &mut line);
    read.map_err(SlurmError::file(Path::new("the standard input")))?;
    if line.last() != Some(&b'\n') {
        return Err(form("it has no first line"));
    }
    let head: Head = serde_json::from_slice(&line).map_err(|error| form(&error.to_string()))?;
    for folder in &head.folders {
        provide(folder, &mut parcel)?;
    }
    // No access for other users of the shared file system.
    let folder = Beneath::top(&head.top)?.make(below(&head.top, Path::new(&head.job.folder))?, 0o750)?;
    if folder.has(files::SUBMITTED) {
        return Ok(());
    }
    let text =
        |value| serde_json::to_vec_pretty(value).map_err(|error| SlurmError::form(folder.path(), error));
    if let Some(pulled) = &head.job.pulled {
        // Refuse folders in which another account could replace entries: its image would run as this one.
        Beneath::top(&head.top)?.make(below(&head.top, Path::new(pulled))?, 0o750)?;
    }
    folder.put(files::JOB, &text(&head.job.job)?[..], 0o640)?;
    if !head.secrets.is_empty() {
        let values = serde_json::to_vec(&head.secrets);
        let values = values.map_err(|error| SlurmError::form(folder.path(), error))?;
        folder.put(files::SECRETS, &values[..], 0o600)?;
    }
    folder.put(files::SCRIPT, head.job.script.as_bytes(), 0o750)
}

fn form(why: &str) -> SlurmError {
    SlurmError::form(Path::new("the standard input"), why)
}

fn below<'a>(top: &Path, path: &'a Path) -> Result<&'a Path, SlurmError> {
    path.strip_prefix(top).map_err(|_| SlurmError::form(path, format!("it is not in {}", top.display())))
}

/// Creates a folder with its files, unless it exists and belongs to this account: another account could
/// change its own.
fn provide(folder: &Folder, parcel: &mut impl Read) -> Result<(), SlurmError> {
    let path = below(&folder.top, &folder.to)?;
    let name = path.file_name().ok_or_else(|| SlurmError::form(path, "it has no name"))?.to_string_lossy();
    let above = Beneath::top(&folder.top)?.make(path.parent().unwrap_or(Path::new("")), 0o755)?;
    if above.has(&name) {
        above.enter(Path::new(&*name))?;
        let all = folder.files.iter().map(|file| file.length).sum();
        io::copy(&mut parcel.take(all), &mut io::sink()).map_err(SlurmError::file(path))?;
        return Ok(());
    }
    let aside = beside(&name);
    let _ = own::remove_dir_all(above.path().join(&aside));
    let fresh = above.make(Path::new(&aside), 0o755)?;
    for file in &folder.files {
        if !file.path.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(SlurmError::form(&file.path, "it leads out of its folder"));
        }
        let into = fresh.make(file.path.parent().unwrap_or(Path::new("")), 0o755)?;
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        let mut content = parcel.take(file.length);
        into.put(&name, &mut content, if file.executable { 0o755 } else { 0o644 })?;
        if content.limit() > 0 {
            return Err(form("it ends too early"));
        }
    }
    if !above.rename(&aside, &name)? {
        // Another job was faster; its copy is equal.
        above.enter(Path::new(&*name))?;
        let left = above.path().join(&aside);
        own::remove_dir_all(&left).map_err(SlurmError::file(&left))?;
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use cubeloom_domain::job::SuccessRule;
    use cubeloom_domain::lowered::LocalJob;
    use cubeloom_domain::{AttemptKey, RunId, Timestamp};
    use std::fs;

    use super::*;

    pub(crate) fn job(folder: &Path) -> SlurmJob {
        let key = AttemptKey { run: RunId::new(Timestamp(0), 1), task: "t".into(), instance: 0, n: 1 };
        SlurmJob {
            key: key.clone(),
            decisions: Vec::new(),
            folder: folder.to_str().unwrap().into(),
            script: "#!/bin/bash\n".into(),
            pulled: None,
            job: LocalJob {
                key,
                project: "p".into(),
                python: None,
                folders: Vec::new(),
                workers: Vec::new(),
                success: SuccessRule::AllWorkers,
                gang: 0,
                outputs: Vec::new(),
            },
        }
    }

    async fn sent(packed: &Packed) -> Vec<u8> {
        let mut parcel = Vec::new();
        packed.send(&mut parcel).await.unwrap();
        assert_eq!(parcel.len() as u64, packed.len());
        parcel
    }

    #[tokio::test]
    async fn a_parcel_arrives_whole_and_twice_is_once() {
        let top = tempfile::tempdir().unwrap();
        let from = top.path().join("template");
        fs::create_dir_all(from.join("deep")).unwrap();
        fs::write(from.join("run.py"), "print()\n\n").unwrap();
        fs::set_permissions(from.join("run.py"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(from.join("deep/data"), [0, 10, 255]).unwrap();
        let (folder, to) = (top.path().join("attempt"), top.path().join("copies/one"));
        let secrets = BTreeMap::from([("key".to_owned(), "swordfish".to_owned())]);
        let needed = Needed { from, top: top.path().into(), to: to.clone() };
        let parcel = sent(&pack(top.path(), &job(&folder), secrets, &[needed]).unwrap()).await;
        unpack(&parcel[..]).unwrap();
        unpack(&parcel[..]).unwrap();
        assert_eq!(fs::read(to.join("deep/data")).unwrap(), [0, 10, 255]);
        assert_eq!(fs::read_to_string(to.join("run.py")).unwrap(), "print()\n\n");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&to.join("run.py")), mode(&to.join("deep/data"))), (0o755, 0o644));
        assert_eq!(mode(&folder.join("secrets.json")), 0o600);
        assert_eq!(fs::read_to_string(folder.join("job.sh")).unwrap(), "#!/bin/bash\n");
        let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 3, "{left:?}");
        fs::remove_file(folder.join("secrets.json")).unwrap();
        // A script that has begun keeps its files, and its secrets stay removed.
        fs::create_dir(folder.join("submitted")).unwrap();
        unpack(&parcel[..]).unwrap();
        assert!(!folder.join("secrets.json").exists());
    }

    /// Images are not stored where another account could put its own.
    #[tokio::test]
    async fn images_are_kept_where_nobody_else_can_put_one() {
        let top = tempfile::tempdir().unwrap();
        let images = top.path().join(".images");
        let pulled = Some(images.join("ann").to_str().unwrap().to_owned());
        let job = SlurmJob { pulled, ..job(&top.path().join("attempt")) };
        let parcel = sent(&pack(top.path(), &job, BTreeMap::new(), &[]).unwrap()).await;
        unpack(&parcel[..]).unwrap();
        assert!(images.join("ann").is_dir());
        fs::remove_file(top.path().join("attempt/job.sh")).unwrap();
        fs::set_permissions(&images, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(unpack(&parcel[..]).unwrap_err().to_string().contains("sticky"));
        assert!(!top.path().join("attempt/job.sh").exists(), "there is nothing to submit");
    }

    #[tokio::test]
    async fn what_is_no_parcel_or_leads_elsewhere_is_refused() {
        let top = tempfile::tempdir().unwrap();
        let (from, to) = (top.path().join("from"), top.path().join("to"));
        fs::create_dir(&from).unwrap();
        fs::write(from.join("aaaa"), "long").unwrap();
        let needed = Needed { from, top: top.path().into(), to: to.clone() };
        let folder = top.path().join("attempt");
        let parcel = sent(&pack(top.path(), &job(&folder), BTreeMap::new(), &[needed]).unwrap()).await;
        assert!(unpack(&parcel[..parcel.len() - 1]).unwrap_err().to_string().contains("too early"));
        assert!(unpack(&b"{}"[..]).unwrap_err().to_string().contains("first line"));
        let text = String::from_utf8(parcel).unwrap().replace("\"aaaa\"", "\"../b\"");
        assert!(unpack(text.as_bytes()).unwrap_err().to_string().contains("leads out"));
        assert!(!to.exists() && !top.path().join("b").exists());
    }
}
