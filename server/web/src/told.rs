//! Translates the server's messages in API responses about runs, tasks and clusters. Texts of users and their
//! programs stay unchanged.

use crate::api::clusters::aside::AsideView;
use crate::api::clusters::check::ClusterCheck;
use crate::api::clusters::view::{ClusterDetail, ClusterView};
use crate::api::compare::view::ComparisonView;
use crate::api::events::view::LiveEvent;
use crate::api::monitoring::view::{AdviceView, CardDetail, MonitoringView};
use crate::api::runs::comparison_view::RunsComparisonView;
use crate::api::runs::critical_path::CriticalPathView;
use crate::api::runs::view::{ObjectsView, RunView};
use crate::api::tasks::advice::TaskAdviceView;
use crate::api::tasks::hang::HangView;
use crate::api::tasks::preflight::PreflightView;
use crate::api::tasks::view::{AttemptView, FailureView, InstanceView, TaskView, WaitView};
use crate::page::Page;
use crate::runs::listed::Listed;
use crate::said::said;
use crate::texts::Lang;

/// A view with messages of the server.
pub(crate) trait Sentences {
    /// Visits each message, to read or change it.
    fn each(&mut self, look: &mut dyn FnMut(&mut String));

    /// Whether there is one.
    fn any(&mut self) -> bool {
        let mut any = false;
        self.each(&mut |_| any = true);
        any
    }
}

/// Translates a view to this language.
pub(crate) fn told<T: Sentences>(lang: Lang, mut view: T) -> T {
    // Messages are written in English.
    if lang != Lang::En {
        view.each(&mut |sentence| *sentence = said(lang, sentence));
    }
    view
}

impl Sentences for String {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        look(self);
    }
}

impl<T: Sentences> Sentences for Option<T> {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        self.iter_mut().for_each(|one| one.each(look));
    }
}

impl<T: Sentences> Sentences for Vec<T> {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        self.iter_mut().for_each(|one| one.each(look));
    }
}

impl<T: Sentences> Sentences for Page<T> {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        self.items.each(look);
    }
}

impl Sentences for RunView {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        self.message.each(look);
        if let Some(wait) = &mut self.wait {
            look(&mut wait.message);
        }
    }
}

impl Sentences for Listed {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        // Few runs have a message. The others need not be copied.
        if self.message.is_some() {
            let mut view = RunView::clone(self);
            view.each(look);
            *self = view.into();
        }
    }
}

impl Sentences for RunsComparisonView {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        self.runs.iter_mut().for_each(|one| one.run.each(look));
    }
}

impl Sentences for WaitView {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        look(&mut self.message);
    }
}

impl Sentences for HangView {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        look(&mut self.message);
    }
}

impl Sentences for PreflightView {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        if let Some(blamed) = &mut self.blamed {
            look(&mut blamed.why);
        }
        for worker in &mut self.workers {
            worker.wrong.iter_mut().for_each(&mut *look);
        }
    }
}

impl Sentences for FailureView {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        look(&mut self.message);
    }
}

impl Sentences for TaskView {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        self.wait.each(look);
        self.failure.each(look);
        self.hang.each(look);
        self.preparing.each(look);
        self.note.each(look);
    }
}

impl Sentences for InstanceView {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        self.wait.each(look);
        self.failure.each(look);
        self.preparing.each(look);
        self.note.each(look);
    }
}

impl Sentences for AttemptView {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        self.failure.each(look);
        self.hang.each(look);
        self.preflight.each(look);
        self.not_grown.each(look);
    }
}

impl Sentences for ObjectsView {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        self.message.each(look);
    }
}

impl Sentences for ComparisonView {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        self.left.each(look);
        self.right.each(look);
    }
}

impl Sentences for ClusterView {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        self.problems.each(look);
    }
}

impl Sentences for ClusterCheck {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        self.problems.each(look);
        self.parts.iter_mut().for_each(|part| look(&mut part.purpose));
        self.exporters.iter_mut().for_each(|exporter| look(&mut exporter.purpose));
        self.frameworks.iter_mut().for_each(|framework| look(&mut framework.why));
    }
}

impl Sentences for MonitoringView {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        self.problems.each(look);
    }
}

impl Sentences for CardDetail {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        self.problems.each(look);
        self.advice.each(look);
    }
}

impl Sentences for AdviceView {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        look(&mut self.evidence);
        self.remedies.iter_mut().for_each(|remedy| look(&mut remedy.what));
    }
}

impl Sentences for TaskAdviceView {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        self.advice.each(look);
    }
}

impl Sentences for CriticalPathView {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        self.hints.iter_mut().for_each(|hint| look(&mut hint.message));
    }
}

impl Sentences for ClusterDetail {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        self.cluster.each(look);
        self.aside.each(look);
    }
}

impl Sentences for AsideView {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        // A user's note stays unchanged.
        if self.user.is_none() {
            look(&mut self.why);
        }
        self.failures.iter_mut().for_each(|failure| look(&mut failure.message));
    }
}

impl Sentences for LiveEvent {
    fn each(&mut self, look: &mut dyn FnMut(&mut String)) {
        match self {
            Self::Snapshot(snapshot) => {
                snapshot.runs.each(look);
                snapshot.tasks.each(look);
            }
            Self::Run { run } => run.each(look),
            Self::Task { task, .. } => task.each(look),
            Self::Deleted { .. } | Self::Revoked {} | Self::Pipeline(_) => {}
        }
    }
}
