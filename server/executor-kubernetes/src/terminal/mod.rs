//! Terminals on a cluster: a pod like the worker's runs a shell instead of the program, and the server
//! attaches to it.
//!
//! A shell with a terminal does not notice that no client is attached. So its pod belongs to a Job with a
//! deadline of one minute, which the server keeps extending. When the server is gone, the cluster itself ends
//! and removes the Job.

mod objects;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::executor::{BoxFuture, Executor};
use cubeloom_domain::kubernetes::{labels, pull_secret};
use cubeloom_domain::lowered::{Bindings, Lowered};
use cubeloom_domain::outcome::{Failure, FailureKind, WorkerName};
use cubeloom_domain::terminal::{Terminal, TerminalOrder, TerminalSize, Terminals};
use cubeloom_workers::ends::Finish;
use cubeloom_workers::screen::Screen;
use futures::SinkExt;
use futures::channel::mpsc::Sender;
use k8s_openapi::api::batch::v1::Job as BatchJob;
use k8s_openapi::api::core::v1::{Pod, Secret};
use kube::api::{
    Api, AttachParams, AttachedProcess, DeleteParams, ListParams, Patch, PatchParams, TerminalSize as Size,
};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, SimplexStream, WriteHalf};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};
use tokio_util::task::AbortOnDropHandle;

use crate::attempt::masks;
use crate::cluster::Cluster;
use crate::error::Refused;
use crate::executor::KubernetesExecutor;
use crate::objects::Packed;
use crate::pods::{PodState, state_of};
use crate::submit::{Parcel, Submitted, Submitting};
use objects::Objects;

/// How long a pod may take to start. Requests to the server take at most a minute.
const PATIENCE: Duration = Duration::from_secs(50);
/// Poll interval until the pod runs, and until it is gone.
const LOOK: Duration = Duration::from_millis(300);
/// How long a pod lives without a renewal by the server.
const HELD: Duration = Duration::from_secs(60);
/// Renewal interval.
const HOLD: Duration = Duration::from_secs(15);
/// How long to wait for its end.
const GONE: Duration = Duration::from_secs(20);
/// Read size, in bytes.
const PIECE: usize = 16 << 10;

impl Terminals for KubernetesExecutor {
    fn open(&self, order: TerminalOrder) -> BoxFuture<'_, Result<Arc<dyn Terminal>, Failure>> {
        Box::pin(async move {
            let opened = self.open_terminal(order).await.map_err(could_not)?;
            Ok(Arc::new(opened) as Arc<dyn Terminal>)
        })
    }
}

fn could_not(message: String) -> Failure {
    Failure::new(FailureKind::CouldNotStart, message)
}

impl KubernetesExecutor {
    async fn open_terminal(&self, order: TerminalOrder) -> Result<PodTerminal, String> {
        let began = Instant::now();
        let until = began + PATIENCE;
        let (worker, job) = objects::with_shell(&order).ok_or("the attempt has no such worker")?;
        let mut bindings = self.bind(&job).map_err(|failure| failure.message)?;
        if let Bindings::Kubernetes(bound) = &mut bindings {
            bound.facts = objects::alone(std::mem::take(&mut bound.facts));
        }
        let lowered = match (order.lower)(&job, &bindings).map_err(|failure| failure.message)? {
            Lowered::Kubernetes(lowered) => lowered,
            Lowered::Local(_) | Lowered::Slurm(_) | Lowered::None => {
                return Err("it was not compiled for Kubernetes".into());
            }
        };
        let Objects { name, namespace, all } =
            objects::of(lowered, &order, &worker).ok_or("the attempt has no such worker")?;
        let given = self.given(&job, true).await?;
        let screen = Screen::new(&masks(&given.secrets));
        let place = Place { cluster: Arc::clone(&self.cluster), namespace, name };
        let parcel = Parcel { objects: all.iter().map(Packed::of).collect(), given };
        let opened = async {
            place.submit(&job, &parcel, until).await?;
            let held = AbortOnDropHandle::new(tokio::spawn(place.clone().hold(began)));
            let pod = place.running(&order.id, &worker, until).await?;
            Ok((place.attach(&pod, order.size).await?, held))
        };
        match opened.await {
            Ok((streams, held)) => Ok(PodTerminal { screen, streams, place, _held: held }),
            Err(message) => {
                // In the background: this may take longer than the caller waits for the reason.
                tokio::spawn(async move { place.remove().await });
                Err(message)
            }
        }
    }
}

/// Location of a terminal's objects.
#[derive(Clone)]
struct Place {
    cluster: Arc<Cluster>,
    namespace: String,
    name: String,
}

impl Place {
    async fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.cluster.client().await, &self.namespace)
    }

    async fn submit(
        &self,
        job: &cubeloom_domain::job::Job,
        parcel: &Parcel,
        until: Instant,
    ) -> Result<(), String> {
        let last = std::sync::Mutex::new(None);
        let hold = || last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let submitting = Submitting {
            cluster: &self.cluster,
            namespace: &self.namespace,
            job,
            name: &self.name,
            parcel,
            say: &|note| *hold() = Some(note),
            is_stopped: &|| Instant::now() >= until,
        };
        match submitting.run().await {
            Submitted::Done => Ok(()),
            Submitted::Stopped => {
                Err(hold().take().unwrap_or_else(|| "the cluster did not accept it in time".into()))
            }
            Submitted::Refused(message) => Err(message),
        }
    }

    /// Extends the deadline of its Job, created at `began` or later, for as long as this future runs.
    async fn hold(self, began: Instant) {
        let jobs: Api<BatchJob> = Api::namespaced(self.cluster.client().await, &self.namespace);
        loop {
            sleep(HOLD).await;
            let lives = (began.elapsed() + HELD).as_secs();
            let patch = Patch::Merge(json!({"spec": {"activeDeadlineSeconds": lives}}));
            let params = PatchParams::default();
            let held =
                self.cluster.ask("keeping a terminal open", jobs.patch_metadata(&self.name, &params, &patch));
            if let Err(refused) = held.await {
                tracing::debug!(name = self.name, why = refused.message(), "a terminal was not kept open");
            }
        }
    }

    /// The name of its pod, once the pod runs.
    async fn running(&self, id: &str, worker: &WorkerName, until: Instant) -> Result<String, String> {
        let its = ListParams::default().labels(&format!("{}={id}", labels::TERMINAL));
        let pods = self.pods().await;
        let mut note = None;
        while Instant::now() < until {
            let found = match self.cluster.ask("finding a terminal's pod", pods.list(&its)).await {
                Ok(found) => found.items.into_iter().next(),
                Err(refused @ Refused::ForGood(_)) => return Err(refused.message().to_owned()),
                // The cluster may respond yet.
                Err(refused) => {
                    note = Some(refused.message().to_owned());
                    None
                }
            };
            if let Some(pod) = found {
                match state_of(&pod) {
                    PodState::Running { .. } => return Ok(pod.metadata.name.unwrap_or_default()),
                    PodState::Ended { end, started_at, ended_at } => {
                        let finish = Finish { end: &end, started_at, ended_at };
                        return Err(finish.cause(worker, 0, Vec::new()).message);
                    }
                    PodState::Waiting { obstacle: Some(obstacle), .. } if !obstacle.may_pass => {
                        return Err(obstacle.message);
                    }
                    PodState::Waiting { note: now, .. } => note = now.or(note),
                }
            }
            sleep(LOOK).await;
        }
        let seconds = PATIENCE.as_secs();
        Err(match note {
            Some(note) => format!("the terminal's pod did not start within {seconds} seconds: {note}"),
            None => format!("the terminal's pod did not start within {seconds} seconds"),
        })
    }

    /// Attaches to the shell, and starts it.
    async fn attach(&self, pod: &str, size: TerminalSize) -> Result<Streams, String> {
        let params = AttachParams::interactive_tty().container(objects::SHELL);
        let pods = self.pods().await;
        let asked = self.cluster.ask("attaching to a terminal", pods.attach(pod, &params)).await;
        let mut process = asked.map_err(|refused| refused.message().to_owned())?;
        let parts = (process.stdin(), process.stdout(), process.terminal_size());
        let (Some(stdin), Some(stdout), Some(sizes)) = parts else {
            return Err("the cluster provided no terminal".into());
        };
        let streams = Streams {
            stdin: Mutex::new(stdin),
            stdout: Mutex::new(stdout),
            sizes: Mutex::new(sizes),
            _process: process,
        };
        let begun = async {
            streams.resize(size).await?;
            // The shell waits for a line before its first output.
            streams.write(b"\n").await
        };
        begun.await.map_err(|error| format!("the terminal has ended: {error}"))?;
        Ok(streams)
    }

    /// Removes its Secrets: without a Job they have no owner.
    async fn remove_secrets(&self) {
        let secrets: Api<Secret> = Api::namespaced(self.cluster.client().await, &self.namespace);
        let params = DeleteParams::default();
        for name in [self.name.clone(), pull_secret(&self.name)] {
            let removed = self.cluster.ask("removing a terminal", secrets.delete(&name, &params)).await;
            if let Some(refused) = removed.err().filter(|refused| *refused != Refused::NotFound) {
                tracing::warn!(name, why = refused.message(), "a terminal's Secret was not removed");
            }
        }
    }

    /// Removes its objects; returns once the pod is gone or the cluster does not respond.
    async fn remove(&self) {
        let jobs: Api<BatchJob> = Api::namespaced(self.cluster.client().await, &self.namespace);
        self.remove_secrets().await;
        let params = DeleteParams::foreground();
        let removed = self.cluster.ask("removing a terminal", jobs.delete(&self.name, &params)).await;
        let mut left = match removed {
            Ok(_) => true,
            Err(Refused::NotFound) => false,
            Err(refused) => {
                // The cluster ends it at its deadline.
                tracing::warn!(name = self.name, why = refused.message(), "a terminal was not removed");
                false
            }
        };
        let until = Instant::now() + GONE;
        // After its pods.
        while left && Instant::now() < until {
            sleep(LOOK).await;
            let there = self.cluster.ask("removing a terminal", jobs.get_metadata(&self.name)).await;
            left = !matches!(there, Err(Refused::NotFound));
        }
    }
}

/// A connection to a shell.
struct Streams {
    stdin: Mutex<WriteHalf<SimplexStream>>,
    stdout: Mutex<ReadHalf<SimplexStream>>,
    sizes: Mutex<Sender<Size>>,
    /// Dropping it closes the connection.
    _process: AttachedProcess,
}

impl Streams {
    async fn read(&self) -> io::Result<Vec<u8>> {
        let mut buffer = vec![0; PIECE];
        let count = self.stdout.lock().await.read(&mut buffer).await?;
        buffer.truncate(count);
        Ok(buffer)
    }

    async fn write(&self, typed: &[u8]) -> io::Result<()> {
        let mut stdin = self.stdin.lock().await;
        stdin.write_all(typed).await?;
        stdin.flush().await
    }

    async fn resize(&self, size: TerminalSize) -> io::Result<()> {
        let size = Size { width: size.columns, height: size.rows };
        self.sizes.lock().await.send(size).await.map_err(io::Error::other)
    }
}

/// A terminal in a pod.
struct PodTerminal {
    screen: Screen,
    streams: Streams,
    place: Place,
    _held: AbortOnDropHandle<()>,
}

impl Terminal for PodTerminal {
    fn read(&self) -> BoxFuture<'_, io::Result<Vec<u8>>> {
        Box::pin(self.screen.next(|| self.streams.read()))
    }

    fn write<'a>(&'a self, typed: &'a [u8]) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(self.streams.write(typed))
    }

    fn resize(&self, size: TerminalSize) -> BoxFuture<'_, io::Result<()>> {
        Box::pin(self.streams.resize(size))
    }

    fn end(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.place.remove())
    }
}
