//! A miniature server: a real database, the engine, a fake cluster.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_admission::Desk;
use cubeloom_compiler::PlanInputs;
use cubeloom_domain::clusters::Clusters;
use cubeloom_domain::executor::{Executor, Facts, GpuFacts, NodeFacts, Taken};
use cubeloom_domain::kubernetes::{KubernetesFacts, QueueFacts};
use cubeloom_domain::nodes::NodeRule;
use cubeloom_domain::plan::{RunContext, RunPlan};
use cubeloom_domain::record::{InstanceRecord, RunRecord, TakenOver, Wish};
use cubeloom_domain::resources::Amount;
use cubeloom_domain::state::{InstanceState, RunState};
use cubeloom_domain::{AttemptKey, Bytes, Clock, JsonMap, RunId, Timestamp};
use cubeloom_engine::{Engine, EngineConfig, GivenUp, Handle, Sharing};
use cubeloom_store::{Options, Store};
use cubeloom_testkit::builders::{self, PipelineBuilder};
use cubeloom_testkit::clock::{SystemClock, TestClock};
use cubeloom_testkit::fake::FakeExecutor;
use cubeloom_testkit::postgres;
use tempfile::TempDir;

/// Runs a test body on SQLite and on PostgreSQL, as two tests.
#[macro_export]
macro_rules! on_both {
    ($(async fn $name:ident($server:ident: $type:ty) $body:block)*) => {
        $(mod $name {
            #[allow(unused_imports, reason = "a body may need none of them")]
            use super::*;

            async fn body($server: $type) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                body(<$type>::sqlite().await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                body(<$type>::postgres().await).await;
            }
        })*
    };
}

/// How long a test waits before it fails.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// More cycles than an event needs for its last effect: to be reported, answered, stored and applied.
const PASSES: u32 = 10;

/// A miniature server.
pub struct Server {
    /// Its name among the servers of its database.
    owner: &'static str,
    url: String,
    pub store: Store,
    pub fake: Arc<FakeExecutor>,
    /// A second cluster, `far`, if a test uses one.
    far: Option<Arc<FakeExecutor>>,
    clusters: Clusters,
    pub clock: Arc<TestClock>,
    pub folder: TempDir,
    facts: Facts,
    /// Interval at which it looks at the database.
    pub period: Duration,
    /// Duration of its leases.
    pub lease: Duration,
    engine: Option<Handle>,
    runs: u128,
    database: Option<postgres::Database>,
}

impl Server {
    /// A server on a new SQLite database.
    pub async fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let url = format!("sqlite:{}", folder.path().join("db.sqlite").display());
        Self::start(url, folder, None).await
    }

    /// A server on a new PostgreSQL database.
    pub async fn postgres() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let database = postgres::Database::create();
        Self::start(database.url(), folder, Some(database)).await
    }

    async fn start(url: String, folder: TempDir, database: Option<postgres::Database>) -> Self {
        let store = Store::open(&Options::new(url.clone())).await.expect("the store opens");
        let clock = Arc::new(TestClock::new());
        let facts = builders::facts("4", "8Gi");
        let fake = FakeExecutor::new(facts.clone(), Arc::new(SystemClock));
        let mut server = Self {
            owner: "test",
            url,
            store,
            fake,
            far: None,
            clusters: Clusters::default(),
            clock,
            folder,
            facts,
            period: Duration::from_millis(50),
            lease: Duration::from_secs(30),
            engine: None,
            runs: 0,
            database,
        };
        server.restart().await;
        server
    }

    /// A second server on the same database and the same cluster.
    pub async fn beside(&self) -> Self {
        let mut server = Self {
            owner: "beside",
            url: self.url.clone(),
            store: Store::open(&Options::new(self.url.clone())).await.expect("the store opens"),
            fake: Arc::clone(&self.fake),
            far: None,
            clusters: Clusters::default(),
            clock: Arc::clone(&self.clock),
            folder: tempfile::tempdir().expect("a scratch folder"),
            facts: self.facts.clone(),
            period: self.period,
            lease: self.lease,
            engine: None,
            // Its runs have other names.
            runs: 1000,
            database: None,
        };
        server.restart().await;
        server
    }

    /// Requests runs of a plan until this server leads one: another may be first.
    pub async fn run_here(&mut self, plan: impl Fn(&mut Self) -> RunPlan) -> RunId {
        loop {
            let plan = plan(self);
            let run = self.run_plan(&plan).await;
            let led = self
                .until(|| async {
                    let mut leaders = Vec::new();
                    for owner in ["test", "beside"] {
                        let led = self.store.led_by(owner).await.unwrap().contains(&run);
                        leaders.extend(led.then_some(owner));
                    }
                    leaders.pop()
                })
                .await;
            if led == self.owner {
                return run;
            }
            self.wish(&run, Wish::Cancel).await;
            assert_eq!(self.ended(&run).await, RunState::Cancelled);
        }
    }

    /// Starts the engine, or aborts and starts another, like a crash and a restart.
    pub async fn restart(&mut self) {
        self.crash().await;
        let config = EngineConfig {
            owner: self.owner.into(),
            lease: self.lease,
            period: self.period,
            sharing: Sharing { grace: Duration::from_secs(1), ..Sharing::default() },
            nodes: NodeRule::default(),
            code: PathBuf::from("/nowhere"),
            workspace: self.folder.path().to_owned(),
        };
        let executor: Arc<dyn Executor> = Arc::clone(&self.fake) as _;
        let far = self.far.iter().map(|far| ("far".to_owned(), Arc::clone(far) as Arc<dyn Executor>));
        self.clusters = Clusters::from_iter(far.chain([("local".to_owned(), executor)]));
        let executors = self.clusters.clone();
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let engine = Engine::start(config, self.store.clone(), executors, None, clock).await;
        self.engine = Some(engine.expect("the engine starts"));
    }

    /// Executes SQL on its PostgreSQL database, bypassing the server.
    pub fn execute(&self, sql: &str) {
        self.database.as_ref().expect("a database of PostgreSQL").execute(sql);
    }

    pub async fn desk(&self) -> Option<Arc<Desk>> {
        self.engine.as_ref().expect("the engine runs").desk("local").await
    }

    /// Restarts the engine on a cluster of these nodes, each of the same size.
    pub async fn with_nodes(&mut self, names: &[&str]) {
        let node = self.facts.nodes[0].clone();
        self.facts.nodes =
            names.iter().map(|name| NodeFacts { name: (*name).into(), ..node.clone() }).collect();
        // Events there carry the time of the engine's own clock.
        self.fake = FakeExecutor::new(self.facts.clone(), Arc::clone(&self.clock) as Arc<dyn Clock>);
        self.restart().await;
    }

    /// Restarts the engine on a cluster of these nodes, each of the same size and with this foreign usage.
    pub async fn with_others(&mut self, nodes: &[(&str, &str)]) {
        let node = self.facts.nodes[0].clone();
        let others = |cpu: &str| Amount { cpu: cpu.parse().expect("an amount of CPU"), ..Amount::default() };
        let taken = |cpu: &str| Taken { others: Some(others(cpu)), ..Taken::default() };
        let node = |(name, cpu): &(&str, &str)| NodeFacts {
            name: (*name).into(),
            taken: Some(taken(cpu)),
            ..node.clone()
        };
        self.facts.nodes = nodes.iter().map(node).collect();
        self.fake = FakeExecutor::new(self.facts.clone(), Arc::new(SystemClock));
        self.restart().await;
    }

    /// Restarts the engine on a cluster whose only node has these GPU models.
    pub async fn with_cards(&mut self, products: &[&str]) {
        let card = |(at, product): (usize, &&str)| GpuFacts {
            uuid: format!("card-{at}"),
            name: (*product).to_owned(),
            memory: Bytes(80 << 30),
            xid: None,
        };
        self.facts.nodes[0].gpus = products.iter().enumerate().map(card).collect();
        self.fake = FakeExecutor::new(self.facts.clone(), Arc::new(SystemClock));
        self.restart().await;
    }

    /// A cluster with the engine's own clock: the test controls how long jobs run on it.
    pub async fn with_its_clock(&mut self) {
        self.fake = FakeExecutor::new(self.facts.clone(), Arc::clone(&self.clock) as Arc<dyn Clock>);
        self.restart().await;
    }

    /// Restarts the engine on a cluster whose own scheduler scales elastic jobs.
    pub async fn with_volcano(&mut self) {
        let volcano = Some(QueueFacts { queue: "default".into(), priority_class: None });
        let kubernetes = Some(KubernetesFacts { volcano, ..KubernetesFacts::default() });
        let facts = Facts { kubernetes, ..self.facts.clone() };
        self.fake = FakeExecutor::new(facts, Arc::new(SystemClock));
        self.restart().await;
    }

    /// Restarts the engine with a second cluster, `far`, of the same size.
    pub async fn join_far(&mut self) -> Arc<FakeExecutor> {
        let far = FakeExecutor::new(self.facts.clone(), Arc::new(SystemClock));
        self.far = Some(Arc::clone(&far));
        self.restart().await;
        far
    }

    /// An administrator decommissions the cluster.
    pub fn give_up(&self) {
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        self.clusters.put("local", Arc::new(GivenUp::new("local", "fake", self.clock.now(), clock)));
    }

    /// Aborts the engine at any point.
    pub async fn crash(&mut self) {
        if let Some(engine) = self.engine.take() {
            engine.abort().await;
        }
    }

    pub fn plan(&mut self, pipeline: &PipelineBuilder) -> RunPlan {
        self.runs += 1;
        let context = RunContext {
            id: RunId::new(
                Timestamp(self.clock.now().0 + i64::try_from(self.runs).unwrap() * 1000),
                self.runs,
            ),
            project: "default".into(),
            user: "tester".into(),
            date: self.clock.now(),
            timezone: None,
            root: None,
            code: None,
        };
        let document = cubeloom_compiler::parse_pipeline(&pipeline.text()).expect("a good document");
        let templates = builders::templates();
        let inputs =
            PlanInputs { context, parameters: JsonMap::new(), templates: &templates, facts: &self.facts };
        cubeloom_compiler::plan(&document, &inputs).expect("a good pipeline").plan
    }

    /// Requests a run.
    pub async fn run(&mut self, pipeline: &PipelineBuilder) -> RunId {
        let plan = self.plan(pipeline);
        self.run_plan(&plan).await
    }

    /// Requests a run of a plan.
    pub async fn run_plan(&self, plan: &RunPlan) -> RunId {
        self.run_with(plan, &TakenOver::default()).await
    }

    /// Requests a run of a plan that reuses results.
    pub async fn run_with(&self, plan: &RunPlan, taken: &TakenOver) -> RunId {
        self.run_created(plan, taken, self.clock.now()).await
    }

    /// Requests a run of a plan, created by a server whose clock showed this time.
    pub async fn run_created(&self, plan: &RunPlan, taken: &TakenOver, created_at: Timestamp) -> RunId {
        let record = RunRecord {
            id: plan.context.id.clone(),
            project: plan.context.project.clone(),
            pipeline: plan.pipeline.clone(),
            user: "tester".into(),
            state: RunState::Queued,
            created_at,
            started_at: None,
            ended_at: None,
            tasks: u32::try_from(plan.tasks.len()).unwrap(),
            message: None,
            version: None,
            parameters: JsonMap::new(),
            acting: None,
            parent: None,
            cause: Default::default(),
        };
        self.store.create_run_with(&record, plan, taken, None).await.expect("the run is stored");
        record.id
    }

    /// Waits for the end of a run.
    pub async fn ended(&self, run: &RunId) -> RunState {
        self.until(|| async {
            let record = self.store.run(run).await.unwrap().unwrap();
            record.state.is_final().then_some(record.state)
        })
        .await
    }

    /// Runs a pipeline to its end.
    pub async fn run_to_end(&mut self, pipeline: &PipelineBuilder) -> (RunId, RunState) {
        let run = self.run(pipeline).await;
        let state = self.ended(&run).await;
        (run, state)
    }

    /// Sends a command for a run.
    pub async fn wish(&self, run: &RunId, wish: Wish) {
        self.store.add_wish(run, &wish, "tester", self.clock.now(), None).await.expect("the wish is stored");
    }

    /// Gives the lease of one of the engine's runs to another server.
    pub async fn lose_lease(&self, run: &RunId) {
        let later = self.clock.now().plus(Duration::from_secs(3600));
        let stolen = self.store.acquire("another", later, Duration::from_secs(30), 1).await.unwrap();
        assert_eq!(stolen, std::slice::from_ref(run));
    }

    /// Waits until these tasks, by name, have running attempts.
    pub async fn running(&self, tasks: &[&str]) -> Vec<AttemptKey> {
        self.until(|| async {
            let running = self.fake.running();
            let mut names: Vec<&str> = running.iter().map(|key| key.task.as_str()).collect();
            names.sort_unstable();
            (names == tasks).then_some(running)
        })
        .await
    }

    /// The instances of a run as `task.instance=state`.
    pub async fn states(&self, run: &RunId) -> Vec<String> {
        let plan = self.store.plan(run).await.unwrap().unwrap();
        let word = |row: &InstanceRecord| {
            format!("{}.{}={}", plan.task(row.task).name, row.instance, row.state.as_str())
        };
        let mut states: Vec<String> = self.store.instances(run).await.unwrap().iter().map(word).collect();
        states.sort();
        states
    }

    pub async fn instance(&self, run: &RunId, task: &str, instance: u32) -> Option<InstanceRecord> {
        let plan = self.store.plan(run).await.unwrap().unwrap();
        let ix = plan.find(task).expect("a task of the plan");
        let rows = self.store.instances(run).await.unwrap();
        rows.into_iter().find(|row| row.task == ix && row.instance == instance)
    }

    /// Waits until the instance of a task is in a state that `matches`.
    pub async fn instance_until(
        &self,
        run: &RunId,
        task: &str,
        matches: fn(&InstanceState) -> bool,
    ) -> InstanceRecord {
        self.until(|| async { self.instance(run, task, 0).await.filter(|row| matches(&row.state)) }).await
    }

    /// No attempt ran twice, and nothing is reserved any more.
    pub async fn assert_clean(&self) {
        assert!(self.fake.executions().values().all(|count| *count == 1), "{:?}", self.fake.executions());
        self.until(|| async { (self.fake.bound() == 0).then_some(()) }).await;
    }

    /// Waits for enough looks and cycles that the engine has done all that it would do on its own.
    pub async fn passes(&self) {
        let engine = self.engine.as_ref().expect("the engine runs");
        let look = async || {
            engine.wake();
            // The answer comes after that look, and after every report before it.
            engine.tally().await.expect("the engine goes on");
            // Let calls to the cluster outside the loop, and delayed writes, complete.
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        let looks = async {
            for _ in 0..PASSES {
                look().await;
            }
        };
        tokio::time::timeout(PATIENCE, looks).await.expect("the engine does not look");
    }

    /// Polls until there is a result.
    pub async fn until<T, F: Future<Output = Option<T>>>(&self, ask: impl Fn() -> F) -> T {
        let answer = async {
            loop {
                if let Some(answer) = ask().await {
                    return answer;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        tokio::time::timeout(PATIENCE, answer).await.expect("what the test waits for does not happen")
    }
}
