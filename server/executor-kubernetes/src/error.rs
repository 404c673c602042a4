//! Errors of the API server, classified by what to do next.

use std::time::Duration;

use kube::client::UpgradeConnectionError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// A retry would fail again; the message is for the user.
    ForGood(String),
    /// A retry may succeed: no response, or the server is overloaded.
    ForNow(String),
    /// A retry may succeed, and the server is healthy: a quota is exhausted, or of a conflicting change.
    Busy(String),
    /// The server does not accept our credentials, or no longer does.
    Credentials(String),
    /// The object does not exist.
    NotFound,
    /// An object of this name exists.
    Exists,
}

impl Refused {
    #[must_use]
    pub fn message(&self) -> &str {
        match self {
            Self::ForGood(message)
            | Self::ForNow(message)
            | Self::Busy(message)
            | Self::Credentials(message) => message,
            Self::NotFound => "the object does not exist",
            Self::Exists => "an object of this name already exists",
        }
    }
}

impl From<kube::Error> for Refused {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => of_status(&status),
            kube::Error::Auth(error) => Self::Credentials(error.to_string()),
            // The cluster does not allow exec or attach for this pod; the cluster itself is healthy.
            kube::Error::UpgradeConnection(UpgradeConnectionError::ProtocolSwitch(code))
                if code.is_client_error() && code.as_u16() != 429 =>
            {
                Self::ForGood(format!(
                    "the cluster refused it ({code}): the server's account needs the right to create pods/exec, or pods/attach for a terminal"
                ))
            }
            other => Self::ForNow(innermost(&other)),
        }
    }
}

fn of_status(status: &kube::core::Status) -> Refused {
    let message = status.message.trim().to_owned();
    let text = message.as_str();
    match status.code {
        401 => Refused::Credentials(message),
        404 if status.details.as_ref().is_some_and(|details| !details.name.is_empty()) => Refused::NotFound,
        // A quota has capacity again when something ends; an object being terminated can be recreated under
        // its name.
        403 if text.contains("exceeded quota") => Refused::Busy(message),
        403 if text.contains("being terminated") => {
            Refused::ForGood(format!("its namespace is being deleted: {text}"))
        }
        409 if status.reason == "AlreadyExists" => Refused::Exists,
        409 => Refused::Busy(message),
        413 => Refused::ForGood(format!("it is too long for the cluster: {text}")),
        _ if text.contains("request is too large") => {
            Refused::ForGood(format!("it is too long for the cluster: {text}"))
        }
        408 | 429 | 500.. => Refused::ForNow(message),
        _ => Refused::ForGood(message),
    }
}

/// The root cause: the errors above it only say where it passed.
fn innermost(error: &kube::Error) -> String {
    let mut deepest: &dyn std::error::Error = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

/// Delay before the `n`-th attempt, from 1: doubles each time, up to 16 s.
#[must_use]
pub fn pause(n: u32) -> Duration {
    Duration::from_millis(250).saturating_mul(1 << n.min(7).saturating_sub(1)).min(Duration::from_secs(30))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_succeed_later_is_told_from_what_cannot() {
        let refused = |code: u16, reason: &str, message: &str| {
            let status = kube::core::Status {
                code,
                reason: reason.into(),
                message: message.into(),
                ..Default::default()
            };
            of_status(&status)
        };
        let busy = |message: &str| Refused::Busy(message.into());
        let quota = "jobs.batch \"a\" is forbidden: exceeded quota: few, requested: count/jobs.batch=1";
        assert_eq!(refused(403, "Forbidden", quota), busy(quota));
        assert_eq!(refused(409, "Conflict", "it has changed"), busy("it has changed"));
        assert_eq!(refused(409, "AlreadyExists", "it is there"), Refused::Exists);
        for code in [408, 429, 500, 503, 504] {
            assert_eq!(refused(code, "", "later"), Refused::ForNow("later".into()), "{code}");
        }
        assert_eq!(refused(401, "Unauthorized", "who?"), Refused::Credentials("who?".into()));
        assert_eq!(refused(403, "Forbidden", "no right"), Refused::ForGood("no right".into()));
        assert_eq!(refused(422, "Invalid", "no such field"), Refused::ForGood("no such field".into()));
        let leaving = refused(403, "Forbidden", "unable to create: namespace a is being terminated");
        assert!(
            matches!(leaving, Refused::ForGood(message) if message.starts_with("its namespace is being deleted"))
        );
    }
}
