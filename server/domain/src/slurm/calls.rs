//! How a cluster's commands are called.

use serde::{Deserialize, Serialize};

use super::{SlurmRest, is_path};

/// How a cluster's commands are called on the server's machine. These programs run as the server, so they are
/// configured in the server's own settings, never by the user who adds a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlurmCalls {
    /// Command prefix that runs a command as another account, with `{account}` in it:
    /// `[sudo, -n, -u, "{account}", --]`. Empty if all jobs run as the server's own account: then tasks can
    /// read what the server can read.
    #[serde(rename = "become")]
    pub become_account: Vec<String>,
    /// The configuration file (`SLURM_CONF`). `None` means Slurm's default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub conf: Option<String>,
    /// Search path of the commands.
    #[serde(default = "usual_path")]
    pub path: String,
    /// Connection to slurmrestd, which is preferred over the commands where possible.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slurmrestd: Option<SlurmRest>,
    /// Polling interval for all jobs together and their folders, in seconds.
    #[serde(default = "usual_every")]
    pub every: u64,
}

fn usual_path() -> String {
    "/usr/local/bin:/usr/bin:/bin".into()
}

fn usual_every() -> u64 {
    1
}

impl SlurmCalls {
    /// Problems, one sentence each that begins with the field.
    #[must_use]
    pub fn mistakes(&self) -> Vec<String> {
        let mut found = Vec::new();
        let leads = self.become_account.iter().any(|word| word.contains("{account}"));
        if !leads && !self.become_account.is_empty() {
            found.push("become: write the account as `{account}`".into());
        }
        if let Some(conf) = self.conf.as_ref().filter(|conf| !is_path(conf)) {
            found.push(format!("conf: `{conf}` is not an absolute path of letters, digits and `/._-+`"));
        }
        if !self.path.split(':').all(is_path) {
            found.push("path: write absolute folders with `:` between them".into());
        }
        found.extend(self.slurmrestd.iter().flat_map(SlurmRest::mistakes));
        if !(1..=60).contains(&self.every) {
            found.push(format!("every: `{}` is not from 1 to 60 seconds", self.every));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(calls: &SlurmCalls) -> Vec<String> {
        calls.mistakes().iter().map(|said| said.split(": ").next().unwrap().to_owned()).collect()
    }

    #[test]
    fn accounts_are_led_to_by_words_that_name_them() {
        let calls = |words: &[&str]| SlurmCalls {
            become_account: words.iter().map(|word| (*word).to_owned()).collect(),
            conf: None,
            path: usual_path(),
            slurmrestd: None,
            every: usual_every(),
        };
        assert_eq!(calls(&[]).mistakes(), Vec::<String>::new());
        assert_eq!(calls(&["sudo", "-n", "-u", "{account}", "--"]).mistakes(), Vec::<String>::new());
        let wrong =
            SlurmCalls { conf: Some("slurm.conf".into()), path: "bin".into(), every: 0, ..calls(&["sudo"]) };
        assert_eq!(fields(&wrong), ["become", "conf", "path", "every"]);
        assert_eq!(fields(&SlurmCalls { every: 61, ..calls(&[]) }), ["every"]);
    }
}
