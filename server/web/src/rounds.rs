//! What many ask at the same moment is answered once. Nobody is given an answer that was begun before he asked, so
//! whoever has changed something sees it: those who ask while an answer is on its way share the next one.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

/// An answer that is being made, or will be; nothing when that failed.
type Round<V> = Arc<OnceCell<Option<V>>>;

/// Questions that somebody waits for.
pub(crate) struct Rounds<K: Eq + Hash, V> {
    asked: Mutex<HashMap<K, Arc<Question<V>>>>,
}

struct Question<V> {
    /// Whose answer is being made.
    turn: tokio::sync::Mutex<()>,
    /// The round that has not begun.
    next: Mutex<Option<Round<V>>>,
}

impl<K: Eq + Hash, V> Default for Rounds<K, V> {
    fn default() -> Self {
        Self { asked: Mutex::default() }
    }
}

impl<K: Clone + Eq + Hash, V: Clone> Rounds<K, V> {
    /// The answer to a question, from `answer` unless somebody else's is there in time. When that one fails, everybody
    /// asks for himself.
    ///
    /// # Errors
    /// What `answer` says.
    pub(crate) async fn ask<E, F: Future<Output = Result<V, E>>>(
        &self,
        key: &K,
        answer: impl Fn() -> F,
    ) -> Result<V, E> {
        let asked = Asked::of(self, key);
        let round = asked.question.join();
        let mut failed = None;
        let made = round
            .get_or_init(|| async {
                let _turn = asked.question.turn.lock().await;
                asked.question.begin(&round);
                answer().await.map_err(|error| failed = Some(error)).ok()
            })
            .await;
        match (made, failed) {
            (Some(made), _) => Ok(made.clone()),
            (None, Some(error)) => Err(error),
            (None, None) => answer().await,
        }
    }
}

/// Somebody who waits; the last who goes takes the question along.
struct Asked<'a, K: Eq + Hash, V> {
    rounds: &'a Rounds<K, V>,
    key: &'a K,
    question: Arc<Question<V>>,
}

impl<'a, K: Clone + Eq + Hash, V> Asked<'a, K, V> {
    fn of(rounds: &'a Rounds<K, V>, key: &'a K) -> Self {
        let mut asked = lock(&rounds.asked);
        let known = asked.get(key).map(Arc::clone);
        let question = known.unwrap_or_else(|| {
            let question = Arc::new(Question { turn: tokio::sync::Mutex::default(), next: Mutex::default() });
            asked.insert(key.clone(), Arc::clone(&question));
            question
        });
        Self { rounds, key, question }
    }
}

impl<K: Eq + Hash, V> Drop for Asked<'_, K, V> {
    fn drop(&mut self) {
        let mut asked = lock(&self.rounds.asked);
        // The map's and this one.
        if Arc::strong_count(&self.question) == 2 {
            asked.remove(self.key);
        }
    }
}

impl<V> Question<V> {
    fn join(&self) -> Round<V> {
        Arc::clone(lock(&self.next).get_or_insert_with(Arc::default))
    }

    /// From now on nobody joins this round.
    fn begin(&self, round: &Round<V>) {
        lock(&self.next).take_if(|next| Arc::ptr_eq(next, round));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::sync::Notify;
    use tokio::task::yield_now;

    use super::*;

    #[tokio::test]
    async fn who_asks_meanwhile_shares_the_next_answer() {
        let rounds = Rounds::<&str, u32>::default();
        let (value, made, gate) = (AtomicU32::new(1), AtomicU32::new(0), Notify::new());
        let ask = || {
            rounds.ask(&"a", || async {
                made.fetch_add(1, Ordering::SeqCst);
                let read = value.load(Ordering::SeqCst);
                gate.notified().await;
                Ok::<_, ()>(read)
            })
        };
        let change = async {
            value.store(2, Ordering::SeqCst);
            let open = async {
                gate.notify_one();
                gate.notify_one();
            };
            tokio::join!(ask(), ask(), ask(), open)
        };
        let (first, later) = tokio::join!(ask(), change);
        assert_eq!((first, later), (Ok(1), (Ok(2), Ok(2), Ok(2), ())));
        assert_eq!(made.load(Ordering::SeqCst), 2);
        gate.notify_one();
        assert_eq!(ask().await, Ok(2));
        assert_eq!(made.load(Ordering::SeqCst), 3, "nothing is remembered");
        assert!(lock(&rounds.asked).is_empty());
    }

    #[tokio::test]
    async fn who_goes_away_leaves_the_question_to_the_others() {
        let rounds = Rounds::<&str, u32>::default();
        let gate = Notify::new();
        let ask = || {
            rounds.ask(&"a", || async {
                gate.notified().await;
                Ok::<_, ()>(1)
            })
        };
        let (mut gone, mut stays) = (Box::pin(ask()), Box::pin(ask()));
        tokio::select! {
            biased;
            _ = &mut gone => panic!("nobody has opened"),
            _ = &mut stays => panic!("nobody has opened"),
            () = yield_now() => {}
        }
        drop(gone);
        gate.notify_one();
        assert_eq!(stays.await, Ok(1));
        assert!(lock(&rounds.asked).is_empty());
    }

    #[tokio::test]
    async fn after_a_failure_everybody_asks_for_himself() {
        let rounds = Rounds::<&str, u32>::default();
        let made = AtomicU32::new(0);
        let ask = || {
            rounds.ask(&"a", || async {
                yield_now().await;
                match made.fetch_add(1, Ordering::SeqCst) {
                    1 => Err("away"),
                    n => Ok(n),
                }
            })
        };
        assert_eq!(tokio::join!(ask(), ask(), ask()), (Ok(0), Err("away"), Ok(2)));
        assert!(lock(&rounds.asked).is_empty());
    }
}
