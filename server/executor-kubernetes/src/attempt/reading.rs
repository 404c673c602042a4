//! What an attempt's workers write: logs and progress.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use cubeloom_domain::clusters::Standing;
use cubeloom_domain::executor::Event;
use cubeloom_files::own;
use tokio::time::timeout;

use super::{Attempt, Going};
use crate::board::Seen;
use crate::folders::DONE;
use crate::follow::Following;
use crate::{judge, outputs};

/// How long to wait for more of a log after the last pod has ended.
const READ: Duration = Duration::from_secs(30);

impl Attempt {
    /// Follows the logs of pods that have started.
    pub(super) fn follow_logs(&self, going: &mut Going, seen: &Seen) {
        for pod in seen.pods.values().filter(|pod| judge::has_begun(&pod.view)) {
            if !going.followed.insert(pod.view.uid.clone()) {
                continue;
            }
            let folder = self.cluster.folders.worker(&self.known.job.key, &pod.view.worker);
            let following = Following {
                cluster: Arc::clone(&self.cluster),
                job: going.name.clone(),
                pod: Arc::clone(&pod.view),
                folder,
                masks: Arc::clone(&self.known.masks),
                read: Arc::clone(&going.read),
            };
            going.followers.spawn(following.run());
        }
    }

    /// Marks the logs as complete.
    pub(super) fn mark_logs(&self) {
        let key = &self.known.job.key;
        for worker in outputs::workers(&self.known.job) {
            let folder = self.cluster.folders.worker(key, &worker);
            if folder.is_dir() {
                let _ = own::write(folder.join(DONE), "");
            }
        }
    }

    pub(super) fn tell_progress(&self, going: &mut Going) {
        let Some(began) = going.started else { return };
        let job = &self.known.job;
        // Unreadable now: retry on the next tick.
        let Ok(file) = self.cluster.folders.outputs(&job.project, &job.key) else { return };
        let seen = self.cluster.look(&going.name);
        let news = going.tails.read(
            outputs::workers(job).map(|worker| file(&worker)),
            began,
            self.cluster.clock.now(),
        );
        // After reading: values read belong to the workers that were present before.
        going.present.follow(&seen, outputs::workers(job), &mut going.tails);
        for metric in news.measured {
            self.cluster.report(&job.key, Event::Measured(metric));
        }
        if let Some(progress) = news.progress {
            self.cluster.report(&job.key, Event::Progress(progress));
        }
        if let Some(tested) = news.tested {
            self.cluster.report(&job.key, Event::Tested(tested));
        }
        if let Some(pace) = news.pace {
            self.cluster.report(&job.key, Event::Paced(Box::new(pace)));
        }
    }
    /// Waits until the logs are read, for as long as more arrives or the cluster is unreachable.
    pub(super) async fn read_logs(&self, going: &mut Going) {
        let mut before = going.read.load(Ordering::Relaxed);
        while timeout(READ, async { while going.followers.join_next().await.is_some() {} }).await.is_err() {
            let now = going.read.load(Ordering::Relaxed);
            if now == before && self.cluster.standing.now() == Standing::Connected {
                tracing::warn!(key = %self.known.job.key, "a log cannot be read to its end");
                return going.followers.abort_all();
            }
            before = now;
        }
    }
}
