//! Task templates with a folder: the recipe and the programs that it runs. A folder is stored once, under the
//! SHA-256 of its content, where workers read it.

use std::io;
use std::path::{Component, Path, PathBuf};

use cubeloom_compiler::{check_template, parse_template};
use cubeloom_domain::template::{InstalledTemplate, TaskTemplate};
use cubeloom_domain::{Code, Problem, Severity};
use cubeloom_files::own;
use cubeloom_storage::snapshot::{Limits, Snapshot, SnapshotError};

/// File name of the recipe.
const RECIPE: &str = "template.yaml";
/// Prefix of command words that refer to the folder.
const HERE: &str = "$(CUBELOOM_TEMPLATE_DIR)/";
/// Limits of a folder, which is for programs, not data.
pub(crate) const LIMITS: Limits = Limits { bytes: 32 << 20, files: 1_000 };

/// Why a folder cannot be installed.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The template is invalid.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Problems(Vec<Problem>),
    /// The folder cannot be read.
    #[error(transparent)]
    Folder(#[from] SnapshotError),
}

/// A validated template with its folder, not stored yet.
#[derive(Debug)]
pub struct TemplateFolder {
    template: TaskTemplate,
    snapshot: Snapshot,
}

impl TemplateFolder {
    /// Reads a folder. If it contains only another folder, reads that one.
    ///
    /// # Errors
    /// All problems.
    pub fn read(folder: &Path) -> Result<Self, FolderError> {
        let folder = &inside(folder);
        let wrong = |problems| FolderError::Problems(problems);
        let text =
            own::read_to_string(folder.join(RECIPE)).map_err(|error| wrong(vec![unreadable(&error)]))?;
        let template = parse_template(&text).map_err(wrong)?;
        let mut problems = check_template(&template);
        problems.extend(programs(&template).filter_map(|(path, name)| missing(folder, path, name)));
        problems.retain(|problem| problem.severity == Severity::Error);
        if !problems.is_empty() {
            return Err(wrong(problems));
        }
        Ok(Self { snapshot: Snapshot::take(folder, LIMITS)?, template })
    }

    /// Copies the folder below `templates`, where workers read it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn keep(self, templates: &Path) -> Result<InstalledTemplate, FolderError> {
        let kept = self.snapshot.keep(templates)?;
        let folder = kept.to_string_lossy().into_owned();
        Ok(InstalledTemplate { template: self.template, digest: self.snapshot.digest, folder })
    }
}

/// The folder with the recipe: this one, or its only subfolder.
fn inside(folder: &Path) -> PathBuf {
    let entries = own::read_dir(folder).into_iter().flatten().flatten();
    match entries.map(|entry| entry.path()).collect::<Vec<_>>().as_slice() {
        [only] if only.join(RECIPE).is_file() => only.clone(),
        _ => folder.to_owned(),
    }
}

fn unreadable(error: &io::Error) -> Problem {
    let message = match error.kind() {
        io::ErrorKind::NotFound => format!("the folder has no {RECIPE}: add one"),
        _ => format!("{RECIPE} cannot be read: {error}"),
    };
    Problem::error(Code::MissingKey, format!("/{RECIPE}"), message)
}

/// Places in commands that name a file of the folder, with the file. Omits names with placeholders.
fn programs(template: &TaskTemplate) -> impl Iterator<Item = (String, &str)> {
    let own = template.command.iter().enumerate().map(|(n, word)| (format!("/command/{n}"), word));
    let of_roles = template.roles.iter().enumerate().flat_map(|(role, found)| {
        let words = found.command.iter().flatten().enumerate();
        words.map(move |(n, word)| (format!("/roles/{role}/command/{n}"), word))
    });
    own.chain(of_roles)
        .filter_map(|(path, word)| Some((path, word.strip_prefix(HERE)?)))
        .filter(|(_, name)| !name.contains(['$', '{']))
}

/// Problem of a file that a command names, if any.
fn missing(folder: &Path, path: String, name: &str) -> Option<Problem> {
    let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    let message = match plain {
        true if folder.join(name).exists() => return None,
        true => format!("the command names {name}, but the template's folder has no such file"),
        false => {
            format!("the command names {name}, which is outside the template's folder: copy the file into it")
        }
    };
    Some(Problem::error(Code::InvalidValue, path, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const TEMPLATE: &str = "apiVersion: cubeloom/v1\nkind: TaskTemplate\nname: say\nversion: \"1.0.0\"\ngroup: basics\n\
                            label: {en: Say, zh: 说}\nhelp: {en: Says it, zh: 说出来}\nframework: single\n\
                            parameters: {type: object, additionalProperties: false, properties: {}}\n\
                            roles: [{name: worker, replicas: 1}]\ncommand: [sh, $(CUBELOOM_TEMPLATE_DIR)/say.sh]\n";

    fn problems(folder: &Path) -> Vec<(String, String)> {
        match TemplateFolder::read(folder) {
            Err(FolderError::Problems(found)) => {
                found.into_iter().map(|problem| (problem.path, problem.message)).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_folder_is_kept_under_its_digest() {
        let folder = tempfile::tempdir().unwrap();
        let (sent, kept) = (folder.path().join("sent/say"), folder.path().join("kept"));
        fs::create_dir_all(&sent).unwrap();
        fs::create_dir(&kept).unwrap();
        fs::write(sent.join(RECIPE), TEMPLATE).unwrap();
        assert!(problems(&sent)[0].1.contains("no such file"));
        fs::write(sent.join("say.sh"), "echo hello").unwrap();
        let installed = TemplateFolder::read(sent.parent().unwrap()).unwrap().keep(&kept).unwrap();
        assert_eq!(Path::new(&installed.folder), kept.join(&installed.digest));
        assert_eq!(fs::read_to_string(kept.join(&installed.digest).join("say.sh")).unwrap(), "echo hello");
    }

    #[test]
    fn what_is_wrong_with_a_folder_is_told_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(problems(folder.path())[0].0, "/template.yaml");
        let leaves = TEMPLATE.replace("/say.sh", "/../other/say.sh");
        fs::write(folder.path().join(RECIPE), leaves).unwrap();
        let found = problems(folder.path());
        assert_eq!(found[0].0, "/command/1");
        assert!(found[0].1.contains("is outside the template's folder"), "{found:?}");
    }
}
