//! Access to a cluster's API server: from inside the cluster, or with a kubeconfig.

use std::time::Duration;

use futures::FutureExt;
use kube::client::{ClientBuilder, ConfigExt};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use thiserror::Error;

use crate::measured::Measured;

/// Connection timeout.
const CONNECT: Duration = Duration::from_secs(10);

#[derive(Clone)]
pub enum Access {
    /// With the service account of the server's own pod.
    InCluster,
    /// With a self-contained kubeconfig.
    Kubeconfig {
        text: String,
        /// Context name; `None` selects the current context.
        context: Option<String>,
    },
}

impl std::fmt::Debug for Access {
    /// Leaves out the kubeconfig, which contains keys.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::InCluster => "InCluster",
            Self::Kubeconfig { .. } => "Kubeconfig",
        })
    }
}

/// Why a kubeconfig is unusable.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum AccessError {
    /// Not a valid kubeconfig.
    #[error("the kubeconfig cannot be read: {0}")]
    Unreadable(String),
    /// The kubeconfig has no context of this name.
    #[error("the kubeconfig has no context `{0}`; it has {1}")]
    NoContext(String, String),
    /// The kubeconfig has no current context.
    #[error("the kubeconfig has no current context: choose one of {0}")]
    NoCurrent(String),
    /// The kubeconfig would make the server run a program or read its own files.
    #[error(
        "the kubeconfig refers to {0}, which the server does not use: create one with `kubectl config view --minify --flatten` and a service account's token"
    )]
    Outside(&'static str),
    /// The kubeconfig uses a connection method that is not supported.
    #[error(
        "the kubeconfig refers to {0}, which is not supported: use an address of the API server that the server can reach directly"
    )]
    Unsupported(&'static str),
    /// The pod has no service account.
    #[error("the server does not run in a cluster: {0}")]
    NotInside(String),
}

/// Lists the contexts of a kubeconfig, and the current one.
pub fn contexts(text: &str) -> Result<(Vec<String>, Option<String>), AccessError> {
    let config = parse(text)?;
    let current = config.current_context.filter(|name| !name.is_empty());
    Ok((config.contexts.into_iter().map(|context| context.name).collect(), current))
}

fn unreadable(error: &dyn std::error::Error) -> AccessError {
    AccessError::Unreadable(error.to_string())
}

fn parse(text: &str) -> Result<Kubeconfig, AccessError> {
    Kubeconfig::from_yaml(text).map_err(|error| AccessError::Unreadable(error.to_string()))
}

impl Access {
    /// Checks whether the access is usable, without a request to the cluster.
    pub fn check(&self) -> Result<(), AccessError> {
        let Self::Kubeconfig { text, context } = self else {
            return Config::incluster().map(drop).map_err(|error| AccessError::NotInside(error.to_string()));
        };
        let config = parse(text)?;
        let names = || {
            let names: Vec<String> =
                config.contexts.iter().map(|context| format!("`{}`", context.name)).collect();
            if names.is_empty() { "none".into() } else { names.join(", ") }
        };
        let current = config.current_context.as_deref().filter(|name| !name.is_empty());
        match (context.as_deref(), current) {
            (Some(wanted), _) | (None, Some(wanted)) => {
                if !config.contexts.iter().any(|context| context.name == wanted) {
                    return Err(AccessError::NoContext(wanted.to_owned(), names()));
                }
            }
            (None, None) => return Err(AccessError::NoCurrent(names())),
        }
        if let Some(what) = outside(&config) {
            return Err(AccessError::Outside(what));
        }
        let proxied = config.clusters.iter().filter_map(|named| named.cluster.as_ref());
        if proxied.into_iter().any(|cluster| cluster.proxy_url.is_some()) {
            return Err(AccessError::Unsupported("a proxy (`proxy-url`)"));
        }
        // The future resolves at once when the kubeconfig is self-contained. It finds keys, certificates and
        // addresses that can never work.
        let options = KubeConfigOptions { context: context.clone(), ..KubeConfigOptions::default() };
        match Config::from_custom_kubeconfig(config, &options).now_or_never() {
            Some(Ok(made)) => made.rustls_https_connector().map(drop).map_err(|error| unreadable(&error)),
            Some(Err(error)) => Err(unreadable(&error)),
            None => Ok(()),
        }
    }

    /// Creates a client for the cluster of this name. It sends no request yet.
    pub async fn client(&self, cluster: &str) -> Result<Client, AccessError> {
        self.check()?;
        let mut config = match self {
            Self::InCluster => {
                Config::incluster().map_err(|error| AccessError::NotInside(error.to_string()))?
            }
            Self::Kubeconfig { text, context } => {
                let options = KubeConfigOptions { context: context.clone(), ..KubeConfigOptions::default() };
                let made = Config::from_custom_kubeconfig(parse(text)?, &options).await;
                made.map_err(|error| AccessError::Unreadable(error.to_string()))?
            }
        };
        config.connect_timeout = Some(CONNECT);
        // Callers retry themselves: they report the failure meanwhile and back off.
        config.default_retry = false;
        let builder = ClientBuilder::try_from(config);
        let builder = builder.map_err(|error| AccessError::Unreadable(error.to_string()))?;
        Ok(builder.with_layer(&Measured::new(cluster)).build())
    }
}

/// What a kubeconfig would make the server run or read.
fn outside(config: &Kubeconfig) -> Option<&'static str> {
    let users = || config.auth_infos.iter().filter_map(|named| named.auth_info.as_ref());
    let clusters = || config.clusters.iter().filter_map(|named| named.cluster.as_ref());
    let found = [
        (users().any(|user| user.exec.is_some()), "a program (`exec`)"),
        (users().any(|user| user.auth_provider.is_some()), "an `auth-provider`"),
        (users().any(|user| user.token_file.is_some()), "a file (`tokenFile`)"),
        (users().any(|user| user.client_certificate.is_some()), "a file (`client-certificate`)"),
        (users().any(|user| user.client_key.is_some()), "a file (`client-key`)"),
        (clusters().any(|one| one.certificate_authority.is_some()), "a file (`certificate-authority`)"),
    ];
    found.into_iter().find_map(|(is, what)| is.then_some(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kubeconfig(user: &str) -> String {
        format!(
            "apiVersion: v1\nkind: Config\nclusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:1'}}}}]\n\
             users: [{{name: u, user: {{{user}}}}}]\ncontexts: [{{name: a, context: {{cluster: c, user: u}}}}]\n"
        )
    }

    fn check(text: String, context: Option<&str>) -> Result<(), AccessError> {
        Access::Kubeconfig { text, context: context.map(Into::into) }.check()
    }

    #[test]
    fn a_kubeconfig_must_hold_all_that_it_needs() {
        assert_eq!(check(kubeconfig("token: t"), Some("a")), Ok(()));
        for (user, what) in [
            ("exec: {apiVersion: client.authentication.k8s.io/v1, command: sh}", "a program (`exec`)"),
            ("tokenFile: /etc/shadow", "a file (`tokenFile`)"),
            ("client-key: /etc/shadow", "a file (`client-key`)"),
        ] {
            assert_eq!(check(kubeconfig(user), Some("a")), Err(AccessError::Outside(what)));
        }
    }

    #[test]
    fn what_can_never_work_is_refused_before_it_is_tried() {
        let of_cluster = |more: &str| {
            let text = kubeconfig("token: t");
            check(text.replace("'https://127.0.0.1:1'", &format!("'https://127.0.0.1:1'{more}")), Some("a"))
        };
        let proxied = of_cluster(", proxy-url: 'http://127.0.0.1:1'");
        assert_eq!(proxied, Err(AccessError::Unsupported("a proxy (`proxy-url`)")));
        let refused = of_cluster(", certificate-authority-data: '?'");
        assert!(matches!(refused, Err(AccessError::Unreadable(_))), "{refused:?}");
        let keys = "client-certificate-data: bm8=, client-key-data: bm8=";
        let refused = check(kubeconfig(keys), Some("a"));
        assert!(matches!(refused, Err(AccessError::Unreadable(_))), "{refused:?}");
        let address = kubeconfig("token: t").replace("https://127.0.0.1:1", "https://[");
        assert!(matches!(check(address, Some("a")), Err(AccessError::Unreadable(_))));
    }

    #[test]
    fn a_context_is_named_or_current() {
        assert_eq!(check(kubeconfig("token: t"), None), Err(AccessError::NoCurrent("`a`".into())));
        let missing = check(kubeconfig("token: t"), Some("b"));
        assert_eq!(missing, Err(AccessError::NoContext("b".into(), "`a`".into())));
        assert!(matches!(check("- nonsense".into(), None), Err(AccessError::Unreadable(_))));
        assert_eq!(contexts(&kubeconfig("token: t")), Ok((vec!["a".into()], None)));
    }
}
