//! Finds a Python interpreter that the workers' uid can run. For instance, root finds one below its home
//! folder first, but no other user can read it.

use std::io;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cubeloom_domain::failpoint::hit;
use cubeloom_files::own;
use sha2::{Digest, Sha256};

use crate::folders::{OPEN, aside, make_all};

/// An interpreter that was probed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Interpreter {
    pub(crate) path: PathBuf,
    /// Its self-reported version, e.g. `cpython 3.11.2`.
    pub(crate) version: String,
}

/// Prints the identity of an interpreter.
const QUESTION: &str = "import sys; print(sys.implementation.name, '.'.join(map(str, sys.version_info[:3])))";

/// Probes each candidate path of `name` as `user`. Blocking.
///
/// # Errors
/// A sentence that names the paths.
pub(crate) fn probe(name: &str, search: &str, user: Option<u32>) -> Result<Interpreter, String> {
    let candidates: Vec<PathBuf> = if name.contains('/') {
        vec![name.into()]
    } else {
        search
            .split(':')
            .filter(|folder| !folder.is_empty())
            .map(|folder| Path::new(folder).join(name))
            .collect()
    };
    candidates.iter().find_map(|path| ask(path, user)).ok_or_else(|| {
        let who = user.map_or("this user".into(), |user| format!("uid {user}, as which workers run,"));
        format!("no Python interpreter `{name}` that {who} can run was found in {search}; install python3")
    })
}

fn ask(path: &Path, user: Option<u32>) -> Option<Interpreter> {
    if !path.exists() {
        return None;
    }
    let mut command = Command::new(path);
    command.args(["-I", "-c", QUESTION]).env_clear().current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    let answer = command.output().ok().filter(|answer| answer.status.success())?;
    let version = String::from_utf8(answer.stdout).ok()?.trim().to_owned();
    Some(Interpreter { path: path.into(), version })
}

impl Interpreter {
    /// A folder in which `python3` and `python` are this interpreter.
    pub(crate) fn link(&self, data: &Path) -> io::Result<PathBuf> {
        let hash = Sha256::digest(self.path.as_os_str().as_encoded_bytes());
        let name: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let folder = data.join("tools/python").join(name);
        if folder.join("python").exists() {
            return Ok(folder);
        }
        make_all(&folder, OPEN)?;
        for name in ["python3", "python"] {
            let fresh = aside(&folder.join(name));
            let _ = own::remove_file(&fresh);
            symlink(&self.path, &fresh)?;
            hit("local.python.before");
            own::rename(&fresh, folder.join(name))?;
            hit("local.python.after");
        }
        Ok(folder)
    }
}
