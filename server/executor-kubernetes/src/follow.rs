//! Follows a pod's logs into a file, without the secrets of its task, until its containers have ended.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cubeloom_domain::Timestamp;
use cubeloom_domain::logs::LogMark;
use cubeloom_workers::log_times;
use cubeloom_workers::mask::Masker;
use futures::AsyncReadExt;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::LogParams;

use crate::cluster::Cluster;
use crate::error::pause;
use crate::folders::LOG;
use crate::pods::PodView;
use crate::stamped::Stamped;

/// What is read at once, in bytes.
const PIECE: usize = 64 << 10;
/// How often in a row a log that cannot be read is asked for: simulated nodes have none, lost ones neither.
const TRIES: u32 = 4;

/// Follows the log of one pod into the folder of its worker.
pub async fn follow(
    cluster: Arc<Cluster>,
    namespace: String,
    pod: PodView,
    folder: PathBuf,
    masks: Arc<Vec<String>>,
) {
    let Ok(_leave) = cluster.followers.acquire().await else { return };
    let api: Api<Pod> = Api::namespaced(cluster.client().await, &namespace);
    for container in &pod.containers {
        let mut tries = 0;
        while tries < TRIES {
            match one(&api, &pod, container, &folder, &masks).await {
                Ok(()) => break,
                Err(error) => {
                    tries += 1;
                    tracing::debug!(pod = pod.name, %error, "a log cannot be read");
                    tokio::time::sleep(pause(tries)).await;
                }
            }
        }
    }
}

/// Reads on where an earlier server, or an earlier try, stopped.
async fn one(
    api: &Api<Pod>,
    pod: &PodView,
    container: &str,
    folder: &Path,
    masks: &[String],
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    // A worker that was replaced writes on where the one before it stopped.
    let state = folder.join(format!("{LOG}.{container}.{}", pod.uid));
    let Some(mut log) = Written::open(&state, &folder.join(LOG), masks)? else {
        return Ok(());
    };
    let params = LogParams {
        container: Some(container.to_owned()),
        follow: true,
        timestamps: true,
        since_time: log.known.and_then(|known| jiff::Timestamp::from_microsecond(known.0).ok()),
        ..LogParams::default()
    };
    let stream = api.log_stream(&pod.name, &params).await?;
    futures::pin_mut!(stream);
    let mut stamped = Stamped::after(log.known);
    let mut piece = vec![0; PIECE];
    loop {
        match stream.read(&mut piece).await? {
            0 => break,
            read => {
                let text = stamped.push(&piece[..read]);
                log.write(&text, stamped.at)?;
            }
        }
    }
    Ok(log.finish(stamped.at)?)
}

/// A worker's log file, with the marks that say when its parts came.
struct Written {
    file: File,
    marks: File,
    length: u64,
    masker: Masker,
    /// Up to when the container's lines are in the file already.
    known: Option<Timestamp>,
    /// Keeps that: a file of its own for each container, since several may write into one log, one after the other.
    state: PathBuf,
}

/// Stands in a container's state when all of its log was read.
const WHOLE: &str = "whole";

impl Written {
    /// `None` when all of the container's log is there already.
    fn open(state: &Path, path: &Path, masks: &[String]) -> io::Result<Option<Self>> {
        std::fs::create_dir_all(path.parent().unwrap_or(path))?;
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        let text = std::fs::read_to_string(state).unwrap_or_default();
        if text == WHOLE {
            return Ok(None);
        }
        let known = text
            .split_once(' ')
            .and_then(|(length, at)| Some((length.parse::<u64>().ok()?, Timestamp(at.parse().ok()?))));
        if let Some((length, _)) = known {
            // What was written after the last note of it will be read again.
            file.set_len(length.min(file.metadata()?.len()))?;
        }
        file.flush()?;
        let length = file.metadata()?.len();
        let marks = OpenOptions::new().create(true).append(true).open(log_times::path(path))?;
        let known = known.map(|(_, at)| at);
        Ok(Some(Self { file, marks, length, masker: Masker::new(masks), known, state: state.into() }))
    }

    fn write(&mut self, text: &[u8], at: Option<Timestamp>) -> io::Result<()> {
        let masked = self.masker.push(text);
        self.put(&masked, at)
    }

    fn finish(mut self, at: Option<Timestamp>) -> io::Result<()> {
        let rest = self.masker.finish();
        self.put(&rest, at)?;
        std::fs::write(&self.state, WHOLE)
    }

    fn put(&mut self, bytes: &[u8], at: Option<Timestamp>) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        let Some(at) = at else { return Ok(()) };
        self.marks.write_all(&log_times::written(&LogMark { end: self.length, at }))?;
        std::fs::write(&self.state, format!("{} {}", self.length, at.0))
    }
}
