//! Workers that run in their template's image, if the cluster has a container runtime. The worker's shim
//! stays on the node: only its child runs in the image, so that the shim measures, stops and follows it as
//! everywhere.

use std::collections::BTreeSet;

use cubeloom_domain::lowered::{LocalPaths, LocalWorker};
use cubeloom_domain::slurm::{ContainerProgram, SlurmContainers, files, is_image, tokens};

use super::Frame;
use crate::lower::notes::Notes;

/// `ch-run` requires `USER`; the environment is not inherited here.
const AS_USER: [&str; 3] = ["/bin/sh", "-c", "USER=$(id -un) exec \"$0\" \"$@\""];
/// enroot starts in the image's working directory.
const IN_FOLDER: [&str; 3] = ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\""];

/// The image of a job, and its container runtime.
pub struct Container<'a> {
    image: &'a str,
    by: &'a SlurmContainers,
    /// The cache folder for images that jobs pull from registries.
    pulled: String,
    /// Bind mounts: the same path in the image as on the node.
    binds: Vec<String>,
    /// The `cubeloom` program of the nodes: the only file among these.
    cubeloom: &'a str,
    writable: bool,
    /// The task's own value, which overrides the image's.
    path: Option<&'a String>,
}

/// The container of a job, if there are an image and a container runtime.
pub fn of<'a>(frame: &Frame<'a>, paths: &LocalPaths, notes: &mut Notes) -> Option<Container<'a>> {
    let image = frame.job.image.as_deref()?;
    let Some(by) = &frame.facts.containers else {
        notes.decide(format!("it runs without its image `{image}`: what it needs must be on the nodes"));
        return None;
    };
    if !is_image(image) {
        let message = format!("`{image}` is neither a reference of an image nor an absolute path of one");
        notes.refuse("image", message);
        return None;
    }
    let binds = binds(paths);
    if let Some(path) = binds.iter().find(|path| path.contains([',', ':'])) {
        notes.refuse(
            "volumes",
            format!("the folder `{path}` has a `,` or `:`: it cannot be mounted into an image"),
        );
    }
    let has_cards = frame.job.roles.iter().any(|role| role.resources.gpu.is_some());
    if by.by == ContainerProgram::Charliecloud && has_cards {
        notes.decide("its image must contain the driver's libraries: add them with `ch-fromhost --nvidia`");
    }
    if by.by == ContainerProgram::Charliecloud && frame.job.writable_root {
        notes.decide("its image is read-only: Charliecloud cannot write to images");
    }
    notes.decide(format!("its programs run in the image `{image}`, by {}", by.program()));
    Some(Container {
        image,
        by,
        pulled: format!("{}/{}", paths.workspace, by.pulled_above()),
        binds,
        cubeloom: &frame.facts.program,
        writable: frame.job.writable_root,
        path: frame.job.env.get("PATH"),
    })
}

/// The node's folders and files that a worker uses, without those inside another of them.
fn binds(paths: &LocalPaths) -> Vec<String> {
    let told = [&paths.workspace, &paths.template_dir, &paths.code, &paths.bin];
    let told: BTreeSet<&String> =
        told.into_iter().chain(paths.volumes.values()).filter(|path| !path.is_empty()).collect();
    let within = |path: &&&String| told.iter().any(|above| path.starts_with(&format!("{above}/")));
    told.iter().filter(|path| !within(path)).map(|path| (*path).clone()).collect()
}

impl Container<'_> {
    /// The folder in which the script stores an image pulled from a registry.
    pub fn pulled(&self) -> Option<String> {
        (!self.image.starts_with('/')).then(|| self.pulled.clone())
    }

    /// Runs a worker's child in the image.
    pub fn wrap(&self, worker: &mut LocalWorker) {
        worker.argv = self.within(worker, &worker.argv);
        if !worker.setup.is_empty() {
            worker.setup = self.within(worker, &worker.setup);
        }
    }

    fn within(&self, worker: &LocalWorker, argv: &[String]) -> Vec<String> {
        let has_cards = worker.env.get("CUDA_VISIBLE_DEVICES").is_some_and(|cards| !cards.is_empty());
        let program = self.by.program();
        let mut words: Vec<String> = Vec::new();
        let mut say = |all: &[&str]| words.extend(all.iter().map(|word| (*word).to_owned()));
        match self.by.by {
            ContainerProgram::Apptainer => {
                say(&[program, "exec"]);
                say(if has_cards { &["--nv"] } else { &[] });
                say(if self.writable { &["--writable-tmpfs"] } else { &[] });
                say(&["--bind", &self.binds.join(","), "--home", &worker.cwd, "--pwd", &worker.cwd]);
                if let Some(path) = self.path {
                    say(&["--env", &format!("PATH={path}")]);
                }
                say(&[tokens::IMAGE]);
            }
            ContainerProgram::Charliecloud => {
                say(&AS_USER);
                // The node's own would hide the folders below it.
                say(&[program, "--private-tmp"]);
                // It mounts folders only.
                let folders = self.binds.iter().filter(|path| *path != self.cubeloom);
                folders.for_each(|path| say(&["--bind", path]));
                say(&["--cd", &worker.cwd, tokens::IMAGE, "--"]);
            }
            ContainerProgram::Enroot => {
                say(&[program, "start"]);
                say(if self.writable { &["--rw"] } else { &[] });
                self.binds.iter().for_each(|path| say(&["--mount", &format!("{path}:{path}")]));
                // By name, so that values stay out of the process list. Its GPU hook reads a variable of its
                // own.
                let mut names: BTreeSet<&str> = worker.env.keys().map(String::as_str).collect();
                names.extend(["CUBELOOM_JOB_TOKEN", "CUBELOOM_SECRETS"]);
                names.extend(worker.secrets.iter().filter_map(|secret| secret.env.as_deref()));
                if self.path.is_none() {
                    names.remove("PATH");
                }
                names.iter().for_each(|name| say(&["--env", name]));
                let cards = if has_cards { "all" } else { "void" };
                say(&["--env", &format!("NVIDIA_VISIBLE_DEVICES={cards}"), tokens::IMAGE]);
                say(&IN_FOLDER);
                say(&[&worker.cwd]);
            }
        }
        words.extend(argv.iter().cloned());
        words
    }

    /// The script lines that find the image: an administrator's, or one pulled from its registry once.
    pub fn lines(&self) -> Vec<String> {
        let name = self.by.file(self.image);
        let mut lines = vec!["# The image in which the programs run.".to_owned()];
        if self.image.starts_with('/') {
            lines.push(format!("image={}", self.image));
        } else {
            let pulled = format!("{}/{name}", self.pulled);
            let own = self.by.images.as_ref().map(|folder| format!("{folder}/{name}"));
            lines.push(format!("image={}", own.as_ref().unwrap_or(&pulled)));
            if own.is_some() {
                lines.push(format!("[ -e \"$image\" ] || image={pulled}"));
            }
            // Jobs that begin together pull it once; a partial pull does not count. The leftovers of an
            // interrupted pull are removed first, because no runtime pulls to an existing target.
            lines.extend(self.pull().map(|pull| {
                format!(
                    "[ -e \"$image\" ] || (flock 9; [ -e \"$image\" ] || \
                     {{ rm -rf \"$image.part\" && {pull} && mv \"$image.part\" \"$image\"; }}) 9>\"$image.lock\""
                )
            }));
        }
        lines.push("[ -e \"$image\" ] || { echo \"there is no image $image\" >&2; exit 1; }".into());
        lines.push(format!("echo \"$image\" >{}", files::IMAGE));
        lines.push(String::new());
        lines
    }

    /// The command that pulls the image from its registry; Charliecloud's folders are created by people.
    fn pull(&self) -> Option<String> {
        let (program, image) = (self.by.program(), self.image);
        match self.by.by {
            ContainerProgram::Apptainer => Some(format!(
                "APPTAINER_CACHEDIR={} {program} pull \"$image.part\" 'docker://{image}'",
                format_args!("{}/.cache", self.pulled)
            )),
            ContainerProgram::Enroot => {
                // It needs the registry separated from the image name.
                let reference = match image.split_once('/') {
                    Some((host, rest)) if host.contains(['.', ':']) || host == "localhost" => {
                        format!("{host}#{rest}")
                    }
                    _ => image.to_owned(),
                };
                Some(format!(
                    "ENROOT_CACHE_PATH={} {program} import -o \"$image.part\" 'docker://{reference}'",
                    format_args!("{}/.cache", self.pulled)
                ))
            }
            ContainerProgram::Charliecloud => None,
        }
    }
}
