//! Follows a pod's logs into a file, without the secrets of its task, until its containers have ended.

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

/// What is read at once, in bytes.
const PIECE: usize = 64 << 10;
/// How often in a row the cluster may say that there is no log: simulated nodes have none, lost ones neither.
const TRIES: u32 = 4;
/// How often it is looked whether a container has ended whose log has.
const LOOK: Duration = Duration::from_millis(200);
/// The longest pause while the cluster is away: it may take a log with it soon after it is back.
const LONGEST: Duration = Duration::from_secs(2);

/// The log of one pod, on its way into the folder of its worker.
pub struct Following {
    /// Cluster.
    pub cluster: Arc<Cluster>,
    /// The job that the pod is of.
    pub job: JobName,
    /// The pod.
    pub pod: Arc<PodView>,
    /// The folder of its worker.
    pub folder: PathBuf,
    /// What must not be seen of it.
    pub masks: Arc<Vec<String>>,
    /// Grows with every byte that is read.
    pub read: Arc<AtomicU64>,
}

impl Following {
    /// Reads until the pod's containers have ended, and all that they wrote is read.
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

    /// Leave to read the log of a pod that has ended.
    async fn in_the_end(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        while !self.has_ended(&self.pod.containers[0]) {
            sleep(LOOK).await;
        }
        self.cluster.readers.acquire().await
    }

    /// Whether the pod is not there any more.
    fn is_gone(&self) -> bool {
        self.cluster.board.of_pod(&self.job, &self.pod.uid).is_none_or(|seen| seen.gone)
    }

    /// Whether a container has ended: only then is its log whole.
    fn has_ended(&self, container: &str) -> bool {
        let Some(seen) = self.cluster.board.of_pod(&self.job, &self.pod.uid) else { return true };
        seen.gone
            || match seen.view.state {
                PodState::Ended { .. } => true,
                PodState::Running { .. } => container == SETUP,
                PodState::Waiting { .. } => false,
            }
    }

    /// Reads the log of one container, again and again until all of it is there: a connection that ends says nothing of
    /// the program, the API server may have gone away.
    async fn container(&self, container: &str) -> io::Result<()> {
        let mut refusals = 0;
        let mut failures = 0;
        loop {
            let over = self.has_ended(container);
            let Some(error) = self.once(container, over).await? else { return Ok(()) };
            let pause = match error {
                // Nothing more can be read of a pod that is not there.
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

    /// Reads on where an earlier server, or an earlier try, stopped. `None` once all is there: what ends after the
    /// container was `over` is.
    async fn once(&self, container: &str, over: bool) -> io::Result<Option<Broken>> {
        // A worker that was replaced writes on where the one before it stopped.
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
    /// It ended before its container had.
    Early,
    /// The cluster says why it has none.
    Refused(String),
    /// The cluster is away.
    Away,
}

/// A worker's log file, with the marks that say when its parts came.
struct Written {
    file: File,
    marks: File,
    length: u64,
    masker: Masker,
    /// How long the file was when the container's log was read up to a place.
    known: Option<(u64, Place)>,
    /// Keeps that: a file of its own for each container, since several may write into one log, one after the other.
    state: PathBuf,
}

/// Stands in a container's state when all of its log was read.
const WHOLE: &str = "whole";

impl Written {
    /// `None` when all of the container's log is there already.
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
        // What was written after the last note of it is read again.
        if let Some((length, _)) = self.known.take().filter(|(length, _)| *length < self.length) {
            self.file.set_len(length)?;
            self.length = length;
        }
        self.file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        let Some(place) = place else { return Ok(()) };
        self.marks.write_all(&log_times::written(&LogMark { end: self.length, at: place.moment() }))?;
        // What may be the beginning of a secret is to be read again; if it began in an earlier line, the last note stands.
        let Some(within) = place.within.checked_sub(self.masker.held() as u64) else { return Ok(()) };
        own::write(&self.state, format!("{} {}", self.length, Place { within, ..place }))
    }
}
