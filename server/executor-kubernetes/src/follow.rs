//! Streams a pod's logs into a file, with the task's secrets masked, until its containers have ended.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cubeloom_domain::logs::LogMark;
use cubeloom_files::own;
use cubeloom_workers::log_times;
use cubeloom_workers::mask::Masker;
use futures::AsyncReadExt;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::LogParams;
use tokio::sync::{AcquireError, SemaphorePermit};
use tokio::time::sleep;

use crate::board::JobName;
use crate::cluster::Cluster;
use crate::error::pause;
use crate::folders::LOG;
use crate::pods::{PodState, PodView, SETUP};
use crate::stamped::{Place, Stamped};

/// Read size, in bytes.
const PIECE: usize = 64 << 10;
/// How many consecutive "no log" responses end the attempt to read: simulated and lost nodes have none.
const TRIES: u32 = 4;
/// How often to check whether a container has ended after its log stream has.
const LOOK: Duration = Duration::from_millis(200);
/// Maximum backoff while the cluster is unreachable: it may remove the log soon after it is back.
const LONGEST: Duration = Duration::from_secs(2);

/// Follows the log of one pod into its worker's folder.
pub struct Following {
    pub cluster: Arc<Cluster>,
    pub job: JobName,
    pub pod: Arc<PodView>,
    pub folder: PathBuf,
    /// Strings to mask.
    pub masks: Arc<Vec<String>>,
    /// Counts every byte read.
    pub read: Arc<AtomicU64>,
}

impl Following {
    /// Reads until the pod's containers have ended and all their output is read.
    pub async fn run(self) {
        let leave = tokio::select! {
            leave = self.cluster.followers.acquire() => leave,
            leave = self.in_the_end() => leave,
        };
        let Ok(_leave) = leave else { return };
        for container in &self.pod.containers {
            if let Err(error) = self.container(container).await {
                tracing::warn!(pod = self.pod.name, container, %error, "a log cannot be written");
            }
        }
    }

    /// A permit to read the log of an ended pod.
    async fn in_the_end(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        while !self.has_ended(&self.pod.containers[0]) {
            sleep(LOOK).await;
        }
        self.cluster.readers.acquire().await
    }

    fn is_gone(&self) -> bool {
        self.cluster.board.of_pod(&self.job, &self.pod.uid).is_none_or(|seen| seen.gone)
    }

    /// Whether a container has ended: only then is its log complete.
    fn has_ended(&self, container: &str) -> bool {
        let Some(seen) = self.cluster.board.of_pod(&self.job, &self.pod.uid) else { return true };
        seen.gone
            || match seen.view.state {
                PodState::Ended { .. } => true,
                PodState::Running { .. } => container == SETUP,
                PodState::Waiting { .. } => false,
            }
    }

    /// Reads the log of one container, with retries until it is complete. A closed connection says nothing
    /// about the program: the API server may have restarted.
    async fn container(&self, container: &str) -> io::Result<()> {
        let mut refusals = 0;
        let mut failures = 0;
        loop {
            let over = self.has_ended(container);
            let Some(error) = self.once(container, over).await? else { return Ok(()) };
            let pause = match error {
                // Nothing more can be read of a deleted pod.
                _ if self.is_gone() => return Ok(()),
                Broken::Early if self.has_ended(container) => continue,
                Broken::Early => {
                    (refusals, failures) = (0, 0);
                    LOOK
                }
                Broken::Refused(message) => {
                    refusals += 1;
                    tracing::debug!(pod = self.pod.name, message, "a log cannot be read");
                    if refusals >= TRIES {
                        return Ok(());
                    }
                    pause(refusals)
                }
                Broken::Away => {
                    failures += 1;
                    pause(failures).min(LONGEST)
                }
            };
            sleep(pause).await;
        }
    }

    /// Continues where an earlier server or attempt stopped. Returns `None` once the log is complete: the
    /// stream began after the container was `over`.
    async fn once(&self, container: &str, over: bool) -> io::Result<Option<Broken>> {
        // A replacement of a worker appends to the log of its predecessor.
        let state = self.folder.join(format!("{LOG}.{container}.{}", self.pod.uid));
        let Some(mut log) = Written::open(&state, &self.folder.join(LOG), &self.masks)? else {
            return Ok(None);
        };
        let known = log.known.map(|(_, place)| place);
        let params = LogParams {
            container: Some(container.to_owned()),
            follow: true,
            timestamps: true,
            since_time: known.map(|place| place.second()),
            ..LogParams::default()
        };
        let api: Api<Pod> = Api::namespaced(self.cluster.client().await, &self.job.0);
        let stream = match api.log_stream(&self.pod.name, &params).await {
            Ok(stream) => stream,
            Err(kube::Error::Api(status)) if !matches!(status.code, 401 | 429 | 503) => {
                return Ok(Some(Broken::Refused(status.message.clone())));
            }
            Err(_) => return Ok(Some(Broken::Away)),
        };
        futures::pin_mut!(stream);
        let mut stamped = Stamped::after(known);
        let mut piece = vec![0; PIECE];
        loop {
            match stream.read(&mut piece).await {
                Ok(0) => break,
                Ok(read) => {
                    self.read.fetch_add(read as u64, Ordering::Relaxed);
                    let text = stamped.push(&piece[..read]);
                    log.write(&text, stamped.place)?;
                }
                Err(_) => return Ok(Some(Broken::Away)),
            }
        }
        if let Some(message) = stamped.instead() {
            return Ok(Some(Broken::Refused(message)));
        }
        if !over {
            return Ok(Some(Broken::Early));
        }
        log.finish(stamped.place).map(|()| None)
    }
}

/// Why a log was not read to its end.
enum Broken {
    /// It ended before its container did.
    Early,
    /// The cluster has no log, for this reason.
    Refused(String),
    /// The cluster is unreachable.
    Away,
}

/// A worker's log file, with timestamps of its parts.
struct Written {
    file: File,
    marks: File,
    length: u64,
    masker: Masker,
    /// File length at a position of the container's log, as last saved.
    known: Option<(u64, Place)>,
    /// File with that position: one per container, since several may write to one log in turn.
    state: PathBuf,
}

/// Content of the state file once the whole log was read.
const WHOLE: &str = "whole";

impl Written {
    /// Returns `None` if the container's log is complete already.
    fn open(state: &Path, path: &Path, masks: &[String]) -> io::Result<Option<Self>> {
        own::create_dir_all(path.parent().unwrap_or(path))?;
        let file = own::open_with(OpenOptions::new().create(true).append(true), path)?;
        let text = own::read_to_string(state).unwrap_or_default();
        if text == WHOLE {
            return Ok(None);
        }
        let known = text
            .split_once(' ')
            .and_then(|(length, place)| Some((length.parse().ok()?, place.parse().ok()?)));
        let length = file.metadata()?.len();
        let marks = own::open_with(OpenOptions::new().create(true).append(true), log_times::path(path))?;
        Ok(Some(Self { file, marks, length, masker: Masker::new(masks), known, state: state.into() }))
    }

    fn write(&mut self, text: &[u8], place: Option<Place>) -> io::Result<()> {
        let masked = self.masker.push(text);
        self.put(&masked, place)
    }

    fn finish(mut self, place: Option<Place>) -> io::Result<()> {
        let rest = self.masker.finish();
        self.put(&rest, place)?;
        own::write(&self.state, WHOLE)
    }

    fn put(&mut self, bytes: &[u8], place: Option<Place>) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        // Output written after the last saved position is read again.
        if let Some((length, _)) = self.known.take().filter(|(length, _)| *length < self.length) {
            self.file.set_len(length)?;
            self.length = length;
        }
        self.file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        let Some(place) = place else { return Ok(()) };
        self.marks.write_all(&log_times::written(&LogMark { end: self.length, at: place.moment() }))?;
        // A possible beginning of a secret must be read again. If it began in an earlier line, the last saved
        // position stands.
        let Some(within) = place.within.checked_sub(self.masker.held() as u64) else { return Ok(()) };
        own::write(&self.state, format!("{} {}", self.length, Place { within, ..place }))
    }
}
