//! Workers whose programs run in their template's image, where the cluster has a program for that. The worker's shim stays on
//! the node: only what it starts is put into the image, so that it is measured, stopped and followed as everywhere.

use std::collections::BTreeSet;

use cubeloom_domain::lowered::{LocalPaths, LocalWorker};
use cubeloom_domain::slurm::{ContainerProgram, SlurmContainers, files, is_image, tokens};

use super::Frame;
use crate::lower::notes::Notes;

/// `ch-run` wants to know who calls it; nothing is inherited here.
const AS_USER: [&str; 3] = ["/bin/sh", "-c", "USER=$(id -un) exec \"$0\" \"$@\""];
/// enroot begins where the image says.
const IN_FOLDER: [&str; 3] = ["/bin/sh", "-c", "cd \"$0\" && exec \"$@\""];

/// The image of a job, and what runs it.
pub struct Container<'a> {
    image: &'a str,
    by: &'a SlurmContainers,
    /// Where images that jobs take from registries are kept.
    pulled: String,
    /// What is seen in the image as it is on the node.
    binds: Vec<String>,
    /// The `cubeloom` program of the nodes: the one file among these.
    cubeloom: &'a str,
    writable: bool,
    /// The task's own value, which goes over the image's.
    path: Option<&'a String>,
}

/// The container of a job, where there is an image and something to run it.
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
        notes.refuse("volumes", format!("the folder `{path}` has a `,` or `:`: no image can be given it"));
    }
    let has_cards = frame.job.roles.iter().any(|role| role.resources.gpu.is_some());
    if by.by == ContainerProgram::Charliecloud && has_cards {
        notes.decide("its image must hold the driver's libraries: `ch-fromhost --nvidia` puts them there");
    }
    if by.by == ContainerProgram::Charliecloud && frame.job.writable_root {
        notes.decide("its image cannot be written to: Charliecloud's are read only");
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

/// The folders and files of the node that a worker is told of, but those in another of them.
fn binds(paths: &LocalPaths) -> Vec<String> {
    let told = [&paths.workspace, &paths.template_dir, &paths.code, &paths.bin];
    let told: BTreeSet<&String> =
        told.into_iter().chain(paths.volumes.values()).filter(|path| !path.is_empty()).collect();
    let within = |path: &&&String| told.iter().any(|above| path.starts_with(&format!("{above}/")));
    told.iter().filter(|path| !within(path)).map(|path| (*path).clone()).collect()
}

impl Container<'_> {
    /// The folder in which the script keeps an image that it takes from a registry.
    pub fn pulled(&self) -> Option<String> {
        (!self.image.starts_with('/')).then(|| self.pulled.clone())
    }

    /// Puts what a worker starts into the image.
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
                // The nodes' own would not take what lies below it.
                say(&[program, "--private-tmp"]);
                // It gives folders only.
                let folders = self.binds.iter().filter(|path| *path != self.cubeloom);
                folders.for_each(|path| say(&["--bind", path]));
                say(&["--cd", &worker.cwd, tokens::IMAGE, "--"]);
            }
            ContainerProgram::Enroot => {
                say(&[program, "start"]);
                say(if self.writable { &["--rw"] } else { &[] });
                self.binds.iter().for_each(|path| say(&["--mount", &format!("{path}:{path}")]));
                // By name: values stay out of the list of processes. Its hook for cards looks at a variable of its own.
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

    /// The lines of the script that find the image: an administrator's, or one that is taken from its registry once.
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
            // Jobs that begin together take it once; one that was taken half is not there. What a pull that was
            // cut off has left is removed first: no program pulls to what is there already.
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

    /// The command that takes the image from its registry; Charliecloud's folders are made by people.
    fn pull(&self) -> Option<String> {
        let (program, image) = (self.by.program(), self.image);
        match self.by.by {
            ContainerProgram::Apptainer => Some(format!(
                "APPTAINER_CACHEDIR={} {program} pull \"$image.part\" 'docker://{image}'",
                format_args!("{}/.cache", self.pulled)
            )),
            ContainerProgram::Enroot => {
                // It wants the registry told apart.
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
