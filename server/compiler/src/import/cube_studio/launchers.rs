//! Cube Studio's launchers: job templates whose pod made another job. What that job was is one of our templates.

/// A launcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// Its name there.
    pub name: &'static str,
    /// Our template that runs such a job; none where there is none yet.
    pub template: Option<&'static str>,
}

const LAUNCHERS: [Launcher; 15] = [
    ours("volcanojob", "indexed"),
    ours("mpi", "mpi"),
    ours("horovod", "mpi"),
    ours("pytorchjob", "pytorch"),
    ours("model-offline-predict", "indexed"),
    ours("tfjob", "tensorflow"),
    ours("ray", "ray"),
    ours("ray-sklearn", "ray"),
    none_yet("paddlejob"),
    none_yet("mindspore"),
    none_yet("mxnet"),
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
    Launcher { name, template: Some(template) }
}

const fn none_yet(name: &'static str) -> Launcher {
    Launcher { name, template: None }
}
