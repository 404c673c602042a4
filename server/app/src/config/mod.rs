//! The configuration: one TOML file, every value also as `CUBELOOM_<SECTION>_<KEY>`, and where each came from.

mod file;
mod keys;
mod layers;
mod settings;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

pub use keys::{FREE, KEYS, help};
pub use settings::{Encryption, Settings};

use crate::exit::Invalid;
use crate::paths;

/// The configuration for the whole machine.
pub const SYSTEM_FILE: &str = "/etc/cubeloom/cubeloom.toml";

/// What the command line says about the configuration.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `--config`
    pub config: Option<PathBuf>,
    /// `--data`
    pub data: Option<PathBuf>,
    /// `--templates`
    pub templates: Option<PathBuf>,
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// The file.
    File(PathBuf),
    /// A variable.
    Variable(String),
    /// An option on the command line.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Variable(name) => write!(f, "variable {name}"),
            Self::Flag(name) => write!(f, "option {name}"),
        }
    }
}

/// What is in force.
#[derive(Clone, Debug)]
pub struct Config {
    /// The values.
    pub settings: Settings,
    /// The data folder, absolute.
    pub data: PathBuf,
    /// Where each `section.key` came from; what is absent is a default.
    pub origins: BTreeMap<String, Origin>,
}

impl Config {
    /// Reads file, environment and command line.
    ///
    /// # Errors
    /// A sentence about the first thing that cannot be read, or is not known.
    pub fn load(
        flags: &Flags,
        environment: impl Iterator<Item = (OsString, OsString)>,
    ) -> anyhow::Result<Self> {
        let environment: BTreeMap<String, String> = environment
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let mut layers = layers::Layers::default();
        layers.environment(&environment)?;
        if let Some(data) = &flags.data {
            layers.flag("server", "data", "--data", data);
        } else if let Some(data) = environment.get("CUBELOOM_DATA").filter(|data| !data.is_empty()) {
            layers.set("server", "data", data.as_str().into(), Origin::Variable("CUBELOOM_DATA".into()));
        }
        if let Some(templates) = &flags.templates {
            layers.flag("server", "templates", "--templates", templates);
        }
        let explicit = flags.config.clone().or_else(|| environment.get("CUBELOOM_CONFIG").map(PathBuf::from));
        let data = choose_file(&mut layers, explicit.as_deref(), &environment)?;
        let (settings, origins) = layers.finish()?;
        Ok(Self { settings, data, origins })
    }

    /// Where a key's value came from.
    pub fn origin(&self, section: &str, name: &str) -> Origin {
        self.origins.get(&format!("{section}.{name}")).cloned().unwrap_or(Origin::Default)
    }
}

/// Adds the one file that is in force, and settles the data folder: the file may lie in it.
fn choose_file(
    layers: &mut layers::Layers,
    explicit: Option<&Path>,
    environment: &BTreeMap<String, String>,
) -> anyhow::Result<PathBuf> {
    if let Some(path) = explicit {
        layers.file(path, file::read(path)?.ok_or_else(|| file::missing(path))?)?;
        return paths::data_folder(layers.text("server", "data"), environment);
    }
    let system = Path::new(SYSTEM_FILE);
    let system_table = file::read(system)?;
    let system_data = system_table.as_ref().and_then(|table| file::text(table, "server", "data"));
    let data = paths::data_folder(layers.text("server", "data").or(system_data), environment)?;
    let own = data.join("cubeloom.toml");
    if let Some(table) = file::read(&own)? {
        if file::text(&table, "server", "data").is_some() {
            return Err(Invalid::error(format!(
                "{}: [server] data cannot be set by the file that lies in the data folder: remove it, or use --data",
                own.display()
            )));
        }
        layers.file(&own, table)?;
    } else if let Some(table) = system_table {
        layers.file(system, table)?;
    }
    Ok(data)
}

#[cfg(test)]
mod tests;
