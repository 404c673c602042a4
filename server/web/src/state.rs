//! What handlers work with.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use cubeloom_domain::event::RunEvent;
use cubeloom_domain::executor::Executor;
use cubeloom_domain::template::TemplateSet;
use cubeloom_domain::{Clock, Timestamp};
use cubeloom_store::Store;
use tokio::sync::{broadcast, watch};

    /// What is kept in memory of runs.
    pub(crate) fn runs(&self) -> &Runs {
        &self.0.runs
