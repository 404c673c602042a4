//! Simulates edits without applying them, on copies of the engine's scheduler states.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cubeloom_admission::{Desk, Requeued};
use cubeloom_domain::AttemptKey;
use cubeloom_domain::quota::change::changed;
use cubeloom_domain::quota::held::Job;
use cubeloom_domain::quota::{Queue, QueueRecord};
use tokio::sync::Semaphore;

use super::{Present, body, edit, waiting};
use crate::api::quotas::view::{Affected, EditBody, JobView, PreviewView};
use crate::auth::{Caller, projects_of};
use crate::check::Found;
use crate::error::{ApiError, ApiResult, ProblemView};
use crate::forecast;
use crate::state::Web;
use crate::texts::Lang;

/// Maximum number of jobs listed individually.
const TOLD: usize = 100;
/// One simulation at a time: dialogs request one after each pause in typing.
static TURN: Semaphore = Semaphore::const_new(1);

/// Effects of these edits, together, now.
///
/// # Errors
/// All problems of the request, or a server error.
pub(crate) async fn preview(
    web: &Web,
    caller: &Caller,
    lang: Lang,
    edits: Vec<EditBody>,
) -> ApiResult<PreviewView> {
    let mut found = Found::default();
    let projects = projects_of(web, caller).await?;
    let sees = |project: &String| projects.as_ref().is_none_or(|seen| seen.contains(project));
    let present = Present::of(web).await?;
    let changes = body::changes(edits, &mut found);
    for (at, change) in changes.iter().enumerate() {
        if projects.is_some() {
            if !matches!(&change.queue, Queue::Project(name) if sees(name)) {
                found.wrong(
                    &format!("/edits/{at}/name"),
                    "only administrators may simulate changes of other projects",
                );
                continue;
            }
            // Problems of another group would disclose its settings.
            let is_in = |record: Option<&QueueRecord>| record.and_then(|record| record.parent.clone());
            if is_in(change.to.as_ref()) != is_in(present.queue(&change.queue)) {
                found.wrong(&format!("/edits/{at}/parent"), "only administrators may simulate another group");
            }
        }
        if let (Queue::Project(name), None) = (&change.queue, present.queue(&change.queue)) {
            found.wrong(&format!("/edits/{at}/name"), format!("there is no project `{name}`"));
        }
    }
    found.refuse()?;
    let after = changed(&present.queues, &changes);
    let faults = edit::at_edits(edit::faults_of(&present, &changes, &present.queues, &after));
    let problems = faults.into_iter().map(|fault| ProblemView::told(&edit::problem(fault), lang));
    let problems = problems.collect();
    let (effect, unknown) = requeued(web, &present.queues, after).await?;
    let waiting = waiting(web, &present.rooms).await?;
    let jobs = Jobs::of(present.running.iter().chain(&waiting).filter(|job| sees(&job.project)));
    Ok(PreviewView {
        problems,
        over: jobs.affected(&effect.over),
        give_back: jobs.affected(&effect.give_back),
        start: jobs.affected(&effect.start),
        wait: jobs.affected(&effect.wait),
        unknown,
    })
}

/// Combined result of all clusters' scheduler states, and the clusters without one.
async fn requeued(
    web: &Web,
    before: &[QueueRecord],
    after: Vec<QueueRecord>,
) -> ApiResult<(Requeued, Vec<String>)> {
    let (mut desks, mut unknown) = (Vec::new(), Vec::new());
    for (name, _) in web.clusters().all() {
        match forecast::desk(web, &name).await {
            Some(desk) => desks.push(desk),
            None => unknown.push(name),
        }
    }
    let (before, after, now) = (Arc::new(before.to_vec()), Arc::new(after), web.now());
    let _turn = TURN.acquire().await.map_err(ApiError::internal)?;
    let work = move || {
        let mut all = Requeued::default();
        for found in desks.iter().map(|desk: &Arc<Desk>| desk.requeued(&before, &after, now)) {
            all.over.extend(found.over);
            all.give_back.extend(found.give_back);
            all.start.extend(found.start);
            all.wait.extend(found.wait);
        }
        all
    };
    Ok((tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)?, unknown))
}

/// Jobs by the key that the scheduler uses.
struct Jobs<'j>(BTreeMap<(String, String, u32), &'j Job>);

impl<'j> Jobs<'j> {
    fn of(jobs: impl Iterator<Item = &'j Job>) -> Self {
        Self(jobs.map(|job| ((job.run.to_string(), job.task.clone(), job.instance), job)).collect())
    }

    fn affected(&self, keys: &BTreeSet<String>) -> Affected {
        let job = |key: &String| {
            let key: AttemptKey = key.parse().ok()?;
            self.0.get(&(key.run.to_string(), key.task, key.instance))
        };
        let told = keys.iter().filter_map(job).take(TOLD).map(|job| JobView::from(*job));
        Affected { count: keys.len(), jobs: told.collect() }
    }
}
