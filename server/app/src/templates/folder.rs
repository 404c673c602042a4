//! Templates on disk.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::Context;
use cubeloom_compiler::{check_template, parse_template};
use cubeloom_domain::template::{InstalledTemplate, TemplateSet};
use cubeloom_domain::{Code, Problem, Severity};
use cubeloom_storage::snapshot::{Limits, Snapshot};

use super::Read;
use crate::exit::Invalid;
use crate::paths::DataFolder;

const FILE: &str = "template.yaml";

/// The folder of the task templates: the configured one, else one next to the program or an installed one,
/// else the one in the checkout of the build.
pub fn find(said: Option<&Path>, program: &Path) -> anyhow::Result<PathBuf> {
    if let Some(said) = said {
        return fs::canonicalize(said)
            .with_context(|| format!("the folder of the task templates {} cannot be read", said.display()));
    }
    let beside = program.parent().unwrap_or(Path::new("/"));
    let above = beside.ancestors().skip(1).take(3).map(|folder| folder.join("task-templates"));
    let places = [beside.join("task-templates"), beside.join("../share/cubeloom/task-templates")];
    let mut places = places.into_iter().chain(above);
    places.find(|place| place.is_dir()).and_then(|place| fs::canonicalize(place).ok()).ok_or_else(|| {
        Invalid::error(format!(
            "no task templates next to {}: set their folder with --templates, or `templates` in `[server]` of the configuration",
            program.display()
        ))
    })
}

/// The folders of templates: `root` itself, or those in it.
pub fn list(root: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if root.join(FILE).is_file() {
        return Ok(vec![root.to_path_buf()]);
    }
    let listed =
        fs::read_dir(root).with_context(|| format!("the folder {} cannot be read", root.display()))?;
    let mut folders: Vec<PathBuf> = listed
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.join(FILE).is_file())
        .collect();
    folders.sort();
    Ok(folders)
}

pub fn read(folder: &Path) -> anyhow::Result<Read> {
    let folder = fs::canonicalize(folder)
        .with_context(|| format!("the folder {} cannot be read", folder.display()))?;
    let file = folder.join(FILE);
    let text = fs::read_to_string(&file).with_context(|| format!("{} cannot be read", file.display()))?;
    let template = match parse_template(&text) {
        Ok(template) => template,
        Err(problems) => return Ok(Read { folder, installed: None, problems }),
    };
    let mut problems = check_template(&template);
    if folder.file_name().is_none_or(|name| name != template.name.as_str()) {
        let message = format!("the folder must have the template's name, `{}`", template.name);
        problems.push(Problem::error(Code::InvalidName, "/name", message));
    }
    problems.sort_by_key(|problem| std::cmp::Reverse(problem.severity == Severity::Error));
    let digest = Snapshot::take(&folder, Limits::CODE)?.digest;
    let installed = InstalledTemplate { template, digest, folder: folder.to_string_lossy().into_owned() };
    Ok(Read { folder, installed: Some(installed), problems })
}

/// Copies the whole folder of templates to where workers can read it, and links each template's digest to its
/// folder in the copy. The whole folder, because the program of one template may be in its neighbour
/// (`../python/main.py`).
pub fn provide(root: &Path, set: &TemplateSet, data: &DataFolder) -> anyhow::Result<()> {
    let all = if root.join(FILE).is_file() { root.parent().unwrap_or(root) } else { root };
    let copy = Snapshot::take(all, Limits::CODE)?.keep(&data.templates())?;
    let Some(copy) = copy.file_name() else { return Ok(()) };
    for installed in set.values().flat_map(|versions| versions.values()) {
        let Some(name) = Path::new(&installed.folder).file_name() else { continue };
        point(&data.templates().join(&installed.digest), &Path::new(copy).join(name))?;
    }
    Ok(())
}

/// Creates a link, or changes its target.
fn point(link: &Path, target: &Path) -> anyhow::Result<()> {
    if fs::read_link(link).is_ok_and(|present| present == target) || link.is_dir() && !link.is_symlink() {
        return Ok(());
    }
    let fresh = link.with_extension(format!("new-{}", std::process::id()));
    let _ = fs::remove_file(&fresh);
    symlink(target, &fresh)
        .and_then(|()| fs::rename(&fresh, link))
        .with_context(|| format!("{} cannot be created", link.display()))
}
