//! View and request body of a price.

use cubeloom_domain::accounting::{Day, Money, Price, Rates};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::accounting::today;
use crate::check::Found;
use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// Maximum price per hour.
const DEAREST: Money = Money(1_000_000_000_000);

/// Price of a node group, or of the nodes of a cluster whose node group has no price.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PriceView {
    /// ID.
    pub id: String,
    /// Cluster.
    pub cluster: String,
    /// Node group. Omitted for all nodes whose node group has no price of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_group: Option<String>,
    /// First day on which the price is valid, in UTC. It is valid until the next price of the same cluster and node
    /// group.
    pub valid_from: String,
    /// Prices per hour.
    #[serde(flatten)]
    pub rates: RatesBody,
    /// User who created the price or last changed it.
    pub user: String,
    /// Whether the price can still be changed. This is the case until the statements of the month in which it took
    /// effect are sent.
    pub open: bool,
    /// Revision number, starting at 1 and incremented on each change. It is the ETag.
    pub revision: u64,
}

impl PriceView {
    /// View of a price, as of today.
    pub(crate) fn new(price: Price, today: Day) -> Self {
        Self {
            open: price.from.month() >= today.month(),
            id: price.id,
            cluster: price.cluster,
            node_group: Some(price.node_group).filter(|name| !name.is_empty()),
            valid_from: price.from.to_string(),
            rates: price.rates.into(),
            user: price.user,
            revision: price.revision,
        }
    }
}

/// Hourly rates, as decimal numbers with a point and a precision of one millionth. An omitted rate is zero.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct RatesBody {
    /// Hourly price of one CPU core.
    pub cpu_hour: String,
    /// Hourly price of one GiB of memory.
    pub memory_gib_hour: String,
    /// Price of one GPU for one hour.
    pub gpu_hour: String,
}

impl From<Rates> for RatesBody {
    fn from(rates: Rates) -> Self {
        Self {
            cpu_hour: rates.cpu.to_string(),
            memory_gib_hour: rates.memory.to_string(),
            gpu_hour: rates.gpu.to_string(),
        }
    }
}

impl RatesBody {
    /// Parses the amounts.
    pub(crate) fn read(&self, found: &mut Found) -> Rates {
        let mut amount = |path: &str, text: &str| {
            if text.is_empty() {
                return Money::default();
            }
            let read: Result<Money, _> = text.parse();
            match read {
                Ok(money) if money <= DEAREST => return money,
                Ok(_) => found.wrong(path, format!("the hourly price is at most {DEAREST}")),
                Err(error) => found.wrong(path, error.to_string()),
            }
            Money::default()
        };
        Rates {
            cpu: amount("/cpu_hour", &self.cpu_hour),
            memory: amount("/memory_gib_hour", &self.memory_gib_hour),
            gpu: amount("/gpu_hour", &self.gpu_hour),
        }
    }
}

/// A new price.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPrice {
    /// Cluster.
    pub cluster: String,
    /// Node group. Omitted for all nodes whose node group has no price of its own.
    #[serde(default)]
    pub node_group: Option<String>,
    /// First day on which the price is valid, in UTC. Defaults to today.
    #[serde(default)]
    pub valid_from: Option<String>,
    /// Price of one CPU core for one hour, e.g. `0.04`.
    #[serde(default)]
    pub cpu_hour: String,
    /// Price of one GiB of memory for one hour.
    #[serde(default)]
    pub memory_gib_hour: String,
    /// Price of one GPU for one hour.
    #[serde(default)]
    pub gpu_hour: String,
}

/// New hourly rates of a price.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PriceChange {
    /// Price of one CPU core for one hour.
    #[serde(default)]
    pub cpu_hour: String,
    /// Price of one GiB of memory for one hour.
    #[serde(default)]
    pub memory_gib_hour: String,
    /// Price of one GPU for one hour.
    #[serde(default)]
    pub gpu_hour: String,
}

/// The price with this id.
pub(crate) async fn find(web: &Web, id: &str) -> ApiResult<Price> {
    web.store().price(id).await?.ok_or_else(|| ApiError::not_found("price", id))
}

/// A price that can be changed: prices of billed days are fixed.
pub(crate) async fn find_open(web: &Web, id: &str) -> ApiResult<Price> {
    let price = find(web, id).await?;
    if price.from.month() < today(web).month() {
        return Err(ApiError::conflict(format!(
            "this price began in {}, whose statements are final: add a price that begins this month or later",
            price.from.month()
        )));
    }
    Ok(price)
}

pub(crate) fn audited(price: &Price) -> Value {
    json!({
        "cluster": price.cluster,
        "node_group": price.node_group,
        "valid_from": price.from.to_string(),
        "cpu_hour": price.rates.cpu.to_string(),
        "memory_gib_hour": price.rates.memory.to_string(),
        "gpu_hour": price.rates.gpu.to_string(),
    })
}

/// Name of a price in the audit log.
pub(crate) fn subject(price: &Price) -> String {
    match price.node_group.as_str() {
        "" => format!("{} {}", price.cluster, price.from),
        group => format!("{}/{group} {}", price.cluster, price.from),
    }
}
