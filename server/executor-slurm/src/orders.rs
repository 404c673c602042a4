//! Batched work as users' accounts for attempts that stop: many stop at once, so all work of an account is
//! one call.

use std::collections::HashMap;
use std::sync::Arc;

use cubeloom_executor_local::StopWish;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Mutex, oneshot};

use crate::cluster::Cluster;
use crate::commands::Trouble;
use crate::folders::Record;
use crate::{CLEAN_ARG, STOP_ARG};

/// Maximum batch size of a call: command lines are limited, and others wait.
const MOST: usize = 256;

/// The work for one attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// Write a stop request for its workers.
    Tell(StopWish),
    /// Remove secrets of a script that never began.
    Clean,
    /// Cancel jobs, by ids or by `--name=`.
    Cancel {
        jobs: Vec<String>,
        /// Whether with KILL at once.
        kill: bool,
    },
}

/// One folder of an account, in the program's input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Errand {
    /// The administrator's folder above.
    pub top: std::path::PathBuf,
    /// The attempt's folder.
    pub folder: std::path::PathBuf,
    /// The stop request to write, if any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wish: Option<StopWish>,
}

struct Order {
    record: Record,
    what: What,
    done: oneshot::Sender<Result<(), Trouble>>,
}

/// The queue of work.
pub struct Orders {
    sender: UnboundedSender<Order>,
    receiver: Mutex<UnboundedReceiver<Order>>,
}

impl Orders {
    pub fn new() -> Self {
        let (sender, receiver) = unbounded_channel();
        Self { sender, receiver: Mutex::new(receiver) }
    }

    /// Queues work, and waits until it is done.
    pub async fn give(&self, record: &Record, what: What) -> Result<(), Trouble> {
        let (done, answer) = oneshot::channel();
        let gone = || Trouble::Away("the server is ending".into());
        self.sender.send(Order { record: record.clone(), what, done }).map_err(|_| gone())?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }
}

/// What is batched into one call: an account, its program, and the kind of work.
type Kind = (String, String, u8);

fn kind(order: &Order) -> Kind {
    let work = match &order.what {
        What::Tell(_) => 0,
        What::Clean => 1,
        // Filters of one call must all match: do not mix names with ids.
        What::Cancel { jobs, kill } => {
            2 + u8::from(*kill) + 2 * u8::from(jobs.iter().any(|job| job.starts_with('-')))
        }
    };
    (order.record.account.clone(), order.record.program.clone(), work)
}

/// Processes the queue until the cluster is dropped.
pub async fn keep(cluster: Arc<Cluster>) {
    let mut receiver = cluster.orders.receiver.lock().await;
    let mut some = Vec::new();
    while let Some(first) = receiver.recv().await {
        some.push(first);
        // While all permits are taken, more work accumulates here.
        drop(cluster.stops.acquire().await);
        while some.len() < MOST
            && let Ok(order) = receiver.try_recv()
        {
            some.push(order);
        }
        let mut groups: HashMap<Kind, Vec<Order>> = HashMap::new();
        for order in some.drain(..) {
            groups.entry(kind(&order)).or_default().push(order);
        }
        for (_, orders) in groups {
            // Later work must not wait for a call that hangs.
            let cluster = Arc::clone(&cluster);
            let end = cluster.end.clone();
            tokio::spawn(end.run_until_cancelled_owned(async move {
                let _call = cluster.stops.acquire().await;
                let done = each(&cluster, &orders).await;
                for (order, done) in orders.into_iter().zip(done) {
                    // The requester may be gone.
                    let _ = order.done.send(done);
                }
            }));
        }
    }
}

/// The results of orders of one kind. If secrets stay, it must be known whose: a refused batch is repeated
/// one by one.
async fn each(cluster: &Cluster, orders: &[Order]) -> Vec<Result<(), Trouble>> {
    let done = all(cluster, orders).await;
    let is_cleaning = orders.first().is_some_and(|order| order.what == What::Clean);
    if orders.len() == 1 || !is_cleaning || !matches!(done, Err(Trouble::Refused(_))) {
        return vec![done; orders.len()];
    }
    let mut one_by_one = Vec::with_capacity(orders.len());
    for order in orders {
        one_by_one.push(all(cluster, std::slice::from_ref(order)).await);
    }
    one_by_one
}

/// Runs orders of one kind in one call.
async fn all(cluster: &Cluster, orders: &[Order]) -> Result<(), Trouble> {
    let Some(Order { record, what, .. }) = orders.first() else { return Ok(()) };
    let word = match what {
        What::Cancel { kill, .. } => {
            let of = |order: &Order| match &order.what {
                What::Cancel { jobs, .. } => jobs.clone(),
                _ => Vec::new(),
            };
            let mut jobs: Vec<String> = orders.iter().flat_map(of).collect();
            if jobs.iter().any(|job| job.starts_with('-')) {
                let names = jobs.iter().filter_map(|job| job.strip_prefix("--name="));
                jobs = vec![format!("--name={}", names.collect::<Vec<_>>().join(","))];
            }
            return cluster.speech.cancel(&record.account, record.uid, &jobs, *kill).await;
        }
        What::Tell(_) => STOP_ARG,
        What::Clean => CLEAN_ARG,
    };
    let errand = |order: &Order| Errand {
        top: order.record.top.clone(),
        folder: order.record.folder.clone(),
        wish: match order.what {
            What::Tell(wish) => Some(wish),
            _ => None,
        },
    };
    let errands: Vec<Errand> = orders.iter().map(errand).collect();
    let input = serde_json::to_vec(&errands).unwrap_or_default();
    cluster.commands.program(&record.account, &record.program, &[word], input).await
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::executor::tests::{executor, noted};

    #[tokio::test]
    async fn what_cannot_be_cleaned_is_told_from_what_was_cleaned_with_it() {
        let data = tempfile::tempdir().unwrap();
        let executor = executor(data.path(), "/usr/bin:/bin", &[]);
        let program = data.path().join("program");
        fs::write(&program, "#!/bin/sh\nif grep -q bad; then echo it stays >&2; exit 3; fi\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let order = |name: &str| {
            let (_, record, _) = noted(data.path());
            let program = program.to_str().unwrap().to_owned();
            let record = Record { folder: data.path().join(name), program, ..record };
            Order { record, what: What::Clean, done: oneshot::channel().0 }
        };
        let done = each(&executor.cluster, &[order("good"), order("bad"), order("better")]).await;
        assert_eq!((done[0].clone(), done[2].clone()), (Ok(()), Ok(())));
        assert!(matches!(&done[1], Err(Trouble::Refused(why)) if why.contains("it stays")), "{done:?}");
    }
}
