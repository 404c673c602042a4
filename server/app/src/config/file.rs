//! Reads a configuration file.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::Context;
use toml::Table;

use crate::exit::Invalid;

/// The file's content; `None` if it does not exist.
pub fn read(path: &Path) -> anyhow::Result<Option<Table>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        // An inaccessible data folder is reported when it is opened.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => {
            return Err(error)
                .with_context(|| format!("the configuration {} cannot be read", path.display()));
        }
    };
    match text.parse::<Table>() {
        Ok(table) => Ok(Some(table)),
        Err(error) => {
            Err(Invalid::error(format!("{} is not TOML: {}", path.display(), one_line(&error.to_string()))))
        }
    }
}

/// The error for a missing file that was requested explicitly.
pub fn missing(path: &Path) -> anyhow::Error {
    Invalid::error(format!("the configuration {} does not exist", path.display()))
}

pub fn text(table: &Table, section: &str, name: &str) -> Option<String> {
    table.get(section)?.get(name)?.as_str().map(ToOwned::to_owned)
}

/// A TOML error on one line: the original marks the position over several lines.
pub fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match (lines.first(), lines.last()) {
        (Some(first), Some(last)) if lines.len() > 1 => format!("{first}: {last}"),
        _ => text.trim().into(),
    }
}
