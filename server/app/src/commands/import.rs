//! `cubeloom import cube-studio FILE`

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use cubeloom_compiler::import::{DocumentKind, Fate, Imported, ImportedDocument, cube_studio};
use cubeloom_domain::template::TemplateSet;
use cubeloom_web::templates::Taken;

use super::user::act;
use crate::cli::{CubeStudio, Import};
use crate::config::Config;
use crate::exit::{Exit, Invalid};
use crate::platform::Platform;
use crate::show::{self, Output};

/// Converts the file to documents, and reports everything that they could not take over.
pub async fn import(command: &Import, config: Config, output: Output) -> anyhow::Result<Exit> {
    let Import::CubeStudio(args) = command;
    let made = cube_studio::import(&read(&args.file)?, templates(args)?.as_deref(), args.name.as_deref());
    let made = made.map_err(|why| Invalid::error(format!("{}: {why}", args.file.display())))?;
    if let Some(folder) = &args.out {
        for document in &made.documents {
            write(&folder.join(place(document)), &document.document)?;
        }
    }
    if output == Output::Json {
        show::json(&made)?;
    } else {
        print(&made, args.out.as_deref());
    }
    if args.install { install(&made, config).await } else { Ok(Exit::Ok) }
}

/// Installs the job templates. Skips and reports those whose names are taken.
async fn install(made: &Imported, config: Config) -> anyhow::Result<Exit> {
    let platform = Platform::open(config).await?;
    let present = platform.templates().await?;
    let mut exit = Exit::Ok;
    for document in made.documents.iter().filter(|one| one.kind == DocumentKind::TaskTemplate) {
        let name = &document.name;
        match install_one(&platform, &present, document).await? {
            Ok(sentence) => show::note(format!("{sentence}: {name}")),
            Err(why) => {
                show::note(format!("not installed: {name}: {why}"));
                exit = Exit::Invalid;
            }
        }
    }
    Ok(exit)
}

/// Installs one, or returns the reason why not.
async fn install_one(
    platform: &Platform,
    present: &TemplateSet,
    document: &ImportedDocument,
) -> anyhow::Result<Result<&'static str, String>> {
    match cubeloom_web::templates::taken(present, &document.name, &document.document) {
        Some(Taken::Same) => return Ok(Ok("was already installed")),
        Some(Taken::Other) => {
            let why = "another template has this name: rename the document, and install it with \
                       `cubeloom template install`";
            return Ok(Err(why.into()));
        }
        None => {}
    }
    let installed = match cubeloom_web::templates::read(&document.document) {
        Ok(installed) => installed,
        Err(problems) => {
            return Ok(Err(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")));
        }
    };
    cubeloom_web::templates::install(&act(platform), &installed).await?;
    Ok(Ok("installed"))
}

fn templates(args: &CubeStudio) -> anyhow::Result<Option<String>> {
    args.templates.as_deref().map(read).transpose()
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path)
        .map_err(|error| Invalid::error(format!("{} cannot be read: {error}", path.display())))
}

/// The path of a document below the output folder.
fn place(document: &ImportedDocument) -> PathBuf {
    match document.kind {
        DocumentKind::Pipeline => format!("{}.yaml", document.name).into(),
        DocumentKind::TaskTemplate => format!("task-templates/{}/template.yaml", document.name).into(),
    }
}

/// Writes a new file, and never overwrites: an existing file is a user's work.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let explain = || format!("{} cannot be written", path.display());
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(explain)?;
    }
    let mut file = match OpenOptions::new().write(true).create_new(true).open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let message =
                format!("{} already exists: choose another folder with -o, or move it", path.display());
            return Err(Invalid::error(message));
        }
        other => other.with_context(explain)?,
    };
    file.write_all(text.as_bytes()).with_context(explain)
}

/// Prints the documents to standard output unless they were written, and the report to standard error.
fn print(made: &Imported, folder: Option<&Path>) {
    for (at, document) in made.documents.iter().enumerate() {
        match folder {
            Some(folder) => show::line(format!("{}", folder.join(place(document)).display())),
            None => {
                let between = if at == 0 { "" } else { "---\n" };
                show::line(format!("{between}{}", document.document.trim_end()));
            }
        }
    }
    for line in &made.report {
        let word = match line.fate {
            Fate::Changed => "changed",
            Fate::LeftOut => "left out",
            Fate::Problem => "to do",
        };
        show::note(format!("{word}: {}: {}", line.path, line.message));
    }
}
