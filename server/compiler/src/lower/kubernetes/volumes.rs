//! A pod's view of files: the project's workspace, its own scratch folder, secrets, volumes.
//!
//! The kubelet creates the folders of a `subPath`, so no pod has to run before another to create them. It
//! also follows links in a `subPath`, anywhere in the claim. So only a project's whole folder of a shared
//! claim is mounted, which no pod can replace. Paths below it are resolved in the pod, where a link leads no
//! further than the pod's own view.

use cubeloom_domain::belongings::VolumePlace;
use cubeloom_domain::job::{Job, VolumeMount};
use cubeloom_domain::kubernetes::{self, KubernetesFacts};
use cubeloom_domain::lowered::LocalPaths;
use serde_json::{Map, Value, json};

use super::Frame;
use super::notes::Notes;
use super::operator::Numbers;
use crate::lower::common::volume_variable;

/// The root folder of the platform in a container.
pub const ROOT: &str = "/cubeloom";

/// Whether the claim of the workspace also contains those of other projects.
fn is_shared(facts: &KubernetesFacts) -> bool {
    !facts.workspace_path.is_empty()
}

/// The paths in every container of a job.
pub fn paths(job: &Job, facts: &KubernetesFacts) -> LocalPaths {
    let below = |name: &str| format!("{ROOT}/{name}");
    let placed = |own: &str, within: String| match is_shared(facts) {
        true => below(&format!("workspace/{within}")),
        false => below(own),
    };
    let template = job.template.split('@').next().unwrap_or_default();
    let mounted = |mount: &VolumeMount| {
        let own = format!("volumes/{}", mount.name);
        let path = match (&mount.mount, &mount.place) {
            (Some(path), _) => path.clone(),
            (None, Some(VolumePlace::Workspace { path })) => placed(&own, path.clone()),
            (None, _) => below(&own),
        };
        (mount.name.clone(), path)
    };
    let checkpoints = format!("runs/{}/.checkpoints/{}/{}", job.key.run, job.key.task, job.key.instance);
    let code = |digest: &String| placed("code", kubernetes::code_folder(digest));
    LocalPaths {
        workspace: below("workspace"),
        run_dir: below(&format!("workspace/runs/{}", job.key.run)),
        attempt_dir: ROOT.into(),
        checkpoint_dir: placed("checkpoints", checkpoints),
        code: job.code.as_ref().map(code).unwrap_or_default(),
        // The folder of the programs in the images of task templates.
        template_dir: format!("/opt/cubeloom/task-templates/{template}"),
        bin: "/usr/local/bin/cubeloom".into(),
        volumes: job.volumes.iter().map(mounted).collect(),
    }
}

/// The outputs file of a worker. If the server does not read it (`is_read`), it goes with the pod.
pub fn outputs_file(frame: &Frame<'_>, role: &str, index: u32, is_read: bool) -> String {
    let folder = match (is_shared(frame.facts), is_read) {
        (false, _) => "outputs".to_owned(),
        (true, false) => "work".to_owned(),
        (true, true) => format!("workspace/{}/{role}-{index}", kubernetes::attempt_folder(&frame.job.key)),
    };
    format!("{ROOT}/{folder}/{}", kubernetes::OUTPUTS)
}

/// The volumes of a pod, and their mounts in its containers.
#[derive(Default)]
pub struct Volumes {
    pub volumes: Vec<Value>,
    pub mounts: Vec<Value>,
}

impl Volumes {
    /// The volumes of one role's pods.
    pub fn of(
        frame: &Frame<'_>,
        role: &cubeloom_domain::job::JobRole,
        files: &[&String],
        notes: &mut Notes,
    ) -> Self {
        let mut made = Self::default();
        made.workspace(frame, &role.name);
        made.scratch(role.resources.shm);
        made.secrets(frame);
        made.files(frame, files);
        made.own(frame, notes);
        made
    }

    fn volume(&mut self, name: &str, source: (&str, Value)) {
        let mut volume = Map::new();
        volume.insert("name".into(), name.into());
        volume.insert(source.0.into(), source.1);
        self.volumes.push(volume.into());
    }

    fn mount(&mut self, name: &str, path: &str, more: &[(&str, Value)]) {
        let mut mount = Map::new();
        mount.insert("name".into(), name.into());
        mount.insert("mountPath".into(), path.into());
        mount.extend(more.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        self.mounts.push(mount.into());
    }

    /// The project's claim: as a whole, and the folders in it that must exist.
    fn workspace(&mut self, frame: &Frame<'_>, role: &str) {
        let key = &frame.job.key;
        let attempt = kubernetes::attempt_folder(key);
        self.volume(
            "workspace",
            ("persistentVolumeClaim", json!({"claimName": frame.facts.workspace_claim})),
        );
        let whole: &[_] = match frame.facts.workspace_path.as_str() {
            "" => &[],
            path => &[("subPath", path.into())],
        };
        self.mount("workspace", &format!("{ROOT}/workspace"), whole);
        if is_shared(frame.facts) {
            return;
        }
        // If pods are counted from 1, the folder of a worker's index would be another worker's.
        let own = match frame.numbers(role) {
            Numbers::Count(_) if frame.framework.may_be_many(role) => format!("{role}s/$(CUBELOOM_INDEX)"),
            Numbers::Count(_) | Numbers::Index(_) => format!("{role}-$(CUBELOOM_INDEX)"),
        };
        let outputs = format!("{attempt}/{own}");
        self.mount("workspace", &format!("{ROOT}/outputs"), &[("subPathExpr", outputs.into())]);
        let checkpoints = format!("runs/{}/.checkpoints/{}/{}", key.run, key.task, key.instance);
        self.mount("workspace", &format!("{ROOT}/checkpoints"), &[("subPath", checkpoints.into())]);
        if let Some(code) = &frame.job.code {
            let more = [("subPath", kubernetes::code_folder(code).into()), ("readOnly", true.into())];
            self.mount("workspace", &format!("{ROOT}/code"), &more);
        }
    }

    /// Folders that end with the pod: the rest of the image is read-only.
    fn scratch(&mut self, shm: Option<cubeloom_domain::Bytes>) {
        self.volume("work", ("emptyDir", json!({})));
        self.mount("work", &format!("{ROOT}/work"), &[]);
        self.volume("tmp", ("emptyDir", json!({})));
        self.mount("tmp", "/tmp", &[]);
        if let Some(size) = shm {
            self.volume("shm", ("emptyDir", json!({"medium": "Memory", "sizeLimit": size.to_string()})));
            self.mount("shm", "/dev/shm", &[]);
        }
    }

    /// Secrets mounted as files.
    fn secrets(&mut self, frame: &Frame<'_>) {
        let item = |secret: &cubeloom_domain::job::SecretMount| {
            secret.file.as_ref().map(|file| json!({"key": secret.name, "path": file}))
        };
        let items: Vec<Value> = frame.job.secrets.iter().filter_map(item).collect();
        if !items.is_empty() {
            let source = json!({"secretName": frame.name, "items": items, "defaultMode": 0o440});
            self.volume("secrets", ("secret", source));
            self.mount("secrets", &format!("{ROOT}/secrets"), &[("readOnly", true.into())]);
        }
    }

    fn files(&mut self, frame: &Frame<'_>, files: &[&String]) {
        if files.is_empty() {
            return;
        }
        self.volume("files", ("configMap", json!({"name": frame.name})));
        for file in files {
            let more = [("subPath", file.as_str().into()), ("readOnly", true.into())];
            self.mount("files", &format!("{ROOT}/{file}"), &more);
        }
    }

    fn own(&mut self, frame: &Frame<'_>, notes: &mut Notes) {
        let paths = paths(frame.job, frame.facts);
        for (at, mount) in frame.job.volumes.iter().enumerate() {
            let mut more: Vec<(&str, Value)> = Vec::new();
            if mount.read_only {
                more.push(("readOnly", true.into()));
            }
            let name = match &mount.place {
                Some(VolumePlace::Workspace { .. }) if is_shared(frame.facts) => {
                    by_path(at, mount, notes);
                    continue;
                }
                Some(VolumePlace::Workspace { path }) => {
                    more.push(("subPath", path.as_str().into()));
                    "workspace".to_owned()
                }
                // The claim contains the workspaces of all projects: a job sees only its own project's, as
                // users do.
                Some(VolumePlace::Claim { claim, .. }) if *claim == frame.facts.workspace_claim => {
                    if !frame.facts.workspace_path.is_empty() {
                        more.push(("subPath", frame.facts.workspace_path.as_str().into()));
                    }
                    "workspace".to_owned()
                }
                Some(VolumePlace::Claim { claim, .. }) => self.claim(at, claim),
                Some(VolumePlace::Folder { .. } | VolumePlace::ObjectStore { .. }) => {
                    let message = format!(
                        "the volume `{}` is neither a PVC nor a folder of the workspace: pods cannot use other folders",
                        mount.name
                    );
                    notes.refuse(format!("volumes/{at}"), message);
                    continue;
                }
                None => {
                    let name = &mount.name;
                    notes.decide(format!("the volume `{name}` is the PVC of that name"));
                    self.claim(at, name)
                }
            };
            self.mount(&name, &paths.volumes[&mount.name], &more);
        }
    }

    fn claim(&mut self, at: usize, claim: &str) -> String {
        let name = format!("volume-{at}");
        self.volume(&name, ("persistentVolumeClaim", json!({"claimName": claim})));
        name
    }
}

/// A workspace folder in a claim that projects share: it is reached through the workspace, without its own
/// mount.
fn by_path(at: usize, mount: &VolumeMount, notes: &mut Notes) {
    let name = &mount.name;
    if mount.mount.is_some() {
        let message = format!(
            "the volume `{name}` is a folder of the workspace, in a PVC that projects share: remove `mount`, its path is in the variable {}",
            volume_variable(name)
        );
        notes.refuse(format!("volumes/{at}/mount"), message);
    } else if mount.read_only {
        notes.decide(format!(
            "the volume `{name}` is writable: it is a folder of the workspace, in a PVC that projects share"
        ));
    }
}
