//! Key rotation: re-encrypts values of older keys with the newest key.

use cubeloom_domain::belongings::Owner;
use cubeloom_store::{SealedPlace, Store};

use super::Keyring;
use crate::alerts::{self, Part};
use crate::auth::secret::random;
use crate::clusters::added;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rotated {
    /// Number of re-encrypted values.
    pub anew: usize,
    /// Values that cannot be decrypted, with a message. They are unchanged.
    pub left: Vec<String>,
}

/// Re-encrypts all values of older keys with the newest key. Values that users change concurrently are
/// skipped.
pub async fn rotate(store: &Store, keys: &Keyring) -> Result<Rotated, cubeloom_store::StoreError> {
    let mut rotated = Rotated::default();
    for (place, sealed) in store.sealed_values().await? {
        if keys.is_newest(&sealed) {
            continue;
        }
        let (owner, name) = bound_to(&place);
        match keys.open(&owner, &name, &sealed) {
            Ok(value) => {
                let anew = keys.seal(random(), &owner, &name, &value);
                rotated.anew += usize::from(store.reseal(&place, &sealed, &anew).await?);
            }
            Err(error) => rotated.left.push(format!("{name} of {}: {error}", whose(&owner))),
        }
    }
    Ok(rotated)
}

/// Number of values that are encrypted with an older key.
pub async fn in_older_keys(store: &Store, keys: &Keyring) -> Result<usize, cubeloom_store::StoreError> {
    let values = store.sealed_values().await?;
    Ok(values.iter().filter(|(_, sealed)| !keys.is_newest(sealed)).count())
}

/// Owner and name that a value is bound to.
fn bound_to(place: &SealedPlace) -> (Owner, String) {
    let of_channel = |project: &String, channel: &String, part| {
        (Owner::Project(project.clone()), alerts::sealed_as(channel, part))
    };
    match place {
        SealedPlace::Secret { owner, name } => (owner.clone(), name.clone()),
        SealedPlace::Kubeconfig { cluster } => (Owner::Cluster(cluster.clone()), added::NAME.into()),
        SealedPlace::Prometheus { cluster } => (Owner::Cluster(cluster.clone()), added::PROMETHEUS.into()),
        SealedPlace::ChannelAddress { project, channel } => of_channel(project, channel, Part::Address),
        SealedPlace::ChannelSecret { project, channel } => of_channel(project, channel, Part::Secret),
    }
}

fn whose(owner: &Owner) -> String {
    match owner {
        Owner::Project(project) => format!("the project `{project}`"),
        Owner::User(user) => format!("the user {user}"),
        Owner::Cluster(cluster) => format!("the cluster `{cluster}`"),
    }
}
