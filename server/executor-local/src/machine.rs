//! State shared by all attempts on this machine.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use cubeloom_domain::AttemptKey;
use cubeloom_domain::clock::Clock;
use cubeloom_domain::executor::{Ended, Event, Observation, Observer};
use tokio::sync::mpsc::UnboundedSender;

use crate::attempt::Happened;
use crate::cgroup::{Cpusets, Hierarchy};
use crate::config::LocalConfig;
use crate::disk_limits::Workspaces;
use crate::leases::Leases;
use crate::notes::{self, Notes};
use crate::owner::Owners;
use crate::paths::Layout;
use crate::python::Pythons;
use crate::sandbox::Walls;
use crate::spares::Spares;
use crate::token::Tokens;
use cubeloom_workers::reports::Reports;

/// State shared by all attempts.
pub(crate) struct Machine {
    pub(crate) config: LocalConfig,
    pub(crate) layout: Layout,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) owners: Owners,
    pub(crate) hierarchy: Hierarchy,
    /// `None`: CPUs cannot be dedicated.
    pub(crate) cpusets: Option<Arc<Cpusets>>,
    pub(crate) leases: Leases,
    pub(crate) pythons: Pythons,
    pub(crate) walls: Walls,
    pub(crate) tokens: Tokens,
    pub(crate) notes: Notes,
    pub(crate) spares: Spares,
    /// Projects whose workspaces exceed their limit.
    pub(crate) workspaces: Workspaces,
    /// Last reports of live attempts.
    pub(crate) reports: Reports,
    /// Set once the shims' messages are being read.
    pub(crate) listening: OnceLock<()>,
    pub(crate) observer: OnceLock<Arc<dyn Observer>>,
    pub(crate) attempts: Mutex<HashMap<AttemptKey, Slot>>,
}

/// An attempt that this server knows.
pub(crate) enum Slot {
    /// Running; the channel to it.
    Live(UnboundedSender<Happened>),
    /// Ended; kept until it is released, so that a repeated query gets the same result.
    Ended(Box<Ended>),
}

impl Machine {
    /// Starts reading the shims' messages. This needs the runtime, which exists at the first attempt.
    pub(crate) fn listen(self: &Arc<Self>) {
        self.listening.get_or_init(|| {
            tokio::spawn(notes::read_all(Arc::downgrade(self), Arc::clone(&self.notes.read)));
        });
    }

    /// Whether workers have control groups.
    pub(crate) fn has_groups(&self) -> bool {
        !matches!(self.hierarchy, Hierarchy::None(_))
    }

    /// Reports an event to the engine.
    pub(crate) fn report(&self, key: &AttemptKey, event: Event) {
        match self.observer.get() {
            Some(observer) => observer.observed(Observation { key: key.clone(), event }),
            None => tracing::error!(%key, "an attempt reported before an observer was attached"),
        }
    }

    pub(crate) fn attempts(&self) -> MutexGuard<'_, HashMap<AttemptKey, Slot>> {
        self.attempts.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Stores and reports how an attempt ended.
    pub(crate) fn ended(&self, key: &AttemptKey, ended: Ended) {
        self.attempts().insert(key.clone(), Slot::Ended(Box::new(ended.clone())));
        self.report(key, Event::Ended(Box::new(ended)));
    }
}
