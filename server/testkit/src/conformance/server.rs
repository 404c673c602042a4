//! A server from an executor's view: its own runtime, with which it can be ended as by `kill -9`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::AttemptKey;
use cubeloom_domain::clusters::{Standing, Survey};
use cubeloom_domain::executor::{
    BoxFuture, Executor, Facts, Growth, Notice, Observer, Scaling, StopCause, Submission,
};
use cubeloom_domain::hang::WorkerStack;
use cubeloom_domain::job::Job;
use cubeloom_domain::logs::Logs;
use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::monitoring::Reading;
use cubeloom_domain::outcome::Failure;
use cubeloom_domain::quota::QueueRecord;
use cubeloom_domain::terminal::{Terminal, TerminalOrder, Terminals};
use cubeloom_domain::usage::UsageSeries;
use tokio::runtime::{Builder, Handle, Runtime};

use super::Recorder;

/// An executor, its observer, and its runtime. A drop stops all of it.
pub struct Server<E> {
    runtime: Option<Runtime>,
    executor: Arc<E>,
    recorder: Arc<Recorder>,
}

impl<E: Executor + 'static> Server<E> {
    /// # Panics
    /// If the machine has no threads left.
    pub fn start(make: impl FnOnce() -> Arc<E>) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("threads");
        let inside = runtime.enter();
        let executor = make();
        let recorder = Arc::new(Recorder::default());
        executor.attach(Arc::clone(&recorder) as Arc<dyn Observer>);
        drop(inside);
        Self { runtime: Some(runtime), executor, recorder }
    }

    /// Its executor, for calls that need no runtime.
    #[must_use]
    pub fn inner(&self) -> &E {
        &self.executor
    }

    /// Its executor, whose methods may be called from any runtime.
    ///
    /// # Panics
    /// After `end`.
    #[must_use]
    pub fn executor(&self) -> Arc<dyn Executor> {
        let handle = self.runtime.as_ref().expect("it runs").handle().clone();
        Arc::new(OnRuntime { inner: Arc::clone(&self.executor), handle })
    }

    /// The executor's reports.
    #[must_use]
    pub fn recorder(&self) -> Arc<Recorder> {
        Arc::clone(&self.recorder)
    }
}

impl<E> Server<E> {
    /// Ends it immediately, whatever it is doing.
    pub fn end(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl<E> Drop for Server<E> {
    fn drop(&mut self) {
        self.end();
    }
}

/// Runs an executor's futures on its server's own runtime.
struct OnRuntime<E> {
    inner: Arc<E>,
    handle: Handle,
}

impl<E: Executor + 'static> OnRuntime<E> {
    fn run<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
        &self,
        call: impl FnOnce(Arc<E>) -> F,
    ) -> BoxFuture<'_, T> {
        let task = self.handle.spawn(call(Arc::clone(&self.inner)));
        Box::pin(async move { task.await.expect("the executor does not panic") })
    }
}

/// Forwards every method, those with a default body too: a missing one would make the executor appear unable
/// to do it.
impl<E: Executor + 'static> Executor for OnRuntime<E> {
    fn facts(&self) -> Facts {
        self.inner.facts()
    }

    fn attach(&self, observer: Arc<dyn Observer>) {
        self.inner.attach(observer);
    }

    fn share(&self, queues: &Arc<Vec<QueueRecord>>) {
        self.inner.share(queues);
    }

    fn set_aside(&self, nodes: BTreeMap<String, String>) {
        self.inner.set_aside(nodes);
    }

    fn bind(&self, job: &Job) -> Result<Bindings, Failure> {
        self.inner.bind(job)
    }

    fn foresee(&self, job: &Job) -> Result<Option<Bindings>, Failure> {
        self.inner.foresee(job)
    }

    fn rebind(&self, job: &Job, bindings: &Bindings) {
        self.inner.rebind(job, bindings);
    }

    fn held_up(&self) -> Option<String> {
        self.inner.held_up()
    }

    fn held_projects(&self) -> BTreeMap<String, String> {
        self.inner.held_projects()
    }

    fn at_once(&self) -> usize {
        self.inner.at_once()
    }

    fn submit(&self, submission: Submission) -> BoxFuture<'_, ()> {
        self.run(|inner| async move { inner.submit(submission).await })
    }

    fn adopt(&self, submission: Submission) -> BoxFuture<'_, ()> {
        self.run(|inner| async move { inner.adopt(submission).await })
    }

    fn cancel(&self, key: &AttemptKey, cause: StopCause, grace: Duration) -> BoxFuture<'_, ()> {
        let key = key.clone();
        self.run(move |inner| async move { inner.cancel(&key, cause, grace).await })
    }

    fn release(&self, key: &AttemptKey) {
        self.inner.release(key);
    }

    fn standing(&self) -> Standing {
        self.inner.standing()
    }

    fn survey<'a>(&'a self, project: &'a str) -> Option<BoxFuture<'a, Survey>> {
        // The future cannot move to another runtime: the call is repeated there.
        drop(self.inner.survey(project)?);
        let project = project.to_owned();
        Some(self.run(async move |inner| inner.survey(&project).expect("it can be asked").await))
    }

    fn measure(&self) -> Option<Reading> {
        self.inner.measure()
    }

    fn notices<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, Vec<Notice>> {
        self.inner.notices(key)
    }

    fn suspended(&self, key: &AttemptKey) -> Option<bool> {
        self.inner.suspended(key)
    }

    fn suspend<'a>(&'a self, key: &'a AttemptKey, suspended: bool) -> BoxFuture<'a, Result<(), String>> {
        self.inner.suspend(key, suspended)
    }

    fn stacks<'a>(&'a self, key: &'a AttemptKey) -> BoxFuture<'a, Vec<WorkerStack>> {
        let key = key.clone();
        self.run(async move |inner| inner.stacks(&key).await)
    }

    fn scaling(&self) -> Option<&dyn Scaling> {
        self.inner.scaling()
    }

    fn growth(&self) -> Option<&dyn Growth> {
        self.inner.growth()
    }

    fn logs(&self) -> Option<&dyn Logs> {
        self.inner.logs()
    }

    fn usage(&self) -> Option<&dyn UsageSeries> {
        self.inner.usage()
    }

    fn cards(&self) -> Option<&dyn UsageSeries> {
        self.inner.cards()
    }

    fn terminals(&self) -> Option<&dyn Terminals> {
        self.inner.terminals().map(|_| self as &dyn Terminals)
    }
}

impl<E: Executor + 'static> Terminals for OnRuntime<E> {
    fn open(&self, order: TerminalOrder) -> BoxFuture<'_, Result<Arc<dyn Terminal>, Failure>> {
        self.run(async move |inner| inner.terminals().expect("there are some").open(order).await)
    }
}

/// The number of processes of this machine with `NAME=value` in their environment.
#[must_use]
pub fn processes_with(entry: &str) -> usize {
    let holds = |path: &Path| {
        let environ = std::fs::read(path.join("environ")).unwrap_or_default();
        environ.split(|byte| *byte == 0).any(|one| one == entry.as_bytes())
    };
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter(|process| holds(&process.path())).count()
}

/// A random number for unique names.
#[must_use]
pub fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}
