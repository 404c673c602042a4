//! Encrypts addresses and secrets of channels like project secrets, bound to their channel.

use cubeloom_domain::alert::Channel;
use cubeloom_domain::belongings::Owner;

use crate::state::Web;

/// Encrypted part of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Address,
    /// Signing key.
    Secret,
}

/// Name that a value is bound to. Names of project secrets contain no slash.
pub(crate) fn name(channel: &str, part: Part) -> String {
    let part = match part {
        Part::Address => "address",
        Part::Secret => "secret",
    };
    format!("alert/{channel}/{part}")
}

/// Encrypts a part of a channel.
pub(crate) fn seal(web: &Web, project: &str, channel: &str, part: Part, value: &str) -> String {
    let owner = Owner::Project(project.into());
    web.keys().sealing.seal(web.random(), &owner, &name(channel, part), value)
}

/// Address and secret of a channel. `Err` says why they cannot be decrypted.
pub(super) fn open(web: &Web, channel: &Channel) -> Result<(String, Option<String>), String> {
    let owner = Owner::Project(channel.project.clone());
    let open = |part, sealed: &str| {
        let opened = web.keys().sealing.open(&owner, &name(&channel.id, part), sealed);
        opened.map_err(|error| format!("the channel's address or secret cannot be read: {error}"))
    };
    let secret = channel.secret.as_deref().map(|sealed| open(Part::Secret, sealed)).transpose()?;
    Ok((open(Part::Address, &channel.address)?, secret))
}
