//! Goodput of a run or task: how its time was spent.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cubeloom_domain::effective::{Effective, Telling};
use cubeloom_domain::record::RunRecord;
use cubeloom_domain::{RunId, TaskIx, Timestamp};
use cubeloom_store::TimedTry;
use moka::sync::Cache;
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::reader::Reader;
use crate::api::tasks::effective::{EffectiveView, TimePartView};
use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Attempts read at a time: a run may have 100,000. Up to one page is computed on every request.
const PAGE: usize = 2_000;
/// Maximum number of cached runs and tasks.
const KEPT: u64 = 10_000;
/// A result of an active run is cached for this multiple of its computing time.
const TIMES_AS_LONG: u32 = 10;
/// How long a request waits for the first result. The computation continues in the background for later
/// requests.
const PATIENCE: Duration = Duration::from_secs(5);

/// Goodput of a run, or of one of its tasks. `None` before the first attempt, and while the first result for
/// very many attempts is computed.
pub(crate) async fn of(
    web: &Web,
    reader: &Reader<'_>,
    task: Option<TaskIx>,
) -> ApiResult<Option<EffectiveView>> {
    let count = match task {
        Some(task) => reader.instances(task.0),
        None => reader.all_instances(),
    };
    if count == 0 {
        return Ok(None);
    }
    let found = web.runs().times.of(web, &reader.record, task, count).await?;
    Ok(found.as_ref().map(view))
}

/// Cached goodput of runs and tasks with very many attempts, so that not every request reads them all.
pub(super) struct Times(Cache<(RunId, Option<TaskIx>), Arc<Kept>>);

/// Goodput of one run or task. It is computed once for all requests, in the background: a cancelled request
/// does not stop it.
#[derive(Default)]
struct Kept {
    lately: Mutex<Option<Lately>>,
    /// Held while computing.
    telling: Arc<Turn<()>>,
}

/// The last result.
struct Lately {
    found: Option<Effective>,
    /// When the run had ended. An ended run changes only when it is resumed.
    ended: Option<Timestamp>,
    until: Instant,
}

impl Default for Times {
    fn default() -> Self {
        Self(Cache::new(KEPT))
    }
}

impl Times {
    /// Goodput of a run or task with `count` instances. With few attempts, it is computed again.
    async fn of(
        &self,
        web: &Web,
        run: &RunRecord,
        task: Option<TaskIx>,
        count: u64,
    ) -> ApiResult<Option<Effective>> {
        let key = (run.id.clone(), task);
        let kept = if count > PAGE as u64 {
            self.0.get_with_by_ref(&key, Arc::default)
        } else if let Some(kept) = self.0.get(&key) {
            kept
        } else {
            let told = tell(web, &run.id, task).await?;
            if told.is_long {
                let kept = Arc::new(Kept::default());
                kept.keep(run, &told);
                self.0.insert(key, kept);
            }
            return Ok(told.found);
        };
        kept.of(web, run, task).await
    }
}

impl Kept {
    /// The cached result. Without one, computes it and waits at most [`PATIENCE`].
    async fn of(
        self: Arc<Self>,
        web: &Web,
        run: &RunRecord,
        task: Option<TaskIx>,
    ) -> ApiResult<Option<Effective>> {
        if let Some((found, is_new)) = self.known(run) {
            if !is_new && let Ok(turn) = Arc::clone(&self.telling).try_lock_owned() {
                self.tell_beside(web, run, task, turn);
            }
            return Ok(found);
        }
        let first = async {
            let turn = Arc::clone(&self.telling).lock_owned().await;
            match self.known(run) {
                Some((found, _)) => Ok(found),
                None => self.tell_beside(web, run, task, turn).await.map_err(ApiError::internal)?,
            }
        };
        tokio::time::timeout(PATIENCE, first).await.unwrap_or(Ok(None))
    }

    /// Computes the goodput in the background and caches it.
    fn tell_beside(
        self: &Arc<Self>,
        web: &Web,
        run: &RunRecord,
        task: Option<TaskIx>,
        turn: OwnedMutexGuard<()>,
    ) -> JoinHandle<ApiResult<Option<Effective>>> {
        let (kept, web, run) = (Arc::clone(self), web.clone(), run.clone());
        tokio::spawn(async move {
            let told = tell(&web, &run.id, task).await?;
            kept.keep(&run, &told);
            drop(turn);
            Ok(told.found)
        })
    }

    /// The cached result if the run has not ended or resumed since, and whether it is fresh.
    fn known(&self, run: &RunRecord) -> Option<(Option<Effective>, bool)> {
        let lately = self.lately.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lately.as_ref().filter(|known| known.ended == ended(run))?;
        Some((known.found.clone(), known.ended.is_some() || Instant::now() < known.until))
    }

    fn keep(&self, run: &RunRecord, told: &Told) {
        let until = Instant::now() + told.began.elapsed() * TIMES_AS_LONG;
        let lately = Lately { found: told.found.clone(), ended: ended(run), until };
        *self.lately.lock().unwrap_or_else(PoisonError::into_inner) = Some(lately);
    }
}

/// When the run ended, if it has.
fn ended(run: &RunRecord) -> Option<Timestamp> {
    run.ended_at.filter(|_| run.state.is_final())
}

struct Told {
    found: Option<Effective>,
    /// Whether it needed more than one page.
    is_long: bool,
    began: Instant,
}

/// Computes the goodput page by page, so that only one page is in memory.
async fn tell(web: &Web, run: &RunId, task: Option<TaskIx>) -> ApiResult<Told> {
    let (began, mut sum, mut after) = (Instant::now(), Sum::new(web.now()), None);
    loop {
        let page = web.store().tried(run, task, after, PAGE).await?;
        page.iter().for_each(|one| sum.add(one));
        let is_long = after.is_some();
        if page.len() < PAGE {
            return Ok(Told { found: sum.end(), is_long, began });
        }
        after = page.last().map(TimedTry::place);
    }
}

/// Sums up the time of all instances. Instances without an attempt, such as approvals and skipped ones, do
/// not count.
struct Sum {
    now: Timestamp,
    all: Effective,
    /// The current task and instance.
    of: Option<(TaskIx, u32)>,
    telling: Option<Telling>,
}

impl Sum {
    fn new(now: Timestamp) -> Self {
        Self { now, all: Effective::default(), of: None, telling: None }
    }

    /// Adds the next attempt, ordered by task, instance and number.
    fn add(&mut self, one: &TimedTry) {
        let of = Some((one.tried.task, one.tried.instance));
        if self.of != of {
            self.close();
            self.of = of;
        }
        let until = one.ended_at.unwrap_or(self.now);
        self.telling.get_or_insert_with(|| Telling::new(one.ready_at, until)).add(&one.tried);
    }

    fn close(&mut self) {
        if let Some(telling) = self.telling.take() {
            self.all = std::mem::take(&mut self.all).plus(&telling.end());
        }
    }

    /// The result. `None` if no time was spent.
    fn end(mut self) -> Option<Effective> {
        self.close();
        Some(self.all).filter(|all| all.whole() > 0)
    }
}

fn view(found: &Effective) -> EffectiveView {
    let seconds = |micros: u64| micros as f64 / 1e6;
    let parts = found.parts().filter(|(_, micros)| *micros > 0);
    EffectiveView {
        share: found.share(),
        seconds: seconds(found.whole()),
        parts: parts
            .map(|(part, micros)| TimePartView { part: part.into(), seconds: seconds(micros) })
            .collect(),
        attempts: found.ran,
        attempts_with_steps: found.reported,
    }
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::effective::Tried;
    use cubeloom_domain::outcome::Outcome;
    use cubeloom_domain::state::{AttemptState, RunState};

    use super::*;

    /// An attempt that waited for 2 s, started in 3, and ran for 5.
    fn one(task: u32, instance: u32, n: u32) -> TimedTry {
        let at = |second: i64| Timestamp((i64::from(n - 1) * 10 + second) * 1_000_000);
        let state =
            AttemptState::Ended { started_at: Some(at(5)), ended_at: at(10), outcome: Outcome::Succeeded };
        let tried = Tried {
            task: TaskIx(task),
            instance,
            state,
            created_at: at(2),
            pace: None,
            hang: None,
            gpus: 0,
            card_us: None,
        };
        TimedTry { tried, n, ready_at: Timestamp(0), ended_at: None }
    }

    fn sum(attempts: impl IntoIterator<Item = TimedTry>, now: i64) -> Option<Effective> {
        let mut sum = Sum::new(Timestamp(now * 1_000_000));
        attempts.into_iter().for_each(|one| sum.add(&one));
        sum.end()
    }

    #[test]
    fn time_is_that_of_all_instances_with_all_their_attempts() {
        let attempts = [one(0, 0, 1), one(0, 0, 2), one(0, 1, 1), one(1, 1, 1)];
        let found = sum(attempts, 20).unwrap();
        // Three instances, each running until now.
        assert_eq!((found.whole(), found.ran), (60_000_000, 4));
        assert_eq!((found.useful, found.starting), (20_000_000, 12_000_000));
        assert_eq!(sum([], 20), None);
    }

    #[test]
    fn of_a_hundred_thousand_attempts_it_is_told_too() {
        let instances = (0..50_000).flat_map(|instance| [one(0, instance, 1), one(0, instance, 2)]);
        let found = sum(instances, 20).unwrap();
        assert_eq!((found.ran, found.share()), (100_000, Some(0.5)));
        let tries = (1..=100_000).map(|n| one(0, 0, n));
        assert!(sum(tries, 1_000_000).is_some_and(|found| found.ran == 100_000));
    }

    #[test]
    fn what_was_told_holds_until_the_run_goes_on() {
        let run = |state, ended_at: Option<i64>| RunRecord {
            id: RunId::new(Timestamp(0), 7),
            project: "shop".into(),
            pipeline: "ctr".into(),
            user: "ada".into(),
            state,
            created_at: Timestamp(0),
            started_at: None,
            ended_at: ended_at.map(Timestamp),
            tasks: 1,
            message: None,
            version: None,
            parameters: Default::default(),
            acting: None,
            parent: None,
            cause: Default::default(),
        };
        let kept = Kept::default();
        let (first, later) = (run(RunState::Succeeded, Some(5)), run(RunState::Succeeded, Some(9)));
        assert_eq!(kept.known(&first), None);
        let found = Some(Effective { useful: 3, ..Effective::default() });
        kept.keep(&first, &Told { found: found.clone(), is_long: true, began: Instant::now() });
        assert_eq!(kept.known(&first), Some((found, true)));
        assert_eq!((kept.known(&run(RunState::Running, None)), kept.known(&later)), (None, None));
    }
}
