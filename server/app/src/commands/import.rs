//! `cubeloom import cube-studio FILE`

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use cubeloom_compiler::import::{DocumentKind, Fate, Imported, ImportedDocument, cube_studio};

use crate::cli::{CubeStudio, Import};
use crate::exit::{Exit, Invalid};
use crate::show::{self, Output};

/// Makes documents of the file, and says what became of everything that they could not take over.
pub fn import(command: &Import, output: Output) -> anyhow::Result<Exit> {
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
    Ok(Exit::Ok)
}

fn templates(args: &CubeStudio) -> anyhow::Result<Option<String>> {
    args.templates.as_deref().map(read).transpose()
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path)
        .map_err(|error| Invalid::error(format!("{} cannot be read: {error}", path.display())))
}

/// Where a document lies below the folder that was named.
fn place(document: &ImportedDocument) -> PathBuf {
    match document.kind {
        DocumentKind::Pipeline => format!("{}.yaml", document.name).into(),
        DocumentKind::TaskTemplate => format!("task-templates/{}/template.yaml", document.name).into(),
    }
}

/// Writes a new file: what is there is somebody's work.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let explain = || format!("{} cannot be written", path.display());
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(explain)?;
    }
    let mut file = match OpenOptions::new().write(true).create_new(true).open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let message =
                format!("{} is there already: name another folder with -o, or move it away", path.display());
            return Err(Invalid::error(message));
        }
        other => other.with_context(explain)?,
    };
    file.write_all(text.as_bytes()).with_context(explain)
}

/// The documents on standard output unless they were written, the report on standard error.
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
