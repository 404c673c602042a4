//! The ledger: what the workers themselves report. The engine never writes it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use cubeloom_domain::{AttemptKey, RunId};

pub struct Ledger {
    path: PathBuf,
}

#[derive(Clone, Debug)]
pub struct Line {
    /// Whether the worker reports its end, else its start.
    pub done: bool,
    pub key: AttemptKey,
    pub worker: String,
    /// The shim that started the worker.
    pub shim: i32,
}

impl Ledger {
    /// Creates an empty ledger that every user may append to.
    pub fn create(path: PathBuf) -> Self {
        let file = File::create(&path).expect("the ledger");
        file.set_permissions(fs::Permissions::from_mode(0o666)).expect("the ledger's mode");
        Self { path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The complete lines from byte offset `from` on, and the offset of the next line.
    pub fn lines(&self, from: u64) -> (Vec<Line>, u64) {
        let mut text = String::new();
        let mut file = File::open(&self.path).expect("the ledger");
        file.seek(SeekFrom::Start(from)).expect("the ledger");
        file.read_to_string(&mut text).expect("the ledger");
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let read = |line| parse(line).unwrap_or_else(|| panic!("no worker writes into the ledger: `{line}`"));
        (text[..whole].lines().map(read).collect(), from + whole as u64)
    }

    /// The ledger's executions of a run.
    pub fn of_run(&self, run: &RunId) -> Told {
        let mut told = Told::default();
        for line in self.lines(0).0.into_iter().filter(|line| line.key.run == *run) {
            let worker = (line.key.clone(), line.worker);
            if line.done {
                *told.done.entry(worker).or_default() += 1;
            } else {
                *told.begun.entry(worker).or_default() += 1;
            }
        }
        told
    }
}

pub type Worker = (AttemptKey, String);

/// How often each worker of a run started, and how often it finished.
#[derive(Default)]
pub struct Told {
    pub begun: BTreeMap<Worker, u32>,
    pub done: BTreeMap<Worker, u32>,
}

impl Told {
    pub fn executions(&self) -> u64 {
        self.begun.values().map(|count| u64::from(*count)).sum()
    }

    /// The workers of one attempt that started.
    pub fn workers(&self, key: &AttemptKey) -> BTreeSet<&str> {
        self.begun.keys().filter(|(of, _)| of == key).map(|(_, worker)| worker.as_str()).collect()
    }
}

fn parse(line: &str) -> Option<Line> {
    let mut words = line.split(' ');
    let done = match words.next()? {
        "start" => false,
        "done" => true,
        _ => return None,
    };
    let (key, worker) = (words.next()?.parse().ok()?, words.next()?.to_owned());
    let _pid: i32 = words.next()?.parse().ok()?;
    let shim = words.next()?.parse().ok()?;
    words.next().is_none().then_some(Line { done, key, worker, shim })
}
