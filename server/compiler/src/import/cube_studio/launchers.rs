//! Cube Studio's launchers: job templates whose pod made another job. What that job was is one of our templates.

/// A launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// Its name there.
    pub name: &'static str,
    /// Our template that runs such a job; none where there is none yet.
    pub template: Option<&'static str>,
    /// An argument that the template must have, which nobody here can tell.
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

/// The launcher of this name.
pub fn find(name: &str) -> Option<&'static Launcher> {
    LAUNCHERS.iter().find(|launcher| launcher.name == name)
}

const fn ours(name: &'static str, template: &'static str) -> Launcher {
    Launcher { name, template: Some(template), missing: None }
}

const fn none_yet(name: &'static str) -> Launcher {
    Launcher { name, template: None, missing: None }
}
