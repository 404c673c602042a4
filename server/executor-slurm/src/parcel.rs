//! What the server sends to a person's account on the cluster, which alone may write there: one line of JSON, and behind it
//! the contents of files, one after the other. `__slurm-write` reads it from standard input.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

use cubeloom_domain::slurm::{SlurmJob, files};
use serde::{Deserialize, Serialize};

use crate::SlurmError;

/// The head of a parcel.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    job: SlurmJob,
    secrets: BTreeMap<String, String>,
    folders: Vec<Folder>,
}

/// A folder that is to be there.
#[derive(Debug, Serialize, Deserialize)]
struct Folder {
    to: PathBuf,
    files: Vec<File>,
}

#[derive(Debug, Serialize, Deserialize)]
struct File {
    path: PathBuf,
    length: u64,
    executable: bool,
}

/// Packs a job with what it needs: folders of this machine, each with the place where the cluster's nodes see it.
///
/// # Errors
/// A folder cannot be read.
pub fn pack(
    job: &SlurmJob,
    secrets: BTreeMap<String, String>,
    folders: &[(PathBuf, PathBuf)],
) -> Result<Vec<u8>, SlurmError> {
    let mut head = Head { job: job.clone(), secrets, folders: Vec::new() };
    let mut contents = Vec::new();
    for (from, to) in folders {
        let mut files = Vec::new();
        walk(from, Path::new(""), &mut files, &mut contents).map_err(SlurmError::file(from))?;
        head.folders.push(Folder { to: to.clone(), files });
    }
    let mut parcel =
        serde_json::to_vec(&head).map_err(|error| SlurmError::form(Path::new("a parcel"), error))?;
    parcel.push(b'\n');
    parcel.extend(contents);
    Ok(parcel)
}

fn walk(top: &Path, below: &Path, files: &mut Vec<File>, contents: &mut Vec<u8>) -> io::Result<()> {
    for entry in fs::read_dir(top.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        // Links are followed as they are where a template or a pipeline runs on the server's machine.
        let found = fs::metadata(entry.path())?;
        if found.is_dir() {
            if entry.file_name() != "__pycache__" {
                walk(top, &path, files, contents)?;
            }
            continue;
        }
        let content = fs::read(entry.path())?;
        files.push(File {
            path,
            length: content.len() as u64,
            executable: found.permissions().mode() & 0o100 != 0,
        });
        contents.extend(content);
    }
    Ok(())
}

/// Unpacks a parcel: everything lies ready for the script to be submitted. The same twice is the same as once; where the
/// script has begun, nothing is changed.
///
/// # Errors
/// It is no parcel, or a file cannot be written.
pub fn unpack(parcel: &[u8]) -> Result<(), SlurmError> {
    let form = |why: &str| SlurmError::form(Path::new("the standard input"), why);
    let end = parcel.iter().position(|byte| *byte == b'\n').ok_or_else(|| form("it has no first line"))?;
    let head: Head = serde_json::from_slice(&parcel[..end]).map_err(|error| form(&error.to_string()))?;
    let mut rest = &parcel[end + 1..];
    for folder in &head.folders {
        let mut given = Vec::with_capacity(folder.files.len());
        for file in &folder.files {
            let length = usize::try_from(file.length).ok().filter(|length| *length <= rest.len());
            let (content, after) = rest.split_at(length.ok_or_else(|| form("it ends too early"))?);
            given.push((file, content));
            rest = after;
        }
        provide(&folder.to, &given)?;
    }
    let folder = Path::new(&head.job.folder);
    // Others on the shared file system have no business in it.
    DirBuilder::new().recursive(true).mode(0o750).create(folder).map_err(SlurmError::file(folder))?;
    if folder.join(files::SUBMITTED).exists() {
        return Ok(());
    }
    let processes = folder.join(files::JOB);
    let text =
        serde_json::to_vec_pretty(&head.job.job).map_err(|error| SlurmError::form(&processes, error))?;
    put(&processes, &text, 0o640)?;
    if !head.secrets.is_empty() {
        let path = folder.join(files::SECRETS);
        let text = serde_json::to_vec(&head.secrets).map_err(|error| SlurmError::form(&path, error))?;
        put(&path, &text, 0o600)?;
    }
    put(&folder.join(files::SCRIPT), head.job.script.as_bytes(), 0o750)
}

/// Makes a folder with these files, unless it is there.
fn provide(to: &Path, given: &[(&File, &[u8])]) -> Result<(), SlurmError> {
    if to.exists() {
        return Ok(());
    }
    let aside = beside(to);
    let _ = fs::remove_dir_all(&aside);
    DirBuilder::new().recursive(true).mode(0o755).create(&aside).map_err(SlurmError::file(&aside))?;
    for (file, content) in given {
        if !file.path.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(SlurmError::form(&file.path, "it leads out of its folder"));
        }
        let path = aside.join(&file.path);
        let above = path.parent().unwrap_or(&aside);
        DirBuilder::new().recursive(true).mode(0o755).create(above).map_err(SlurmError::file(above))?;
        put(&path, content, if file.executable { 0o755 } else { 0o644 })?;
    }
    match fs::rename(&aside, to) {
        // Another job was faster; its copy is as good.
        Err(_) if to.exists() => fs::remove_dir_all(&aside).map_err(SlurmError::file(&aside)),
        renamed => renamed.map_err(SlurmError::file(to)),
    }
}

/// Writes a file in one go: whoever reads it sees all of it.
fn put(path: &Path, content: &[u8], mode: u32) -> Result<(), SlurmError> {
    let aside = beside(path);
    let _ = fs::remove_file(&aside);
    let written = OpenOptions::new().write(true).create_new(true).mode(mode).open(&aside);
    let written =
        written.and_then(|mut file| file.write_all(content)).and_then(|()| fs::rename(&aside, path));
    written.map_err(SlurmError::file(path))
}

/// A place of this process's own beside another.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

/// Removes what only a job that runs may have: its script does so, unless it never began.
///
/// # Errors
/// It cannot be removed.
pub fn clean(folder: &Path) -> Result<(), SlurmError> {
    for name in [files::SECRETS, files::TOKEN] {
        let path = folder.join(name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(SlurmError::file(&path)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::job::SuccessRule;
    use cubeloom_domain::lowered::LocalJob;
    use cubeloom_domain::{AttemptKey, RunId, Timestamp};

    use super::*;

    fn job(folder: &Path) -> SlurmJob {
        let key = AttemptKey { run: RunId::new(Timestamp(0), 1), task: "t".into(), instance: 0, n: 1 };
        SlurmJob {
            key: key.clone(),
            decisions: Vec::new(),
            folder: folder.to_str().unwrap().into(),
            script: "#!/bin/bash\n".into(),
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

    #[test]
    fn a_parcel_arrives_whole_and_twice_is_once() {
        let top = tempfile::tempdir().unwrap();
        let from = top.path().join("template");
        fs::create_dir_all(from.join("deep")).unwrap();
        fs::write(from.join("run.py"), "print()\n\n").unwrap();
        fs::set_permissions(from.join("run.py"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(from.join("deep/data"), [0, 10, 255]).unwrap();
        let (folder, to) = (top.path().join("attempt"), top.path().join("copies/one"));
        let secrets = BTreeMap::from([("key".to_owned(), "swordfish".to_owned())]);
        let parcel = pack(&job(&folder), secrets, &[(from, to.clone())]).unwrap();
        unpack(&parcel).unwrap();
        unpack(&parcel).unwrap();
        assert_eq!(fs::read(to.join("deep/data")).unwrap(), [0, 10, 255]);
        assert_eq!(fs::read_to_string(to.join("run.py")).unwrap(), "print()\n\n");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&to.join("run.py")), mode(&to.join("deep/data"))), (0o755, 0o644));
        assert_eq!(mode(&folder.join("secrets.json")), 0o600);
        assert_eq!(fs::read_to_string(folder.join("job.sh")).unwrap(), "#!/bin/bash\n");
        let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 3, "{left:?}");
        clean(&folder).unwrap();
        clean(&folder).unwrap();
        assert!(!folder.join("secrets.json").exists());
        // A script that has begun keeps what it has, and its secrets stay gone.
        fs::create_dir(folder.join("submitted")).unwrap();
        unpack(&parcel).unwrap();
        assert!(!folder.join("secrets.json").exists());
    }

    #[test]
    fn what_is_no_parcel_or_leads_elsewhere_is_refused() {
        let top = tempfile::tempdir().unwrap();
        let (from, to) = (top.path().join("from"), top.path().join("to"));
        fs::create_dir(&from).unwrap();
        fs::write(from.join("aaaa"), "long").unwrap();
        let parcel = pack(&job(top.path()), BTreeMap::new(), &[(from, to.clone())]).unwrap();
        assert!(unpack(&parcel[..parcel.len() - 1]).unwrap_err().to_string().contains("too early"));
        assert!(unpack(b"{}").unwrap_err().to_string().contains("first line"));
        let text = String::from_utf8(parcel).unwrap().replace("\"aaaa\"", "\"../b\"");
        assert!(unpack(text.as_bytes()).unwrap_err().to_string().contains("leads out"));
        assert!(!to.exists() && !top.path().join("b").exists());
    }
}
