//! What edits would do, without making them.

use std::collections::BTreeSet;

use cubeloom_domain::Problem;
use cubeloom_domain::quota::check::{Edit, Fault, faults};
use cubeloom_domain::quota::effect::{Scene, effect};
use cubeloom_domain::quota::held::Job;
use cubeloom_domain::quota::{Queue, QueueRecord};

use super::{Present, body, edit, waiting};
use crate::api::quotas::view::{Affected, EditBody, JobView, PreviewView, QueueBody};
use crate::check::Found;
use crate::error::{ApiResult, ProblemView};
use crate::state::Web;
use crate::texts::Lang;

/// So many jobs are told one by one.
const TOLD: usize = 100;

/// What these edits together would do now.
///
/// # Errors
/// Every mistake in what was sent, or what the server lacks.
pub(crate) async fn preview(web: &Web, lang: Lang, edits: Vec<EditBody>) -> ApiResult<PreviewView> {
    let mut found = Found::default();
    let present = Present::of(web).await?;
    let mut after = present.queues.clone();
    let mut queues = Vec::new();
    for (at, said) in edits.into_iter().enumerate() {
        let queue = said.queue();
        queues.push(queue.clone());
        let is_there = present.queue(&queue).is_some();
        if matches!(queue, Queue::Project(_)) && !is_there {
            found.wrong(&format!("/edits/{at}/name"), format!("there is no project `{}`", queue.name()));
        }
        after.retain(|one| one.queue != queue);
        if !said.delete {
            let body = QueueBody { parent: said.parent, quotas: said.quotas, below_use: false };
            after.push(body::record(queue, body, &format!("/edits/{at}"), &mut found));
        } else if matches!(queue, Queue::Project(_)) && is_there {
            let nothing = QueueRecord { queue, parent: None, quotas: [].into(), revision: 0 };
            after.push(nothing);
        }
    }
    found.refuse()?;
    let problems = problems(&present, &after, &queues, lang);
    let waiting = waiting(web).await?;
    let scene = Scene { rooms: &present.rooms, running: &present.running, waiting: &waiting };
    let effect = effect(scene, &present.queues, &after);
    Ok(PreviewView {
        problems,
        over: affected(&present.running, &effect.over),
        give_back: affected(&present.running, &effect.give_back),
        start: affected(&waiting, &effect.start),
        wait: affected(&waiting, &effect.wait),
    })
}

/// What is wrong with the tree after all edits, at each of them.
fn problems(present: &Present, after: &[QueueRecord], queues: &[Queue], lang: Lang) -> Vec<ProblemView> {
    let of = |(at, queue): (usize, &Queue)| -> Vec<Problem> {
        let (rooms, jobs) = (&present.rooms, &present.running);
        let found = faults(&Edit { before: &present.queues, after, queue, rooms, jobs });
        let placed = |fault: Fault| Fault { field: format!("/edits/{at}{}", fault.field), ..fault };
        found.into_iter().map(placed).map(edit::problem).collect()
    };
    let found = queues.iter().enumerate().flat_map(of);
    found.map(|problem| ProblemView::told(&problem, lang)).collect()
}

fn affected(jobs: &[Job], which: &BTreeSet<usize>) -> Affected {
    let told = which.iter().take(TOLD).filter_map(|at| jobs.get(*at)).map(JobView::from);
    Affected { count: which.len(), jobs: told.collect() }
}
