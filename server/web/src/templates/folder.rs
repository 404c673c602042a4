//! Documentation files of a template's folder.

use std::path::{Component, Path};

use cubeloom_compiler::{parse_pipeline, parse_template};
use cubeloom_domain::template::InstalledTemplate;
use cubeloom_files::own;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// Maximum size of a shown file, in bytes.
const MOST: u64 = 256 << 10;

/// Files next to a template's recipe.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside {
    /// README in Markdown.
    pub readme: Option<String>,
    /// Pipeline that uses the template.
    pub example: Option<Example>,
    /// Program before and after.
    pub before_after: Option<BeforeAfter>,
}

/// Example pipeline that shows how to use a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Example {
    /// Pipeline document.
    pub document: String,
    /// Program file that the pipeline runs, if it is in the template folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<Program>,
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Program {
    /// File name.
    pub name: String,
    /// Content.
    pub text: String,
}

/// The same program twice: for one process, and as the template runs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct BeforeAfter {
    /// Program for one process.
    pub before: String,
    /// Program as the template runs it.
    pub after: String,
}

/// Reads the folder. Empty if it contains another version or no longer exists.
pub(crate) fn beside(installed: &InstalledTemplate) -> Beside {
    // Templates installed as a document have no folder.
    if installed.folder.is_empty() {
        return Beside::default();
    }
    let folder = Path::new(&installed.folder);
    let same = |text: &str| {
        parse_template(text).is_ok_and(|found| is_of(&found.version, &installed.template.version))
    };
    if !read(folder, "template.yaml").is_some_and(|text| same(&text)) {
        return Beside::default();
    }
    let readme = read(folder, "README.md");
    let before_after = readme.as_deref().and_then(before_after);
    let example = read(folder, "example.yaml")
        .map(|document| Example { program: program(folder, &document), document });
    Beside { readme, example, before_after }
}

/// Whether a version is the one in the folder. A version under test has a digest after a `+`.
fn is_of(found: &str, wanted: &str) -> bool {
    wanted == found || wanted.split_once('+').is_some_and(|(plain, _)| plain == found)
}

fn read(folder: &Path, name: &str) -> Option<String> {
    let path = folder.join(name);
    let small = own::metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= MOST);
    if small { own::read_to_string(path).ok() } else { None }
}

/// The program that the example's first task with a `script` runs.
fn program(folder: &Path, document: &str) -> Option<Program> {
    let document = parse_pipeline(document).ok()?;
    let scripts = document.pipeline.tasks.iter().filter_map(|task| task.arguments.get("script"));
    let name = scripts.filter_map(Value::as_str).next()?.to_owned();
    let plain = Path::new(&name).components().all(|part| matches!(part, Component::Normal(_)));
    let text = plain.then(|| read(folder, &name)).flatten()?;
    Some(Program { name, text })
}

/// The first diff in a README: removed lines are the program before, added lines the one after.
fn before_after(readme: &str) -> Option<BeforeAfter> {
    let (_, rest) = readme.split_once("```diff\n")?;
    let (block, _) = rest.split_once("\n```")?;
    let side = |without: char| -> String {
        let kept = block.lines().filter(|line| !line.starts_with(without));
        kept.map(|line| line.get(1..).unwrap_or_default()).flat_map(|line| [line, "\n"]).collect()
    };
    Some(BeforeAfter { before: side('+'), after: side('-') })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_difference_is_two_programs() {
        let found = before_after("text\n```diff\n-a = 1\n+a = 2\n b = a\n```\nmore").unwrap();
        assert_eq!((found.before.as_str(), found.after.as_str()), ("a = 1\nb = a\n", "a = 2\nb = a\n"));
        assert_eq!(before_after("```python\na\n```"), None);
    }

    #[test]
    fn the_templates_of_this_repository_have_what_people_read() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../task-templates");
        for folder in fs::read_dir(root).unwrap().flatten().map(|entry| entry.path()) {
            let Ok(text) = fs::read_to_string(folder.join("template.yaml")) else { continue };
            let template = parse_template(&text).unwrap();
            let folder = folder.to_string_lossy().into_owned();
            let mut installed = InstalledTemplate { template, digest: String::new(), folder };
            let found = beside(&installed);
            assert!(found.readme.is_some() && found.example.is_some(), "{}", installed.folder);
            let BeforeAfter { before, after } = found
                .before_after
                .unwrap_or_else(|| panic!("{}: no program before and after", installed.folder));
            let is_program = |side: &str| {
                let mut lines = side.lines().map(str::trim).filter(|line| !line.is_empty());
                lines.any(|line| !line.starts_with('#')) && !side.contains("template:")
            };
            assert!(is_program(&before) && is_program(&after) && before != after, "{}", installed.folder);
            installed.template.version = "0.0.1".into();
            assert!(beside(&installed).readme.is_none(), "another version's files are not shown");
        }
    }
}
