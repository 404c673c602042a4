//! Changing the key: what an older key encrypted is encrypted anew with the newest.

use cubeloom_domain::belongings::Owner;
use cubeloom_store::{SealedPlace, Store};

use super::Keyring;
use crate::alerts::{self, Part};
use crate::auth::secret::random;
use crate::clusters::added;

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rotated {
    /// How many values were encrypted anew.
    pub anew: usize,
    /// Those that do not open, each with a sentence: they stay as they are.
    pub left: Vec<String>,
}

/// Encrypts anew, with the newest key, all that an older one has encrypted. Values that people change meanwhile are theirs.
///
/// # Errors
/// When the database refuses.
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

/// How many values an older key than the newest has encrypted.
///
/// # Errors
/// When the database refuses.
pub async fn in_older_keys(store: &Store, keys: &Keyring) -> Result<usize, cubeloom_store::StoreError> {
    let values = store.sealed_values().await?;
    Ok(values.iter().filter(|(_, sealed)| !keys.is_newest(sealed)).count())
}

/// Whose a value is, and the name that it is bound to.
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
        Owner::User(user) => format!("the person {user}"),
        Owner::Cluster(cluster) => format!("the cluster `{cluster}`"),
    }
}
