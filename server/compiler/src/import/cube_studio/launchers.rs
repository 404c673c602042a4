//! Cube Studio's launchers: job templates whose pod created another job. One of our templates runs that job
//! directly.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// Its name in Cube Studio.
    pub name: &'static str,
    /// Our template that runs such a job; `None` if there is none yet.
    pub template: Option<&'static str>,
    /// An argument that the template requires and the import cannot determine.
    pub missing: Option<&'static str>,
}

const LAUNCHERS: [Launcher; 16] = [
    ours("volcanojob", "indexed"),
    ours("mpi", "mpi"),
    ours("horovod", "horovod"),
    ours("pytorchjob", "pytorch"),
    ours("model-offline-predict", "indexed"),
    ours("tfjob", "tensorflow"),
    ours("ray", "ray"),
    ours("ray-sklearn", "ray"),
    ours("paddlejob", "paddle"),
    ours("mxnet", "mxnet"),
    Launcher { missing: Some("search_space"), ..ours("hyperparam-search-nni", "nni") },
    none_yet("mindspore"),
    none_yet("megatron"),
    none_yet("deepspeed"),
    none_yet("colossalai"),
    none_yet("sparkjob"),
];

pub fn find(name: &str) -> Option<&'static Launcher> {
    LAUNCHERS.iter().find(|launcher| launcher.name == name)
}

const fn ours(name: &'static str, template: &'static str) -> Launcher {
    Launcher { name, template: Some(template), missing: None }
}

const fn none_yet(name: &'static str) -> Launcher {
    Launcher { name, template: None, missing: None }
}
