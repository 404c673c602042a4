//! Uids of accounts, cached: many waiting attempts of one account cause no more queries than one.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::commands::Trouble;

/// How long to remember a failed query: longer than an attempt waits until its next try.
const REMEMBERED: Duration = Duration::from_secs(3);

/// The answer about an account.
enum Said {
    Is(u32),
    /// The query failed.
    Away(Instant, String),
}

/// The answer about one account. Locked during a query.
type Account = Arc<tokio::sync::Mutex<Option<Said>>>;

/// Uids of accounts.
pub struct Uids {
    known: Mutex<HashMap<String, Account>>,
    remembered: Duration,
}

impl Uids {
    pub fn new() -> Self {
        Self::remembering(REMEMBERED)
    }

    fn remembering(remembered: Duration) -> Self {
        Self { known: Mutex::default(), remembered }
    }

    /// The uid of an account; runs `ask`, unless the uid is known or a query has just failed.
    ///
    /// # Errors
    /// The error of `ask`.
    pub async fn of(
        &self,
        account: &str,
        ask: impl Future<Output = Result<u32, Trouble>>,
    ) -> Result<u32, Trouble> {
        let entry = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(account.to_owned()).or_default())
        };
        let mut said = entry.lock().await;
        match &*said {
            Some(Said::Is(uid)) => return Ok(*uid),
            Some(Said::Away(at, why)) if at.elapsed() < self.remembered => {
                return Err(Trouble::Away(why.clone()));
            }
            _ => {}
        }
        let answer = ask.await;
        *said = match &answer {
            Ok(uid) => Some(Said::Is(*uid)),
            Err(Trouble::Away(why)) => Some(Said::Away(Instant::now(), why.clone())),
            // Not cached: once an administrator adds the account, it works at once.
            Err(Trouble::Refused(_)) => None,
        };
        answer
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn many_attempts_of_an_account_ask_as_often_as_one() {
        let asked = AtomicUsize::new(0);
        let away = || async {
            asked.fetch_add(1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(20)).await;
            Err(Trouble::Away("Connection refused".into()))
        };
        let uids = Uids::remembering(Duration::from_secs(3600));
        for _ in 0..3 {
            let (one, other) = tokio::join!(uids.of("ann", away()), uids.of("ann", away()));
            for told in [one, other] {
                assert!(matches!(told, Err(Trouble::Away(why)) if why.contains("refused")));
            }
        }
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        assert!(uids.of("bob", away()).await.is_err());
        assert_eq!(asked.load(Ordering::SeqCst), 2, "another account is another's");

        let forgets = Uids::remembering(Duration::ZERO);
        assert!(forgets.of("ann", away()).await.is_err());
        assert_eq!(forgets.of("ann", async { Ok(7) }).await, Ok(7), "it is asked again later");
        assert_eq!(forgets.of("ann", away()).await, Ok(7), "who it is stays known");
    }

    #[tokio::test]
    async fn an_account_that_there_is_not_is_asked_for_again() {
        let uids = Uids::new();
        let none = uids.of("ann", async { Err(Trouble::Refused("no such user".into())) }).await;
        assert_eq!(none, Err(Trouble::Refused("no such user".into())));
        assert_eq!(uids.of("ann", async { Ok(7) }).await, Ok(7));
    }
}
