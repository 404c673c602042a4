//! Layers of settings: a file, then environment variables, then options; each value has its origin.

use std::collections::BTreeMap;
use std::path::Path;

use toml::{Table, Value};

use super::keys::{FREE, KEYS, Kind, find, hint};
use super::settings::Settings;
use super::{Origin, file};
use crate::exit::Invalid;

/// The values so far, by section and name. Existing values take precedence over later ones.
#[derive(Debug, Default)]
pub struct Layers {
    values: BTreeMap<(String, String), (Value, Origin)>,
}

impl Layers {
    /// Sets a value with the highest precedence.
    pub fn set(&mut self, section: &str, name: &str, value: Value, origin: Origin) {
        self.values.insert((section.into(), name.into()), (value, origin));
    }

    pub fn flag(&mut self, section: &str, name: &str, flag: &'static str, path: &Path) {
        self.set(section, name, path.to_string_lossy().into_owned().into(), Origin::Flag(flag));
    }

    pub fn text(&self, section: &str, name: &str) -> Option<String> {
        let (value, _) = self.values.get(&(section.into(), name.into()))?;
        value.as_str().map(ToOwned::to_owned)
    }

    /// Adds every `CUBELOOM_<SECTION>_<KEY>`.
    pub fn environment(&mut self, environment: &BTreeMap<String, String>) -> anyhow::Result<()> {
        for (variable, text) in environment {
            let Some((section, name)) = section_of(variable) else { continue };
            let value = if FREE.contains(&section) {
                free_value(section, text).ok_or_else(|| {
                    let form = match section {
                        "slurm" => {
                            "a table, as `{become = [\"sudo\", \"-n\", \"-u\", \"{account}\", \"--\"]}`"
                        }
                        _ => "`env:NAME` or `file:/path`, never the secret itself",
                    };
                    Invalid::error(format!("{variable}: write {form}"))
                })?
            } else {
                let key = find(section, &name).ok_or_else(|| unknown_variable(variable, section))?;
                typed(key.kind, text).ok_or_else(|| {
                    Invalid::error(format!("{variable}: `{text}` is not {}", form(key.kind)))
                })?
            };
            let name = if FREE.contains(&section) { name.replace('_', "-") } else { name };
            self.set(section, &name, value, Origin::Variable(variable.clone()));
        }
        Ok(())
    }

    /// Adds a file, below all values set already.
    pub fn file(&mut self, path: &Path, table: Table) -> anyhow::Result<()> {
        for (section, content) in table {
            let sections = KEYS.iter().map(|key| key.section).chain(FREE.iter().copied());
            if !sections.clone().any(|known| known == section) {
                let hint = hint(&section, sections);
                return Err(Invalid::error(format!(
                    "{}: there is no section [{section}]{hint}",
                    path.display()
                )));
            }
            let Value::Table(content) = content else {
                return Err(Invalid::error(format!("{}: [{section}] must be a section", path.display())));
            };
            for (name, value) in content {
                if !FREE.contains(&section.as_str()) && find(&section, &name).is_none() {
                    let hint = hint(&name, names_in(&section));
                    return Err(Invalid::error(format!(
                        "{}: [{section}] has no key `{name}`{hint}",
                        path.display()
                    )));
                }
                self.values
                    .entry((section.clone(), name))
                    .or_insert_with(|| (value, Origin::File(path.into())));
            }
        }
        Ok(())
    }

    /// The typed values, and their origins.
    pub fn finish(self) -> anyhow::Result<(Settings, BTreeMap<String, Origin>)> {
        let mut table = Table::new();
        let mut origins = BTreeMap::new();
        for ((section, name), (value, origin)) in self.values {
            // Parsed alone first, so that an error names the value's origin.
            let alone = Table::from_iter([(name.clone(), value.clone())]);
            let alone = Table::from_iter([(section.clone(), Value::Table(alone))]);
            if let Err(error) = alone.try_into::<Settings>() {
                let why = file::one_line(error.message());
                return Err(Invalid::error(format!("[{section}] {name} ({origin}): {why}")));
            }
            let section_table = table.entry(section.clone()).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(section_table) = section_table {
                section_table.insert(name.clone(), value);
            }
            origins.insert(format!("{section}.{name}"), origin);
        }
        let settings: Settings =
            table.try_into().map_err(|error| Invalid::error(error.message().to_owned()))?;
        for (name, calls) in &settings.slurm {
            if let Some(mistake) = calls.mistakes().first() {
                return Err(Invalid::error(format!("[slurm.{name}] {mistake}")));
            }
        }
        Ok((settings, origins))
    }
}

/// The section and the key of a variable.
fn section_of(variable: &str) -> Option<(&'static str, String)> {
    let rest = variable.strip_prefix("CUBELOOM_")?;
    let sections = KEYS.iter().map(|key| key.section).chain(FREE.iter().copied());
    sections
        .filter_map(|section| Some((section, rest.strip_prefix(&section.to_uppercase())?.strip_prefix('_')?)))
        .map(|(section, name)| (section, name.to_lowercase()))
        .next()
}

fn names_in(section: &str) -> impl Iterator<Item = &'static str> {
    KEYS.iter().filter(move |key| key.section == section).map(|key| key.name)
}

fn unknown_variable(variable: &str, section: &str) -> anyhow::Error {
    let known: Vec<String> = names_in(section)
        .map(|name| format!("CUBELOOM_{}_{}", section.to_uppercase(), name.to_uppercase()))
        .collect();
    let hint = hint(variable, known.iter().map(String::as_str));
    Invalid::error(format!("the variable {variable} names no setting{hint}"))
}

fn typed(kind: Kind, text: &str) -> Option<Value> {
    match kind {
        Kind::Text => Some(text.into()),
        Kind::Number => text.trim().parse::<i64>().ok().map(Value::Integer),
        Kind::Share => text.trim().parse::<f64>().ok().map(Value::Float),
        Kind::Flag => text.trim().parse::<bool>().ok().map(Value::Boolean),
    }
}

fn form(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "a text",
        Kind::Number => "a whole number",
        Kind::Share => "a number from 0 to 1",
        Kind::Flag => "true or false",
    }
}

/// `env:NAME`, `file:/path`; for a volume, the folder; for a Slurm cluster, an inline table.
fn free_value(section: &str, text: &str) -> Option<Value> {
    if section == "slurm" {
        let mut table: Table = format!("said = {text}").parse().ok()?;
        return table.remove("said").filter(Value::is_table);
    }
    if section == "volumes" {
        return Some(text.into());
    }
    let (kind, value) = text.split_once(':')?;
    matches!(kind, "env" | "file").then(|| Table::from_iter([(kind.to_owned(), value.into())]).into())
}
