//! All encrypted values in the database, for key rotation.

use cubeloom_domain::belongings::Owner;
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;

use crate::Store;
use crate::error::StoreError;
use crate::query::execute;
use crate::values::{Columns, Values};

/// The location of an encrypted value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SealedPlace {
    Secret {
        owner: Owner,
        name: String,
    },
    Kubeconfig {
        cluster: String,
    },
    /// The credentials for a cluster's Prometheus.
    Prometheus {
        cluster: String,
    },
    /// The address of an alert channel.
    ChannelAddress {
        project: String,
        channel: String,
    },
    /// The signing key of an alert channel.
    ChannelSecret {
        project: String,
        channel: String,
    },
}

impl SealedPlace {
    /// The table, the column, and the row's key.
    fn row(&self) -> (&'static str, &'static str, Vec<(&'static str, &str)>) {
        match self {
            Self::Secret { owner, name } => {
                let (kind, whose) = crate::secrets::key(owner);
                ("secrets", "sealed", vec![("owner_kind", kind), ("owner", whose), ("name", name)])
            }
            Self::Kubeconfig { cluster } => ("clusters", "sealed", vec![("name", cluster)]),
            Self::Prometheus { cluster } => ("clusters", "sealed_prometheus", vec![("name", cluster)]),
            Self::ChannelAddress { channel, .. } => ("alert_channels", "address", vec![("id", channel)]),
            Self::ChannelSecret { channel, .. } => ("alert_channels", "secret", vec![("id", channel)]),
        }
    }
}

impl Store {
    /// Each encrypted value, with its location. Stored responses to repeated requests are not included: they
    /// expire.
    pub async fn sealed_values(&self) -> Result<Vec<(SealedPlace, String)>, StoreError> {
        let none = || Values::new("sealed value", 0);
        let secrets = "SELECT owner_kind, owner, name, sealed FROM secrets";
        let mut found = self.all(secrets, none(), secret).await?;
        let clusters = "SELECT name, sealed, sealed_prometheus FROM clusters";
        let channels = "SELECT id, project, address, secret FROM alert_channels";
        found.extend(self.all(clusters, none(), cluster).await?.into_iter().flatten());
        found.extend(self.all(channels, none(), channel).await?.into_iter().flatten());
        Ok(found)
    }

    /// Replaces the ciphertext of a value by a new one. Returns `false` if the value has changed meanwhile.
    pub async fn reseal(&self, place: &SealedPlace, old: &str, new: &str) -> Result<bool, StoreError> {
        let (table, column, key) = place.row();
        let mut values = Values::texts("sealed value", &[new, old])?;
        let mut wanted = format!("{column} = $2");
        for (at, (name, value)) in key.iter().enumerate() {
            values.text(value)?;
            wanted.push_str(&format!(" AND {name} = ${}", at + 3));
        }
        let sql = format!("UPDATE {table} SET {column} = $1 WHERE {wanted}");
        let changed =
            self.transact(async |connection| execute(connection, AssertSqlSafe(sql), values).await).await?;
        Ok(changed > 0)
    }
}

fn secret(row: &AnyRow) -> Result<(SealedPlace, String), StoreError> {
    let mut columns = Columns::of("sealed value", row);
    let (kind, whose): (String, String) = (columns.text()?.into(), columns.text()?.into());
    let owner = match kind.as_str() {
        "user" => Owner::User(whose),
        "cluster" => Owner::Cluster(whose),
        _ => Owner::Project(whose),
    };
    Ok((SealedPlace::Secret { owner, name: columns.text()?.into() }, columns.text()?.into()))
}

fn cluster(row: &AnyRow) -> Result<Vec<(SealedPlace, String)>, StoreError> {
    let mut columns = Columns::of("sealed value", row);
    let cluster: String = columns.text()?.into();
    let kubeconfig = columns.maybe_text()?.map(|sealed| {
        let place = SealedPlace::Kubeconfig { cluster: cluster.clone() };
        (place, sealed)
    });
    let prometheus = columns.maybe_text()?.map(|sealed| (SealedPlace::Prometheus { cluster }, sealed));
    Ok(kubeconfig.into_iter().chain(prometheus).collect())
}

fn channel(row: &AnyRow) -> Result<Vec<(SealedPlace, String)>, StoreError> {
    let mut columns = Columns::of("sealed value", row);
    let (channel, project): (String, String) = (columns.text()?.into(), columns.text()?.into());
    let address = SealedPlace::ChannelAddress { project: project.clone(), channel: channel.clone() };
    let mut found = vec![(address, columns.text()?.into())];
    found.extend(
        columns.maybe_text()?.map(|sealed| (SealedPlace::ChannelSecret { project, channel }, sealed)),
    );
    Ok(found)
}
