//! A server inside the benchmark: a store, an engine, a cluster.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use cubeloom_compiler::{Document, PlanInputs};
use cubeloom_domain::clusters::Clusters;
use cubeloom_domain::event::RunEvent;
use cubeloom_domain::executor::{Executor, Facts};
use cubeloom_domain::nodes::NodeRule;
use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::plan::{RunContext, RunPlan};
use cubeloom_domain::record::RunRecord;
use cubeloom_domain::resources::Amount;
use cubeloom_domain::state::{AttemptState, RunState};
use cubeloom_domain::template::TemplateSet;
use cubeloom_domain::{Bytes, Clock, Cpu, JsonMap, RunId};
use cubeloom_engine::{Engine, EngineConfig, Handle, Sharing};
use cubeloom_executor_local::{LocalConfig, LocalExecutor};
use cubeloom_store::{Options, RunFilter, Store};
use cubeloom_testkit::builders::{self, PipelineBuilder};
use cubeloom_testkit::fake::FakeExecutor;

use crate::clock::MachineClock;

pub struct Rig {
    pub store: Store,
    pub clock: Arc<dyn Clock>,
    facts: Facts,
    templates: TemplateSet,
    engine: Option<Handle>,
    runs: u128,
}

impl Rig {
    /// With processes of this machine, and SQLite. The benchmark's programs are in `folder`, next to the data
    /// folder, which workers cannot read.
    pub async fn local(folder: &Path) -> anyhow::Result<Self> {
        let clock: Arc<dyn Clock> = Arc::new(MachineClock::start());
        let data = crate::paths::DataFolder::open(&folder.join("data"))?;
        // Capacity for 40 tasks of a whole CPU each: the case measures the cost of running them, not their
        // quota.
        let capacity = Some(Amount { cpu: Cpu(64_000), memory: Bytes(8 << 30), gpus: 0 });
        let config = LocalConfig { capacity, ..LocalConfig::new(data.path(), crate::machine::shim()?) };
        let executor: Arc<dyn Executor> = LocalExecutor::new(config, Arc::clone(&clock))?;
        let url = format!("sqlite:{}", data.path().join("db/bench.sqlite").display());
        Self::start(&url, data.path(), executor, clock, command_template(folder)?).await
    }

    /// On a simulated cluster with unlimited capacity.
    pub async fn fake(url: &str, folder: &Path) -> anyhow::Result<Self> {
        let clock: Arc<dyn Clock> = Arc::new(MachineClock::start());
        let executor = FakeExecutor::forgetful(builders::facts("1000000", "1Pi"), Arc::clone(&clock));
        Self::start(url, folder, executor, clock, builders::templates()).await
    }

    async fn start(
        url: &str,
        folder: &Path,
        executor: Arc<dyn Executor>,
        clock: Arc<dyn Clock>,
        templates: TemplateSet,
    ) -> anyhow::Result<Self> {
        let store = Store::open(&Options::new(url)).await?;
        let config = EngineConfig {
            owner: "bench".into(),
            lease: Duration::from_secs(30),
            period: Duration::from_secs(1),
            sharing: Sharing { grace: Duration::from_secs(5), ..Sharing::default() },
            nodes: NodeRule::default(),
            code: folder.join("code"),
            workspace: folder.join("workspace"),
        };
        let facts = executor.facts();
        let executors = Clusters::from_iter([(facts.cluster.clone(), executor)]);
        let engine = Engine::start(config, store.clone(), executors, None, Arc::clone(&clock)).await?;
        Ok(Self { store, clock, facts, templates, engine: Some(engine), runs: 0 })
    }

    pub fn plan(&mut self, document: &Document) -> anyhow::Result<RunPlan> {
        self.runs += 1;
        let context = RunContext {
            id: RunId::new(self.clock.now(), self.runs),
            project: "default".into(),
            user: "bench".into(),
            date: self.clock.now(),
            timezone: None,
            root: None,
            code: None,
        };
        let inputs = PlanInputs {
            context,
            parameters: JsonMap::new(),
            templates: &self.templates,
            facts: &self.facts,
        };
        match cubeloom_compiler::plan(document, &inputs) {
            Ok(planned) => Ok(planned.plan),
            Err(problems) => bail!("the benchmark's pipeline is not valid: {}", problems[0]),
        }
    }

    pub async fn stop(&mut self) {
        if let Some(engine) = self.engine.take() {
            engine.stop().await;
        }
    }

    /// Stores a run for execution.
    pub async fn ask_for(&self, plan: &RunPlan) -> anyhow::Result<RunRecord> {
        let record = RunRecord {
            id: plan.context.id.clone(),
            project: "default".into(),
            pipeline: plan.pipeline.clone(),
            user: "bench".into(),
            state: RunState::Queued,
            created_at: self.clock.now(),
            started_at: None,
            ended_at: None,
            tasks: u32::try_from(plan.tasks.len())?,
            message: None,
            version: None,
            parameters: JsonMap::new(),
            acting: None,
            parent: None,
            cause: Default::default(),
        };
        self.store.create_run(&record, plan, None).await?;
        Ok(record)
    }

    /// Waits until every run in the database has succeeded.
    pub async fn wait_for_all(&self) -> anyhow::Result<()> {
        while !self
            .store
            .runs(&RunFilter::default())
            .await?
            .iter()
            .all(|run| run.state == RunState::Succeeded)
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Runs a plan to its end; returns the time from its first row to its stored end.
    pub async fn run(&self, plan: RunPlan) -> anyhow::Result<Duration> {
        let mut events = self.engine.as_ref().context("the engine was ended")?.events();
        let start = Instant::now();
        let record = self.ask_for(&plan).await?;
        drop(plan);
        loop {
            let run = match events.recv().await {
                Ok(RunEvent::Run(run)) if run.id == record.id => *run,
                Ok(_) => continue,
                Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => {
                    self.store.run(&record.id).await?.context("the run is gone")?
                }
                Err(error) => bail!("the engine ended: {error}"),
            };
            match run.state {
                RunState::Succeeded => return Ok(start.elapsed()),
                state if state.is_final() => {
                    bail!("the benchmark's run {}: {}", state.as_str(), self.why(&run.id).await?)
                }
                _ => {}
            }
        }
    }

    /// The outcome of a run's first failed attempt.
    async fn why(&self, run: &RunId) -> anyhow::Result<String> {
        let attempts = self.store.attempts(run).await?;
        let failed = attempts.into_iter().find_map(|attempt| match attempt.state {
            AttemptState::Ended { outcome: Outcome::Failed(failure), .. } => Some(failure.message),
            _ => None,
        });
        Ok(failed.unwrap_or_else(|| "no attempt has failed".into()))
    }

    /// Plans and runs a pipeline; returns the time of the run alone.
    pub async fn run_pipeline(&mut self, pipeline: &PipelineBuilder) -> anyhow::Result<Duration> {
        let plan = self.plan(&document(pipeline)?)?;
        self.run(plan).await
    }
}

/// The document of a pipeline builder.
pub fn document(pipeline: &PipelineBuilder) -> anyhow::Result<Document> {
    match cubeloom_compiler::parse_pipeline(&pipeline.text()) {
        Ok(document) => Ok(document),
        Err(problems) => bail!("the benchmark's pipeline cannot be read: {}", problems[0]),
    }
}

/// A template `noop` that runs its argument `command`.
fn command_template(folder: &Path) -> anyhow::Result<TemplateSet> {
    let mut templates = builders::templates();
    let installed = templates.get_mut("noop").and_then(|versions| versions.get_mut("1.0.0"));
    let installed = installed.context("the template of the benchmarks is missing")?;
    let source = folder.join("bench-template");
    std::fs::create_dir_all(&source)?;
    installed.folder = source.display().to_string();
    installed.template.command = vec!["{{ args.command }}".into()];
    installed.template.parameters = serde_json::json!({
        "type": "object",
        "properties": {"command": {"type": "array", "items": {"type": "string"}}},
    });
    Ok(templates)
}
