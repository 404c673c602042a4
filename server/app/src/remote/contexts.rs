//! The servers that this user is signed in to: `contexts.toml` in the user's configuration folder, readable by
//! the user only.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use crate::exit::Invalid;

/// A server, and how to use it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    /// Its URL, without a trailing slash.
    pub server: String,
    /// API token.
    pub token: String,
    /// Name of the token's user.
    pub user: String,
    /// Default project.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub project: Option<String>,
}

/// All contexts of a user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contexts {
    /// The context that commands use by default. Without one, they use this machine's data folder.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub current: Option<String>,
    #[serde(default)]
    pub contexts: BTreeMap<String, Context>,
}

/// The file, in `$XDG_CONFIG_HOME/cubeloom` or `~/.config/cubeloom`. `None` without a home folder.
pub fn file(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let folder = set("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| set("HOME").map(|home| Path::new(&home).join(".config")))?;
    Some(folder.join("cubeloom/contexts.toml"))
}

impl Contexts {
    /// Reads the file. A missing one has no contexts.
    ///
    /// # Errors
    /// It is unreadable, invalid, or readable by other users.
    pub fn read(file: &Path) -> anyhow::Result<Self> {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(error).with_context(|| format!("{} cannot be read", file.display())),
        };
        let mode = fs::metadata(file).map_or(0, |found| found.mode());
        if mode & 0o077 != 0 {
            let path = file.display();
            return Err(Invalid::error(format!(
                "{path} has tokens, and other users can read it: run `chmod 600 {path}`"
            )));
        }
        toml::from_str(&text).map_err(|error| {
            Invalid::error(format!("{}: {}: correct or delete it", file.display(), error.message()))
        })
    }

    /// Replaces the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, file: &Path) -> anyhow::Result<()> {
        let explain = || format!("{} cannot be written", file.display());
        let text = toml::to_string(self).with_context(explain)?;
        let folder = file.parent().unwrap_or(Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).with_context(explain)?;
        let part = file.with_extension(format!("{}.part", std::process::id()));
        let written = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part);
        let written = written.and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        if let Err(error) = written.and_then(|()| fs::rename(&part, file)) {
            let _ = fs::remove_file(&part);
            return Err(error).with_context(explain);
        }
        Ok(())
    }

    /// The context with this name.
    ///
    /// # Errors
    /// There is none.
    pub fn get(&self, name: &str) -> anyhow::Result<&Context> {
        self.contexts.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.contexts.keys().map(String::as_str).collect();
            Invalid::error(match names.as_slice() {
                [] => format!("there is no context `{name}`: create one with `cubeloom login URL`"),
                names => format!("there is no context `{name}`; there are: {}", names.join(", ")),
            })
        })
    }

    /// The context of a server, the current one first.
    pub fn of_server(&self, url: &str) -> Option<&Context> {
        let current = self.current.as_ref().and_then(|name| self.contexts.get(name));
        current.into_iter().chain(self.contexts.values()).find(|context| context.server == url)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn some() -> Contexts {
        let context = |server: &str| Context {
            server: server.into(),
            token: "clt_x_y".into(),
            user: "ada".into(),
            project: None,
        };
        let contexts = [("a".into(), context("https://a")), ("b".into(), context("https://b"))];
        Contexts { current: Some("b".into()), contexts: contexts.into() }
    }

    #[test]
    fn contexts_are_kept_for_their_user_only() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/contexts.toml");
        assert_eq!(Contexts::read(&file).unwrap(), Contexts::default());
        some().write(&file).unwrap();
        assert_eq!(Contexts::read(&file).unwrap(), some());
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let refused = Contexts::read(&file).unwrap_err().to_string();
        assert!(refused.contains("chmod 600"), "{refused}");
    }

    #[test]
    fn a_missing_context_is_explained() {
        let refused = some().get("c").unwrap_err().to_string();
        assert_eq!(refused, "there is no context `c`; there are: a, b");
        assert_eq!(some().of_server("https://a").unwrap().server, "https://a");
        assert!(some().of_server("https://c").is_none());
    }
}
