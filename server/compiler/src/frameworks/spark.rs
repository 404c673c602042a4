//! `spark`: a driver, whose command is a `spark-submit`, and executors.
//!
//! The configuration is that of a standalone cluster. The driver's program starts its master at
//! `SPARK_MASTER_HOST`; the executors' programs start its workers, which offer the resources of the role. A
//! SparkApplication needs none of it: there Spark itself requests executors from Kubernetes. Without
//! executors of ours the driver works alone, or requests them from another cluster (YARN); its command
//! selects the master.

use cubeloom_domain::job::SuccessRule;
use cubeloom_domain::resources::Resources;

use super::{Crew, Framework, Identity, Member, RoleRule, variables};
use crate::lower::kubernetes;

pub const FRAMEWORK: Framework = Framework {
    name: "spark",
    roles: &[
        RoleRule { name: "driver", min: 1, max: 1 },
        RoleRule { name: "executor", min: 0, max: u32::MAX },
    ],
    elastic_role: None,
    by_address: false,
    divided: &[],
    success: |_| SuccessRule::Role("driver".into()),
    identity,
    operator: Some(&kubernetes::spark::OPERATOR),
};

/// The file's path in the worker's folder, which `SPARK_CONF_DIR` names.
const DEFAULTS: &str = "spark-defaults.conf";
/// Minimum memory of Java besides its heap, in MiB, but never more than half of the memory.
const OVERHEAD: u64 = 384;

/// A worker's resources in Spark's configuration.
pub struct Share {
    /// Concurrent tasks.
    pub cores: u64,
    /// Java heap, in MiB.
    pub heap: u64,
    /// The rest of the worker's memory, in MiB.
    pub overhead: u64,
}

impl Share {
    pub fn of(resources: &Resources) -> Self {
        let memory = (resources.memory.0 >> 20).max(2);
        let overhead = (memory / 10).max(OVERHEAD).min(memory / 2);
        Self { cores: (resources.cpu.0 / 1000).max(1), heap: memory - overhead, overhead }
    }
}

fn identity(crew: &Crew<'_>, member: &Member) -> Identity {
    let Some(driver) = crew.members.first() else { return Identity::default() };
    let share = Share::of(&member.resources);
    let mut settings = variables([
        ("SPARK_WORKER_CORES", share.cores.to_string()),
        ("SPARK_WORKER_MEMORY", format!("{}m", share.heap)),
    ]);
    if crew.one_machine {
        settings.insert("SPARK_LOCAL_IP".into(), member.address.clone());
    }
    Identity {
        variables: variables([
            ("SPARK_CONF_DIR", member.folder.clone()),
            ("SPARK_MASTER_HOST", driver.address.clone()),
            ("SPARK_MASTER_PORT", driver.port.clone()),
        ]),
        settings,
        files: [(DEFAULTS.to_owned(), defaults(crew, driver))].into(),
    }
}

/// The properties of the program that the driver submits: the same in every worker's folder.
fn defaults(crew: &Crew<'_>, driver: &Member) -> String {
    let executor = crew.roles.iter().find(|role| role.name == "executor");
    let ours = executor.map_or(0, |executor| u64::from(executor.replicas));
    let mut lines = Vec::new();
    if ours > 0 {
        lines.push(format!("spark.master spark://{}:{}", driver.address, driver.port));
        lines.push(format!("spark.driver.host {}", driver.address));
    }
    lines.push(format!("spark.driver.memory {}m", Share::of(&driver.resources).heap));
    if let Some(executor) = executor {
        let share = Share::of(&executor.resources);
        lines.push(format!("spark.executor.cores {}", share.cores));
        lines.push(format!("spark.executor.memory {}m", share.heap));
        lines.push(match ours {
            0 => format!("spark.executor.memoryOverhead {}m", share.overhead),
            _ => format!("spark.cores.max {}", share.cores * ours),
        });
    }
    lines.push(String::new());
    lines.join("\n")
}
