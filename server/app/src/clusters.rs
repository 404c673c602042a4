//! The clusters of a server: its own machine, and those added by administrators.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::Clock;
use cubeloom_domain::clusters::{AccessKind, ClusterFault, ClusterRecord, ClusterSettings, Clusters, LOCAL};
use cubeloom_domain::executor::Executor;
use cubeloom_domain::identity::Keeps;
use cubeloom_domain::slurm::SlurmCalls;
use cubeloom_domain::vault::Vault;
use cubeloom_engine::GivenUp;
use cubeloom_executor_kubernetes::{
    Access, AccessError, CardLines, CardMeter, CardsWorked, KubernetesConfig, KubernetesExecutor, Owners,
    PodMeter, PodsUsed,
};
use cubeloom_executor_slurm::{PeopleOf, SlurmConfig, SlurmExecutor};
use cubeloom_store::{Store, StoreError};
use cubeloom_web::clusters::{cards_over_time, cards_worked, open_kubeconfig, pods_used};
use cubeloom_web::secrets::Keyring;

/// Creates the executors of added clusters.
pub struct Maker {
    pub data: PathBuf,
    pub workspace: PathBuf,
    pub code: PathBuf,
    /// The executor of this machine, which knows the owner of each project's files.
    pub local: Arc<dyn Executor>,
    /// The secrets of projects and users.
    pub vault: Arc<dyn Vault>,
    /// The retention settings of projects.
    pub keeps: Arc<dyn Keeps>,
    /// The transport of Slurm commands, by cluster name.
    pub slurm: BTreeMap<String, SlurmCalls>,
    /// The store, which has the Prometheus settings of clusters.
    pub store: Store,
    /// The keys that decrypt the clusters' secrets.
    pub keys: Keyring,
    pub clock: Arc<dyn Clock>,
}

impl Maker {
    /// Creates the executor of a cluster, without contacting it.
    ///
    /// # Errors
    /// The reason why its settings are unusable.
    pub fn make(
        &self,
        name: &str,
        settings: &ClusterSettings,
        kubeconfig: Option<String>,
    ) -> Result<Arc<dyn Executor>, ClusterFault> {
        if let Some(since) = settings.given_up_at {
            let kind = match settings.access {
                AccessKind::Slurm => "slurm",
                AccessKind::InCluster | AccessKind::Kubeconfig => "kubernetes",
            };
            return Ok(Arc::new(GivenUp::new(name, kind, since, Arc::clone(&self.clock))));
        }
        let access = match (settings.access, kubeconfig) {
            (AccessKind::InCluster, _) => Access::InCluster,
            (AccessKind::Kubeconfig, text) => {
                Access::Kubeconfig { text: text.unwrap_or_default(), context: settings.context.clone() }
            }
            (AccessKind::Slurm, _) => return self.slurm(name, settings),
        };
        access.check().map_err(fault)?;
        let local = Arc::clone(&self.local);
        let (store, keys, cluster) = (self.store.clone(), self.keys.clone(), name.to_owned());
        let measures = (store, keys, cluster);
        let (of_pods, of_lines) = (measures.clone(), measures.clone());
        let cards: Arc<CardsWorked> = Arc::new(move |object, ran| {
            let (store, keys, cluster) = measures.clone();
            Box::pin(async move { cards_worked(&store, &keys, &cluster, &object, ran).await })
        });
        let pods: Arc<PodsUsed> = Arc::new(move |object, ran| {
            let (store, keys, cluster) = of_pods.clone();
            Box::pin(async move { pods_used(&store, &keys, &cluster, &object, ran).await })
        });
        let lines: Arc<CardLines> = Arc::new(move |object, ran| {
            let (store, keys, cluster) = of_lines.clone();
            Box::pin(async move { cards_over_time(&store, &keys, &cluster, &object, ran).await })
        });
        let config = KubernetesConfig {
            name: name.to_owned(),
            access,
            facts: settings.facts.clone(),
            data: self.data.clone(),
            workspace: self.workspace.clone(),
            code: self.code.clone(),
            owners: Owners(Arc::new(move |project| local.owner(project).ok().flatten())),
            vault: Some(Arc::clone(&self.vault)),
            cards: Some(CardMeter { worked: cards, lines }),
            pods: Some(PodMeter(pods)),
            keep: Duration::from_secs(settings.keep),
            keeps: Some(Arc::clone(&self.keeps)),
            patience: Duration::from_secs(settings.patience),
        };
        Ok(KubernetesExecutor::new(config, Arc::clone(&self.clock)))
    }

    fn slurm(&self, name: &str, settings: &ClusterSettings) -> Result<Arc<dyn Executor>, ClusterFault> {
        let said = settings.slurm.clone().ok_or_else(|| ClusterFault {
            field: "/slurm",
            message: "describe the cluster's resources and the accounts of its jobs: see docs/slurm.md"
                .into(),
        })?;
        let calls = self.slurm.get(name).cloned().ok_or_else(|| ClusterFault {
            field: "/name",
            message: format!(
                "the configuration has no section `[slurm.{name}]` for the commands of this cluster: add it, and restart the server"
            ),
        })?;
        if calls.become_account.is_empty() {
            tracing::warn!(
                cluster = name,
                "all jobs of the cluster run as the server's own account, as `become` is empty in its settings: tasks can read the server's data"
            );
        }
        let store = self.store.clone();
        let people: Arc<PeopleOf> = Arc::new(move |project| {
            let store = store.clone();
            Box::pin(async move { store.people_of(&project).await.map_err(|error| error.to_string()) })
        });
        let config = SlurmConfig {
            name: name.to_owned(),
            facts: said.facts,
            way: said.way,
            mirror: said.mirror,
            people: Some(people),
            every: Duration::from_secs(calls.every),
            calls,
            data: self.data.clone(),
            code: self.code.clone(),
            vault: Some(Arc::clone(&self.vault)),
        };
        Ok(SlurmExecutor::new(config, Arc::clone(&self.clock)))
    }
}

fn fault(error: AccessError) -> ClusterFault {
    let field = match error {
        AccessError::NoContext(..) | AccessError::NoCurrent(_) => "/context",
        AccessError::NotInside(_) => "/access",
        AccessError::Unreadable(_) | AccessError::Outside(_) | AccessError::Unsupported(_) => "/kubeconfig",
    };
    ClusterFault { field, message: error.to_string() }
}

/// Synchronizes the server's clusters with the database, because other servers add clusters, too.
pub struct Keeper {
    store: Store,
    keys: Keyring,
    maker: Arc<Maker>,
    clusters: Clusters,
    /// The revisions that the executors were created from.
    made: BTreeMap<String, u64>,
}

impl Keeper {
    /// With these clusters, which so far contain only this machine.
    pub fn new(store: Store, keys: Keyring, maker: Arc<Maker>, clusters: Clusters) -> Self {
        Self { store, keys, maker, clusters, made: BTreeMap::new() }
    }

    /// Applies changes from the database.
    pub async fn look(&mut self) -> Result<(), StoreError> {
        let records = self.store.clusters().await?;
        for record in &records {
            if self.made.get(&record.name) != Some(&record.revision) {
                self.take(record);
            }
        }
        let gone = |name: &String| !records.iter().any(|record| record.name == *name);
        for name in self.made.keys().filter(|name| gone(name)).cloned().collect::<Vec<_>>() {
            self.clusters.remove(&name);
            self.made.remove(&name);
        }
        Ok(())
    }

    /// Logs an unusable cluster once, and again when it has changed.
    fn take(&mut self, record: &ClusterRecord) {
        let first = self.made.insert(record.name.clone(), record.revision).is_none();
        // A cluster that this server's own API has just stored and created stays.
        if first && self.clusters.get(&record.name).is_some() {
            return;
        }
        let opened = match record.settings.given_up_at {
            Some(_) => Ok(None),
            None => open_kubeconfig(&self.keys, record).map_err(|error| error.to_string()),
        };
        let made = opened.and_then(|kubeconfig| {
            let made = self.maker.make(&record.name, &record.settings, kubeconfig);
            made.map_err(|fault| fault.message)
        });
        match made {
            Ok(executor) => self.clusters.put(record.name.clone(), executor),
            Err(message) => tracing::error!(cluster = record.name, message, "a cluster cannot be used"),
        }
    }
}

/// Only this machine.
pub fn alone(executor: Arc<dyn Executor>) -> Clusters {
    Clusters::from_iter([(LOCAL.to_owned(), executor)])
}
