//! Executes the actions of a scheduling cycle after it is stored.

use std::time::Duration;

use cubeloom_domain::measure::Call;
use cubeloom_domain::record::Changes;
use cubeloom_domain::{RunId, failpoint};
use tokio::time::timeout;

use crate::cache::{self, Roots};
use crate::core::Action;
use crate::driver::Engine;
use crate::message::Message;
use crate::prepare;
use crate::told::Told;

/// Timeout for collecting the workers' stacks. Executors take less time, and report what they have by then.
const LOOK: Duration = Duration::from_secs(60);

impl Engine {
    /// Executes one action. Its result is reported as a message, which a later cycle handles.
    pub(crate) fn apply(&self, action: Action) {
        let grace = self.config.sharing.grace;
        match action {
            Action::Submit(executor, submission) => {
                failpoint::hit("engine.submit.before");
                let told = Told::of(&self.clusters, &executor, Call::Submit, &submission.job.key);
                tokio::spawn(told.around(async move { executor.submit(submission).await }));
            }
            Action::Adopt(executor, submission, stop) => {
                let told = Told::of(&self.clusters, &executor, Call::Adopt, &submission.job.key);
                tokio::spawn(async move {
                    let key = submission.job.key.clone();
                    told.around(executor.adopt(submission)).await;
                    if let Some(cause) = stop {
                        executor.cancel(&key, cause, grace).await;
                    }
                });
            }
            Action::Scale(executor, submission) => {
                failpoint::hit("engine.scale.before");
                let told = Told::of(&self.clusters, &executor, Call::Scale, &submission.job.key);
                tokio::spawn(told.around(async move {
                    if let Some(scaling) = executor.scaling() {
                        scaling.scale(submission, grace).await;
                    }
                }));
            }
            Action::Grow(executor, submission) => {
                failpoint::hit("engine.grow.before");
                let told = Told::of(&self.clusters, &executor, Call::Grow, &submission.job.key);
                tokio::spawn(told.around(async move {
                    if let Some(growth) = executor.growth() {
                        growth.grow(submission).await;
                    }
                }));
            }
            Action::Cancel(executor, key, cause) => {
                failpoint::hit("engine.cancel.before");
                let told = Told::of(&self.clusters, &executor, Call::Cancel, &key);
                tokio::spawn(told.around(async move { executor.cancel(&key, cause, grace).await }));
            }
            Action::Look(executor, key) => {
                let sender = self.sender.clone();
                tokio::spawn(async move {
                    let stacks = timeout(LOOK, executor.stacks(&key)).await.unwrap_or_default();
                    let _ = sender.send(Message::LookedAt(key, stacks));
                });
            }
            Action::LookAtCards(executor, key) => {
                let sender = self.sender.clone();
                tokio::spawn(async move {
                    let workers = match executor.cards() {
                        Some(usage) => timeout(LOOK, usage.series(&key)).await,
                        None => return,
                    };
                    let workers = workers.ok().and_then(Result::ok);
                    let _ = sender.send(Message::CardsSeen(key, workers));
                });
            }
            Action::Release(executor, key) => executor.release(&key),
            Action::LookUp(look_up) => {
                let (store, sender, now) = (self.store.clone(), self.sender.clone(), self.clock.now());
                let roots =
                    Roots { code: self.config.code.clone(), workspace: self.config.workspace.clone() };
                tokio::spawn(async move {
                    let answer = cache::answer(&store, &roots, look_up, now).await;
                    let _ = sender.send(Message::Answered(Box::new(answer)));
                });
            }
            Action::Prepare(preparation) => {
                let (sender, workspace) = (self.sender.clone(), self.config.workspace.clone());
                tokio::spawn(async move {
                    let run = preparation.run.clone();
                    let result = prepare::fill(&workspace, preparation).await;
                    let _ = sender.send(Message::Prepared(run, result));
                });
            }
            Action::Finished(run) => {
                let (store, owner) = (self.store.clone(), self.config.owner.clone());
                tokio::spawn(async move { store.release(&owner, &[run]).await });
            }
        }
    }
}

/// Drops a run's actions when its changes could not be stored.
pub(crate) fn withhold(actions: &mut Vec<Action>, run: &RunId) {
    actions.retain(|action| match action {
        Action::Submit(executor, submission) if submission.job.key.run == *run => {
            executor.release(&submission.job.key);
            false
        }
        Action::Adopt(_, submission, _) | Action::Scale(_, submission) | Action::Grow(_, submission) => {
            submission.job.key.run != *run
        }
        Action::Cancel(_, key, _) | Action::Look(_, key) | Action::LookAtCards(_, key) => key.run != *run,
        Action::Submit(..)
        | Action::Release(..)
        | Action::LookUp(_)
        | Action::Prepare(_)
        | Action::Finished(_) => true,
    });
}

/// Drops a run's changes.
pub(crate) fn without(changes: &mut Changes, run: &RunId) {
    changes.runs.retain(|record| record.id != *run);
    changes.begun.remove(run);
    changes.expansions.retain(|record| record.run != *run);
    changes.unexpanded.retain(|(id, _)| id != run);
    changes.instances.retain(|record| record.run != *run);
    changes.attempts.retain(|record| record.key.run != *run);
    changes.stacks.retain(|stacks| stacks.key.run != *run);
    changes.cache.retain(|entry| entry.run != *run);
}
