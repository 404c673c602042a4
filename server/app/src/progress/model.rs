//! The known state of a run: its plan, and the latest record of every instance and attempt.

use std::collections::BTreeMap;
use std::sync::Arc;

use cubeloom_domain::event::RunEvent;
use cubeloom_domain::executor::Progress;
use cubeloom_domain::plan::{PlannedTask, RunPlan};
use cubeloom_domain::record::{AttemptRecord, InstanceRecord, RunRecord};
use cubeloom_domain::search::{Best, Trial};
use cubeloom_domain::{AttemptKey, InstanceIx, RunId, TaskIx};
use cubeloom_store::Store;
use serde_json::Value;

#[derive(Clone, Debug)]
pub struct View {
    pub run: RunRecord,
    pub plan: Arc<RunPlan>,
    /// Its tasks, in the plan's order.
    pub tasks: Vec<TaskView>,
}

#[derive(Clone, Debug, Default)]
pub struct TaskView {
    /// Number of instances, if known.
    pub expected: Option<usize>,
    /// The values of its search's trials, by instance.
    pub trials: Vec<Value>,
    /// The instances whose dependencies are satisfied.
    pub instances: BTreeMap<InstanceIx, InstanceView>,
}

#[derive(Clone, Debug)]
pub struct InstanceView {
    pub record: InstanceRecord,
    pub attempt: Option<AttemptRecord>,
    /// What is being prepared before the attempt can start.
    pub preparing: Option<String>,
    pub progress: Option<Progress>,
}

impl TaskView {
    pub fn best(&self, planned: &PlannedTask) -> Option<Best<'_>> {
        planned.search()?.best(self.instances.iter().filter_map(|(instance, one)| {
            let item = self.trials.get(*instance as usize)?;
            Some(Trial { instance: *instance, item, state: &one.record.state, report: &one.record.report })
        }))
    }
}

impl View {
    /// Loads a run; `None` if it does not exist.
    pub async fn load(store: &Store, run: &RunId) -> anyhow::Result<Option<Self>> {
        let (Some(record), Some(plan)) = (store.run(run).await?, store.plan(run).await?) else {
            return Ok(None);
        };
        let mut view = Self::new(record, plan);
        view.reload(store).await?;
        Ok(Some(view))
    }

    /// A run without any started task.
    pub fn new(run: RunRecord, plan: RunPlan) -> Self {
        let tasks = vec![TaskView::default(); plan.tasks.len()];
        Self { run, plan: Arc::new(plan), tasks }
    }

    /// Reloads everything but the plan.
    pub async fn reload(&mut self, store: &Store) -> anyhow::Result<()> {
        let id = self.run.id.clone();
        if let Some(record) = store.run(&id).await? {
            self.run = record;
        }
        for expansion in store.expansions(&id).await? {
            let is_search = self.plan.task(expansion.task).search().is_some();
            let task = &mut self.tasks[expansion.task.index()];
            task.expected = Some(expansion.items.len());
            if is_search {
                task.trials = expansion.items;
            }
        }
        for instance in store.instances(&id).await? {
            self.instance(instance);
        }
        for attempt in store.attempts(&id).await? {
            self.attempt(attempt);
        }
        Ok(())
    }

    /// Applies an event of the engine.
    pub fn apply(&mut self, event: RunEvent) {
        match event {
            RunEvent::Run(run) if run.id == self.run.id => self.run = *run,
            RunEvent::Instance(instance) if instance.run == self.run.id => self.instance(*instance),
            RunEvent::Attempt(attempt) if attempt.key.run == self.run.id => self.attempt(*attempt),
            RunEvent::Preparing(key, what) if key.run == self.run.id => {
                if let Some(instance) = self.of_key(&key) {
                    instance.preparing = Some(what);
                }
            }
            RunEvent::Progress(key, progress) if key.run == self.run.id => {
                if let Some(instance) = self.of_key(&key) {
                    instance.progress = Some(progress);
                }
            }
            _ => {}
        }
    }

    pub fn planned(&self, task: TaskIx) -> &PlannedTask {
        self.plan.task(task)
    }

    /// The tasks with their plans, in plan order.
    pub fn tasks(&self) -> impl Iterator<Item = (&PlannedTask, &TaskView)> {
        self.plan.tasks.iter().zip(&self.tasks)
    }

    fn instance(&mut self, record: InstanceRecord) {
        let Some(task) = self.tasks.get_mut(record.task.index()) else { return };
        match task.instances.get_mut(&record.instance) {
            Some(view) => view.record = record,
            None => {
                let view = InstanceView { record, attempt: None, preparing: None, progress: None };
                task.instances.insert(view.record.instance, view);
            }
        }
    }

    fn attempt(&mut self, attempt: AttemptRecord) {
        let Some(task) = self.tasks.get_mut(attempt.task.index()) else { return };
        let Some(view) = task.instances.get_mut(&attempt.key.instance) else {
            // The engine sends attempts before instances: a new instance's record follows.
            return;
        };
        let newer = view.attempt.as_ref().is_none_or(|known| known.key.n <= attempt.key.n);
        if newer {
            if view.attempt.as_ref().is_some_and(|known| known.key.n < attempt.key.n) {
                (view.preparing, view.progress) = (None, None);
            }
            view.attempt = Some(attempt);
        }
    }

    fn of_key(&mut self, key: &AttemptKey) -> Option<&mut InstanceView> {
        let task = self.plan.find(&key.task)?;
        self.tasks.get_mut(task.index())?.instances.get_mut(&key.instance)
    }
}
