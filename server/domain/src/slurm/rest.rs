//! Connection to slurmrestd.

use serde::{Deserialize, Serialize};

use super::{is_account, is_path};

/// The supported versions of slurmrestd's API.
pub const REST_VERSIONS: [&str; 1] = ["v0.0.38"];

/// How a server reaches slurmrestd, and authenticates there. The key can sign tokens for any user, so it is
/// configured in the server's own settings, never by the user who adds a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlurmRest {
    /// Its address: `http://127.0.0.1:6820`, or `unix:/run/slurmrestd/socket`.
    pub url: String,
    /// The file with the key by which slurmctld verifies tokens (`jwt_key` of `AuthAltParameters`).
    pub key: String,
    /// The account that reads all jobs and nodes.
    pub user: String,
    /// The version of its API, one of [`REST_VERSIONS`].
    #[serde(default = "usual_version")]
    pub version: String,
}

fn usual_version() -> String {
    REST_VERSIONS[0].into()
}

impl SlurmRest {
    /// The host and port, or the path of the socket. `None` if the address is neither.
    #[must_use]
    pub fn place(&self) -> Option<RestPlace<'_>> {
        if let Some(path) = self.url.strip_prefix("unix:") {
            return is_path(path).then_some(RestPlace::Socket(path));
        }
        let place = self.url.strip_prefix("http://")?.trim_end_matches('/');
        let (host, port) = place.rsplit_once(':')?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
        let is_place = !host.is_empty() && host.bytes().all(plain) && port.parse::<u16>().is_ok();
        is_place.then_some(RestPlace::Port(place))
    }

    /// Problems, one sentence each that begins with the field.
    #[must_use]
    pub fn mistakes(&self) -> Vec<String> {
        let mut found = Vec::new();
        if self.place().is_none() {
            found.push(format!(
                "slurmrestd.url: write `http://HOST:PORT` or `unix:/PATH`, not `{}`; slurmrestd does not support https",
                self.url
            ));
        }
        if !is_path(&self.key) {
            found.push(format!(
                "slurmrestd.key: `{}` is not an absolute path of letters, digits and `/._-+`",
                self.key
            ));
        }
        if !is_account(&self.user) {
            found.push(format!(
                "slurmrestd.user: `{}` is not an account name, or is root: use an operator of Slurm",
                self.user
            ));
        }
        if !REST_VERSIONS.contains(&self.version.as_str()) {
            let known = REST_VERSIONS.join(", ");
            found.push(format!(
                "slurmrestd.version: `{}` is not supported; write one of: {known}",
                self.version
            ));
        }
        found
    }
}

/// The address of slurmrestd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestPlace<'a> {
    /// `HOST:PORT`.
    Port(&'a str),
    /// The path of a socket.
    Socket(&'a str),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(url: &str) -> SlurmRest {
        SlurmRest {
            url: url.into(),
            key: "/etc/slurm/jwt.key".into(),
            user: "cubeloom".into(),
            version: usual_version(),
        }
    }

    #[test]
    fn it_listens_on_a_port_or_on_a_socket() {
        assert_eq!(rest("http://127.0.0.1:6820/").place(), Some(RestPlace::Port("127.0.0.1:6820")));
        assert_eq!(rest("http://[::1]:6820").place(), Some(RestPlace::Port("[::1]:6820")));
        assert_eq!(rest("unix:/run/rest").place(), Some(RestPlace::Socket("/run/rest")));
        for wrong in ["https://a:1", "http://a", "http://:1", "http://a:1/x", "http://a:99999", "unix:x", ""]
        {
            assert_eq!(rest(wrong).place(), None, "{wrong}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_field() {
        assert_eq!(rest("unix:/run/rest").mistakes(), Vec::<String>::new());
        let wrong = SlurmRest {
            url: "https://a:1".into(),
            key: "jwt.key".into(),
            user: "root".into(),
            version: "v0.0.1".into(),
        };
        let fields: Vec<String> =
            wrong.mistakes().iter().map(|said| said.split(':').next().unwrap().to_owned()).collect();
        assert_eq!(fields, ["slurmrestd.url", "slurmrestd.key", "slurmrestd.user", "slurmrestd.version"]);
    }
}
