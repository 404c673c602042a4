//! A price, as the API takes and shows it.

use cubeloom_domain::accounting::{Day, Money, Price, Rates};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::accounting::today;
use crate::check::Found;
use crate::error::{ApiError, ApiResult};
use crate::state::Web;

/// The most that an hour may cost.
const DEAREST: Money = Money(1_000_000_000_000);

/// A price of a node group, or of a cluster's nodes whose group has none.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PriceView {
    /// Its id.
    pub id: String,
    /// The cluster.
    pub cluster: String,
    /// The node group; absent for every node whose group has no price of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_group: Option<String>,
    /// The first day on which it is valid, UTC, until the next price of the same.
    pub valid_from: String,
    /// What an hour costs.
    #[serde(flatten)]
    pub rates: RatesBody,
    /// Who entered or changed it last.
    pub user: String,
    /// Whether it may still be changed: the statements of the month in which it began have not gone out.
    pub open: bool,
    /// Counts its changes, from 1: its ETag.
    pub revision: u64,
}

impl PriceView {
    /// A price, as seen today.
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

/// What an hour costs: amounts with a point, to a millionth; nothing where one is absent.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub struct RatesBody {
    /// Of one core.
    pub cpu_hour: String,
    /// Of one GiB of memory.
    pub memory_gib_hour: String,
    /// Of one graphics card.
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
    /// Reads the amounts.
    pub(crate) fn read(&self, found: &mut Found) -> Rates {
        let mut amount = |path: &str, text: &str| {
            if text.is_empty() {
                return Money::default();
            }
            let read: Result<Money, _> = text.parse();
            match read {
                Ok(money) if money <= DEAREST => return money,
                Ok(_) => found.wrong(path, format!("an hour costs at most {DEAREST}")),
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
    /// The cluster.
    pub cluster: String,
    /// The node group; absent for every node whose group has no price of its own.
    #[serde(default)]
    pub node_group: Option<String>,
    /// The first day, UTC; today when absent.
    #[serde(default)]
    pub valid_from: Option<String>,
    /// What an hour of one core costs, e.g. `0.04`.
    #[serde(default)]
    pub cpu_hour: String,
    /// What an hour of one GiB of memory costs.
    #[serde(default)]
    pub memory_gib_hour: String,
    /// What an hour of one graphics card costs.
    #[serde(default)]
    pub gpu_hour: String,
}

/// What a price is changed to.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PriceChange {
    /// What an hour of one core costs.
    #[serde(default)]
    pub cpu_hour: String,
    /// What an hour of one GiB of memory costs.
    #[serde(default)]
    pub memory_gib_hour: String,
    /// What an hour of one graphics card costs.
    #[serde(default)]
    pub gpu_hour: String,
}

/// The price of this id.
pub(crate) async fn find(web: &Web, id: &str) -> ApiResult<Price> {
    web.store().price(id).await?.ok_or_else(|| ApiError::not_found("price", id))
}

/// A price that may be changed: what has been billed stays.
pub(crate) async fn find_open(web: &Web, id: &str) -> ApiResult<Price> {
    let price = find(web, id).await?;
    if price.from.month() < today(web).month() {
        return Err(ApiError::conflict(format!(
            "this price began in {}, whose statements have gone out: enter a new one that begins this month or later",
            price.from.month()
        )));
    }
    Ok(price)
}

/// As the audit log has it.
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

/// What it is called in the audit log.
pub(crate) fn subject(price: &Price) -> String {
    match price.node_group.as_str() {
        "" => format!("{} {}", price.cluster, price.from),
        group => format!("{}/{group} {}", price.cluster, price.from),
    }
}
