//! The resources of a command: the data folder, the database, the templates, and this machine as a cluster.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use cubeloom_domain::clusters::Clusters;
use cubeloom_domain::executor::{Executor, Facts};
use cubeloom_domain::resources::Amount;
use cubeloom_domain::template::TemplateSet;
use cubeloom_domain::{Bytes, Clock, Cpu, RunId, Timestamp};
use cubeloom_engine::{Engine, EngineConfig, Handle, Sharing};
use cubeloom_executor_local::{LocalConfig, LocalExecutor, failpoint, is_for_installers};
use cubeloom_store::{Options, Store};
use cubeloom_web::secrets::{Keyring, StoreVault};
use cubeloom_web::sub_runs::SubRuns;
use cubeloom_web::{Folders, Planner};
use tokio::sync::watch;

use crate::clock::MachineClock;
use crate::clusters::{self, Keeper, Maker};
use crate::config::{Config, Origin};
use crate::exit::Invalid;
use crate::lock::EngineLock;
use crate::paths::DataFolder;
use crate::{machine, sealing, templates, wake};

/// The project of the command line's runs.
pub const PROJECT: &str = "default";

/// The resources of a command.
pub struct Platform {
    pub config: Config,
    pub data: DataFolder,
    pub store: Store,
    pub clock: Arc<MachineClock>,
    executor: Mutex<Option<Arc<LocalExecutor>>>,
    clusters: Mutex<Option<Clusters>>,
}

/// An engine in this process, and the resources that it needs.
pub struct RunningEngine {
    pub handle: Arc<Handle>,
    listener: tokio::task::JoinHandle<()>,
    _lock: EngineLock,
}

impl Platform {
    /// Opens the data folder and the database.
    pub async fn open(config: Config) -> anyhow::Result<Self> {
        let data = DataFolder::open(&config.data)?;
        let url = config.settings.database.url.clone().unwrap_or_else(|| data.database_url());
        let mails = config.settings.smtp.host.is_some();
        let store = Store::open(&Options { mails, ..Options::new(url) }).await?;
        let clock = Arc::new(MachineClock::start());
        store.complete_first_project(clock.now(), config.settings.sizing.default).await?;
        Ok(Self { config, data, store, clock, executor: Mutex::default(), clusters: Mutex::default() })
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Reads the folder of templates and stores new ones. Warns of unusable ones.
    pub async fn templates(&self) -> anyhow::Result<TemplateSet> {
        let root = templates_root(&self.config)?;
        let (here, refused) = templates::usable(&root)?;
        cubeloom_compiler::forget_expressions();
        for sentence in refused {
            tracing::warn!("{sentence}");
        }
        templates::provide(&root, &here, &self.data)?;
        templates::store(&self.store, here, self.now()).await
    }

    /// A number that changes with the folder of templates.
    pub fn templates_stamp(&self) -> u64 {
        templates_root(&self.config).map(|root| templates::stamp(&root)).unwrap_or_default()
    }

    /// The folders of the server.
    pub fn folders(&self) -> Folders {
        let data = &self.data;
        Folders {
            data: data.path().into(),
            code: data.code(),
            templates: data.templates(),
            workspace: data.workspace(),
        }
    }

    /// The encryption keys of secrets.
    pub fn keyring(&self) -> anyhow::Result<Keyring> {
        sealing::keyring(&self.config)
    }

    /// The facts of this machine, and of the command line's project.
    pub async fn facts_for(&self, user: &str) -> anyhow::Result<Facts> {
        let mut facts = self.facts()?;
        cubeloom_web::belongings::add_to_facts(&self.store, PROJECT, user, &mut facts).await?;
        Ok(facts)
    }

    /// The facts of this machine.
    pub fn facts(&self) -> anyhow::Result<Facts> {
        let mut facts = self.executor()?.facts();
        // Another process runs the jobs: it may have secrets whose variables are not set here.
        if EngineLock::take(&self.data.lock())?.is_err() {
            facts.secrets = self.config.settings.secrets.keys().cloned().collect();
        }
        Ok(facts)
    }

    /// Releases what planning used of this machine, because another process is its engine.
    pub fn leave_machine(&self) {
        self.executor.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// The clusters of this server; every call returns the same.
    pub fn clusters(&self) -> anyhow::Result<Clusters> {
        let executor = self.executor()?;
        let mut slot = self.clusters.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(slot.get_or_insert_with(|| clusters::alone(executor)).clone())
    }

    /// Creates the executors of added clusters.
    pub fn cluster_maker(&self) -> anyhow::Result<Arc<Maker>> {
        Ok(Arc::new(Maker {
            data: self.data.path().into(),
            workspace: self.data.workspace(),
            code: self.data.code(),
            local: self.executor()?,
            vault: Arc::new(self.vault()?),
            keeps: Arc::new(self.store.clone()),
            slurm: self.config.settings.slurm.clone(),
            store: self.store.clone(),
            keys: self.keyring()?,
            clock: self.clock.clone(),
        }))
    }

    fn vault(&self) -> anyhow::Result<StoreVault> {
        Ok(StoreVault::new(self.store.clone(), self.keyring()?, self.clock.clone()))
    }

    /// Synchronizes the clusters with the database.
    pub fn cluster_keeper(&self) -> anyhow::Result<Keeper> {
        Ok(Keeper::new(self.store.clone(), self.keyring()?, self.cluster_maker()?, self.clusters()?))
    }

    fn executor(&self) -> anyhow::Result<Arc<LocalExecutor>> {
        let mut slot = self.executor.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(executor) = slot.as_ref() {
            return Ok(Arc::clone(executor));
        }
        let mut config = local_config(&self.config, &self.data)?;
        config.vault = Some(Arc::new(self.vault()?));
        let executor = LocalExecutor::new(config, self.clock.clone())?;
        Ok(Arc::clone(slot.insert(executor)))
    }

    /// The inputs of planning on the server, for runs that tasks start.
    pub fn planner(&self, templates: watch::Receiver<Arc<TemplateSet>>) -> anyhow::Result<Planner> {
        Ok(Planner {
            store: self.store.clone(),
            clusters: self.clusters()?,
            folders: self.folders(),
            templates,
            clock: self.clock.clone(),
        })
    }

    /// Starts the engine in this process.
    pub async fn start_engine(
        &self,
        lock: EngineLock,
        templates: watch::Receiver<Arc<TemplateSet>>,
    ) -> anyhow::Result<RunningEngine> {
        let clusters = self.clusters()?;
        let runs = SubRuns::new(self.planner(templates)?);
        let settings = &self.config.settings;
        self.store.keep_reserve(settings.database.reserve.0, settings.local.free.map(|free| free.0));
        let config = EngineConfig {
            owner: machine::owner(self.data.path()),
            lease: settings.engine.lease.0,
            period: settings.engine.period.0,
            sharing: Sharing {
                aging: settings.sharing.aging.0,
                half_life: settings.sharing.half_life.0,
                cool_down: settings.sharing.cool_down.0,
                grace: settings.local.grace.0,
                ..Sharing::default()
            },
            nodes: settings.nodes.rule(),
            code: self.data.code(),
            workspace: self.data.workspace(),
        };
        let socket = wake::listen(&self.data.wake())
            .with_context(|| format!("the socket {} cannot be created", self.data.wake().display()))?;
        let (store, started) = (self.store.clone(), Arc::clone(&runs));
        let engine = Engine::start(config, store, clusters, Some(started), self.clock.clone()).await?;
        runs.listen(engine.events());
        let handle = Arc::new(engine);
        let woken = Arc::downgrade(&handle);
        let listener = tokio::spawn(async move {
            let mut byte = [0; 1];
            while socket.recv(&mut byte).await.is_ok() {
                match woken.upgrade() {
                    Some(handle) => handle.wake(),
                    None => return,
                }
            }
        });
        Ok(RunningEngine { handle, listener, _lock: lock })
    }

    /// The run that a user refers to: an id, its beginning or end, or `latest`.
    ///
    /// # Errors
    /// When no run matches, or several do.
    pub async fn find_run(&self, text: &str) -> anyhow::Result<RunId> {
        if text == "latest" {
            let filter = cubeloom_store::RunFilter { top: true, limit: Some(1), ..Default::default() };
            let newest = self.store.runs(&filter).await?.into_iter().next();
            return newest.map(|run| run.id).ok_or_else(|| Invalid::error("there are no runs yet"));
        }
        let mut found = self.store.find_run(text).await?;
        match (found.pop(), found.len()) {
            (Some(run), 0) => Ok(run),
            (None, _) => Err(Invalid::error(format!(
                "there is no run `{text}`: enter an id, the beginning or end of one, or `latest` (see `cubeloom runs`)"
            ))),
            (Some(_), others) => Err(Invalid::error(format!(
                "`{text}` matches {} runs or more: enter more of the id (see `cubeloom runs`)",
                others + 1
            ))),
        }
    }

    /// A run's folder, shared by its tasks.
    pub fn run_dir(&self, run: &RunId) -> PathBuf {
        self.data.run_dir(PROJECT, run.as_str())
    }
}

impl RunningEngine {
    /// Stops the engine; jobs continue.
    pub async fn stop(self) {
        self.listener.abort();
        let _ = self.listener.await;
        if let Ok(handle) = Arc::try_unwrap(self.handle) {
            handle.stop().await;
        }
    }
}

/// The folder of the task templates.
pub fn templates_root(config: &Config) -> anyhow::Result<PathBuf> {
    templates::find(config.settings.server.templates.as_deref(), &machine::program()?)
}

/// The templates of the folder, and the installed ones if there is a database: for commands that need no data
/// folder and store nothing.
pub async fn known_templates(config: &Config) -> anyhow::Result<TemplateSet> {
    let (mut set, refused) = templates::usable(&templates_root(config)?)?;
    refused.iter().for_each(|sentence| tracing::warn!("{sentence}"));
    let file = config.data.join("db/cubeloom.sqlite");
    let url = match &config.settings.database.url {
        Some(url) => url.clone(),
        None if file.is_file() => format!("sqlite:{}", file.display()),
        None => return Ok(set),
    };
    let store = Store::open(&Options::new(url)).await?;
    for installed in store.templates().await?.into_values().flat_map(|versions| versions.into_values()) {
        let version = installed.template.version.clone();
        if !version.contains('+') {
            set.entry(installed.template.name.clone()).or_default().entry(version).or_insert(installed);
        }
    }
    store.close().await;
    Ok(set)
}

pub fn local_config(config: &Config, data: &DataFolder) -> anyhow::Result<LocalConfig> {
    let local = &config.settings.local;
    let mut settings = LocalConfig::new(data.path(), machine::shim()?);
    settings.bin = machine::program_for_workers(&data.tools())?;
    settings.uid_base = local.uid_base;
    settings.grace = local.grace.0;
    settings.path.clone_from(&local.path);
    (settings.pids, settings.nofile, settings.adoption) = (local.pids, local.nofile, local.adoption);
    (settings.log, settings.python_sources) = (local.log.0, local.python_sources);
    settings.free = local.free.map(|free| free.0);
    (settings.run_disk, settings.workspace) = (local.run_disk.map(|most| most.0), local.workspace.0);
    settings.sandbox = config.settings.sandbox;
    settings.private = private(config);
    settings.volumes.clone_from(&config.settings.volumes);
    settings.shim_env = failpoint::environment();
    let variables =
        std::env::vars_os().filter_map(|(name, value)| name.into_string().ok().zip(value.into_string().ok()));
    settings.installer_env = variables.filter(|(name, _)| is_for_installers(name)).collect();
    settings.capacity = capacity(local.cpu, local.memory);
    for (name, secret) in &config.settings.secrets {
        match secret.source() {
            Some(source) => _ = settings.secrets.insert(name.clone(), source),
            None => tracing::warn!("the variable of the secret `{name}` is not set: tasks cannot use it"),
        }
    }
    Ok(settings)
}

/// The paths of the server's settings and keys outside of the data folder.
fn private(config: &Config) -> Vec<PathBuf> {
    let files = config.origins.values().filter_map(|origin| match origin {
        Origin::File(path) => Some(path.clone()),
        Origin::Default | Origin::Variable(_) | Origin::Flag(_) => None,
    });
    let mut private: Vec<PathBuf> = files.chain(config.settings.server.keys.clone()).collect();
    private.sort();
    private.dedup();
    private
}

/// The configured capacity for jobs; unset parts are the machine's.
fn capacity(cpu: Option<Cpu>, memory: Option<Bytes>) -> Option<Amount> {
    if cpu.is_none() && memory.is_none() {
        return None;
    }
    let cpu = cpu.unwrap_or_else(machine::all_cores);
    Some(Amount { cpu, memory: memory.unwrap_or_else(machine::most_memory), gpus: u32::MAX })
}
