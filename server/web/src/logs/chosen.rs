//! Selects an attempt's logs and their reader.

use std::sync::Arc;

use cubeloom_domain::executor::Executor;
use cubeloom_domain::logs::{Log, LogName, LogPiece, Logs};
use cubeloom_domain::{AttemptKey, RunId, TaskIx};

use crate::api::logs::view::LogQuery;
use crate::archive::{self, Copied};
use crate::error::{ApiError, ApiResult};
use crate::runs::reader;
use crate::state::Web;

/// Source of the logs.
#[derive(Clone)]
enum Source {
    /// The cluster of the attempt. `None` if this server cannot read from it.
    Cluster(Option<Arc<dyn Executor>>),
    /// The archive in the project's object store.
    Copy(Arc<Copied>),
}

impl Source {
    fn logs(&self) -> Option<&dyn Logs> {
        match self {
            Self::Cluster(executor) => executor.as_ref()?.logs(),
            Self::Copy(copied) => Some(&**copied),
        }
    }
}

/// The selected logs of an attempt.
#[derive(Clone)]
pub(crate) struct Chosen {
    web: Web,
    source: Source,
    task: TaskIx,
    /// Key of the attempt. Its number is 0 before the first attempt.
    pub(crate) key: AttemptKey,
    /// Only this worker.
    worker: Option<String>,
    /// Only this stream.
    stream: Option<String>,
}

impl Chosen {
    /// The attempt of a query: the given one, or the last.
    pub(crate) async fn of(web: &Web, run: &RunId, query: &LogQuery) -> ApiResult<Self> {
        let plan = reader::plan(web, run).await?;
        let task = plan.find(&query.task).ok_or_else(|| ApiError::not_found("task", &query.task))?;
        if let Some(stream) = query.stream.as_deref().filter(|word| !["", "stdout", "stderr"].contains(word))
        {
            let message = format!("stream is `{stream}`: it must be stdout or stderr");
            return Err(ApiError::field("/stream", message));
        }
        let source = Source::Cluster(web.clusters().get(&plan.cluster));
        let instance = query.instance.unwrap_or(0);
        let key = AttemptKey { run: run.clone(), task: query.task.clone(), instance, n: 0 };
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let (worker, stream) = (given(&query.worker), given(&query.stream));
        let mut chosen = Self { web: web.clone(), source, task, key, worker, stream };
        match query.attempt {
            Some(n) => chosen.key.n = n,
            None => chosen.take_last().await?,
        }
        chosen.take_copy().await?;
        if chosen.source.logs().is_none() {
            let message = format!("the logs of the cluster `{}` cannot be read here", plan.cluster);
            return Err(ApiError::unavailable(message));
        }
        Ok(chosen)
    }

    /// Uses the archived copies of an ended attempt if the original logs are gone.
    async fn take_copy(&mut self) -> ApiResult<()> {
        let is_there = match self.source.logs() {
            Some(logs) => !logs.logs(&self.key).await.map_err(unreadable)?.is_empty(),
            None => false,
        };
        if self.key.n > 0
            && !is_there
            && self.has_ended().await?
            && let Some(copied) = archive::find(&self.web, &self.key).await?
        {
            self.source = Source::Copy(Arc::new(copied));
        }
        Ok(())
    }

    /// Selects the last attempt, if there is one by now.
    pub(crate) async fn take_last(&mut self) -> ApiResult<()> {
        let attempts = self.web.store().attempts_of(&self.key.run, self.task, self.key.instance).await?;
        self.key.n = attempts.last().map_or(0, |attempt| attempt.key.n);
        Ok(())
    }

    /// Whether the logs are complete: the attempt has ended, or there will be none.
    pub(crate) async fn has_ended(&self) -> ApiResult<bool> {
        let store = self.web.store();
        if self.key.n > 0 {
            let attempts = store.attempts_of(&self.key.run, self.task, self.key.instance).await?;
            let mine = attempts.iter().find(|attempt| attempt.key.n == self.key.n);
            return Ok(mine.is_none_or(|attempt| !attempt.state.is_live()));
        }
        if let Some(instance) = store.instance(&self.key.run, self.task, self.key.instance).await?
            && instance.state.is_final()
        {
            return Ok(true);
        }
        Ok(store.run(&self.key.run).await?.is_none_or(|run| run.state.is_final()))
    }

    /// The selected logs that exist so far.
    pub(crate) async fn list(&self) -> ApiResult<Vec<Log>> {
        let Some(logs) = self.source.logs().filter(|_| self.key.n > 0) else { return Ok(Vec::new()) };
        let mut found = logs.logs(&self.key).await.map_err(unreadable)?;
        found.retain(|log| {
            let worker = self.worker.as_ref();
            worker.is_none_or(|worker| *worker == log.name.worker.to_string())
                && self.stream.as_ref().is_none_or(|stream| stream == log.name.stream.as_str())
        });
        Ok(found)
    }

    /// The reader of the logs.
    pub(super) fn reader(&self) -> Option<&dyn Logs> {
        self.source.logs()
    }

    /// Reads a chunk of a log.
    pub(crate) async fn read(&self, name: &LogName, offset: u64, limit: usize) -> ApiResult<LogPiece> {
        match self.source.logs() {
            Some(logs) => logs.read(&self.key, name, offset, limit).await.map_err(unreadable),
            None => Ok(LogPiece { next: offset, ended: true, ..LogPiece::default() }),
        }
    }
}

pub(super) fn unreadable(error: std::io::Error) -> ApiError {
    ApiError::unavailable("the logs cannot be read now: try again").caused_by(error)
}
