//! Paths on the file system that all nodes share.

use cubeloom_domain::belongings::VolumePlace;
use cubeloom_domain::kubernetes::attempt_folder;
use cubeloom_domain::lowered::LocalPaths;

use super::Frame;
use crate::lower::notes::Notes;

/// All folders of a job: the same as in a workspace on Kubernetes, so that both kinds of clusters can share
/// one.
pub fn of(frame: &Frame<'_>, notes: &mut Notes) -> LocalPaths {
    let (job, key) = (frame.job, &frame.job.key);
    let workspace = &frame.facts.workspace;
    let below = |path: &str| format!("{workspace}/{path}");
    let mut paths = LocalPaths {
        workspace: workspace.clone(),
        run_dir: below(&format!("runs/{}", key.run)),
        attempt_dir: below(&attempt_folder(key)),
        checkpoint_dir: below(&format!("runs/{}/.checkpoints/{}/{}", key.run, key.task, key.instance)),
        code: job.code.as_ref().map_or(String::new(), |digest| frame.facts.code_folder(digest)),
        template_dir: format!("{}/{}", frame.facts.templates, job.template_digest.replace(['/', ':'], "-")),
        bin: frame.facts.program.clone(),
        volumes: Default::default(),
    };
    for mount in &job.volumes {
        let folder = match &mount.place {
            Some(VolumePlace::Workspace { path }) if path.is_empty() => workspace.clone(),
            Some(VolumePlace::Workspace { path }) => below(path),
            Some(VolumePlace::Folder { path }) => path.clone(),
            Some(VolumePlace::Claim { .. } | VolumePlace::ObjectStore { .. }) => {
                let message = format!("the volume `{}` is not a folder on this cluster's nodes", mount.name);
                notes.refuse("volumes", message);
                continue;
            }
            None => {
                let message = format!("the cluster's facts have no path for the volume `{}`", mount.name);
                notes.refuse("volumes", message);
                continue;
            }
        };
        paths.volumes.insert(mount.name.clone(), folder);
    }
    paths
}
