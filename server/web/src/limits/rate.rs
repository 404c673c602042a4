//! Rate limits. Each token, user or address has a token bucket. The headers report its state
//! (draft-ietf-httpapi-ratelimit-headers).

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use moka::sync::Cache;

use crate::auth::{Caller, Via, network};
use crate::error::{ApiError, ApiResult};

const POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const STANDING: HeaderName = HeaderName::from_static("ratelimit");

/// Full buckets are removed every this many requests.
const TIDY_AFTER: u32 = 10_000;

/// How long an unused token is remembered, and how many are.
const KNOWN: Duration = Duration::from_secs(3600);
const MOST: u64 = 100_000;

type Buckets = RateLimiter<String, DashMapStateStore<String>, DefaultClock, StateInformationMiddleware>;

/// Buckets of all callers.
pub(crate) struct Rates {
    callers: Option<Bucket>,
    strangers: Option<Bucket>,
    taken: AtomicU32,
    /// Hashes of recently valid tokens.
    right: Cache<String, ()>,
}

struct Bucket {
    name: &'static str,
    buckets: Buckets,
    /// Requests per second.
    rate: NonZeroU32,
    /// Maximum burst.
    burst: NonZeroU32,
}

/// State of a caller's bucket, as response headers.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    policy: String,
    standing: String,
}

impl Rates {
    /// `rate` requests per second for each caller, with a burst of twice as many. 0 means no limit.
    /// Unauthenticated clients get a fifteenth of it for modifying requests.
    pub(crate) fn new(rate: u32) -> Self {
        let strangers = if rate == 0 { 0 } else { (rate / 15).max(1) };
        Self {
            callers: Bucket::new("caller", rate),
            strangers: Bucket::new("stranger", strangers),
            taken: AtomicU32::new(0),
            right: Cache::builder().max_capacity(MOST).time_to_idle(KNOWN).build(),
        }
    }

    /// Whether a token was valid recently. Unknown tokens count for the client's address before they are
    /// looked up. Guessing thus cannot overload the database, nor slow down known callers at the same
    /// address.
    pub(crate) fn knows(&self, hash: &str) -> bool {
        self.right.get(hash).is_some()
    }

    /// Remembers a valid token.
    pub(crate) fn know(&self, hash: String) {
        self.right.insert(hash, ());
    }

    /// Forgets a token that is no longer valid.
    pub(crate) fn forget(&self, hash: &str) {
        self.right.invalidate(hash);
    }

    /// Counts a request of an authenticated caller.
    pub(crate) fn of_caller(&self, caller: &Caller) -> ApiResult<Option<Standing>> {
        let key = match &caller.via {
            Via::Token { id, .. } => format!("token {id}"),
            Via::Session { .. } => format!("user {}", caller.user.id),
        };
        self.take(self.callers.as_ref(), key)
    }

    /// Counts a request of an unauthenticated client. `changes` is true for modifying requests and invalid
    /// credentials.
    pub(crate) fn of_stranger(&self, address: &str, changes: bool) -> ApiResult<Option<Standing>> {
        let bucket = if changes { &self.strangers } else { &self.callers };
        self.take(bucket.as_ref(), format!("address {}", network(address)))
    }

    fn take(&self, bucket: Option<&Bucket>, key: String) -> ApiResult<Option<Standing>> {
        if self.taken.fetch_add(1, Ordering::Relaxed) % TIDY_AFTER == TIDY_AFTER - 1 {
            for bucket in [&self.callers, &self.strangers].into_iter().flatten() {
                bucket.buckets.retain_recent();
            }
        }
        bucket.map(|bucket| bucket.take(&key)).transpose()
    }
}

impl Bucket {
    fn new(name: &'static str, rate: u32) -> Option<Self> {
        let rate = NonZeroU32::new(rate)?;
        let burst = rate.saturating_add(rate.get());
        let quota = Quota::per_second(rate).allow_burst(burst);
        let buckets = RateLimiter::dashmap(quota).with_middleware::<StateInformationMiddleware>();
        Some(Self { name, buckets, rate, burst })
    }

    fn take(&self, key: &String) -> ApiResult<Standing> {
        match self.buckets.check_key(key) {
            Ok(state) => Ok(self.standing(state.remaining_burst_capacity(), 0)),
            Err(early) => {
                let wait = early.wait_time_from(DefaultClock::default().now()).as_secs() + 1;
                let error = ApiError::too_many("you send requests too fast: slow down", wait);
                Err(self.standing(0, wait).on(error))
            }
        }
    }

    fn standing(&self, left: u32, wait: u64) -> Standing {
        let window = self.burst.get().div_ceil(self.rate.get());
        Standing {
            policy: format!("\"{}\";q={};w={window}", self.name, self.burst),
            standing: format!("\"{}\";r={left};t={wait}", self.name),
        }
    }
}

impl Standing {
    pub(crate) fn put(&self, headers: &mut HeaderMap) {
        for (name, value) in self.headers() {
            headers.insert(name, value);
        }
    }

    fn on(&self, error: ApiError) -> ApiError {
        self.headers().fold(error, |error, (name, value)| error.with_header(name, value))
    }

    fn headers(&self) -> impl Iterator<Item = (HeaderName, HeaderValue)> {
        let pairs = [(POLICY, &self.policy), (STANDING, &self.standing)];
        pairs.into_iter().filter_map(|(name, value)| Some((name, HeaderValue::from_str(value).ok()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_for_its_own_address_only() {
        let rates = Rates::new(30);
        for left in (0..4).rev() {
            let standing = rates.of_stranger("10.0.0.1", true).unwrap().unwrap();
            assert_eq!(standing.standing, format!("\"stranger\";r={left};t=0"));
            assert_eq!(standing.policy, "\"stranger\";q=4;w=2");
        }
        let refused = rates.of_stranger("10.0.0.1", true).unwrap_err();
        let names: Vec<&str> = refused.headers().iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["retry-after", "ratelimit-policy", "ratelimit"]);
        assert!(rates.of_stranger("10.0.0.2", true).is_ok());
        assert!(rates.of_stranger("10.0.0.1", false).is_ok());
    }

    #[test]
    fn no_rate_is_no_limit() {
        let rates = Rates::new(0);
        assert!((0..10_000).all(|_| rates.of_stranger("10.0.0.1", true).is_ok_and(|found| found.is_none())));
    }
}
