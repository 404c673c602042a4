//! The configuration: one TOML file, every value also as `CUBELOOM_<SECTION>_<KEY>`, and the origin of each.

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

/// The system-wide configuration file.
pub const SYSTEM_FILE: &str = "/etc/cubeloom/cubeloom.toml";

/// Command line options that override the configuration.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `--config`
    pub config: Option<PathBuf>,
    /// `--data`
    pub data: Option<PathBuf>,
    /// `--templates`
    pub templates: Option<PathBuf>,
}

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    File(PathBuf),
    /// An environment variable.
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

/// The effective configuration.
#[derive(Clone, Debug)]
pub struct Config {
    pub settings: Settings,
    /// The data folder, absolute.
    pub data: PathBuf,
    /// The origin of each `section.key`; an absent one has its default.
    pub origins: BTreeMap<String, Origin>,
}

impl Config {
    /// Reads file, environment and command line.
    ///
    /// # Errors
    /// A message about the first unreadable file or unknown key.
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

    pub fn origin(&self, section: &str, name: &str) -> Origin {
        self.origins.get(&format!("{section}.{name}")).cloned().unwrap_or(Origin::Default)
    }
}

/// Adds the one effective file, and determines the data folder, which may contain the file.
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
