//! One subject's latest events, and who waits for more.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::watch;

use super::frame::{self, Frame};
use crate::api::events::view::LiveEvent;
use crate::texts::Lang;
use crate::told::told;

/// Events that are kept for those who come back, and their bytes. Those with sentences take up to three times as much:
/// they are kept for other languages, too.
const EVENTS: usize = 10_000;
const BYTES: usize = 4 << 20;

/// A subject: one run, or the runs of everybody.
pub(super) struct Room<P> {
    epoch: String,
    state: Mutex<State<P>>,
    changed: watch::Sender<u64>,
}

struct State<P> {
    /// The present state, as far as a snapshot needs it.
    present: P,
    ring: VecDeque<Entry>,
    bytes: usize,
    /// Events up to this one are not in the ring.
    base: u64,
    last: u64,
    closed: bool,
    /// The snapshot after the last event, in the languages in which somebody needed it.
    snapshots: Vec<(Lang, Bytes)>,
}

/// An event in the ring.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) id: u64,
    /// The project that it is about, where listeners see different ones.
    pub(super) project: Option<Arc<str>>,
    pub(super) frame: Arc<Frame>,
}

/// What a listener finds.
pub(super) enum Found {
    /// The next event.
    Event(Entry),
    /// It has fallen behind: everything after this was forgotten.
    Behind,
    /// Nothing new.
    Nothing,
    /// There will be nothing new.
    Closed,
}

impl<P> Room<P> {
    /// An empty room, whose events are numbered from the moment that it is made: an older room's numbers are lower.
    pub(super) fn new(epoch: String, first: u64, present: P) -> Self {
        let state = State {
            present,
            ring: VecDeque::new(),
            bytes: 0,
            base: first,
            last: first,
            closed: false,
            snapshots: Vec::new(),
        };
        Self { epoch, state: Mutex::new(state), changed: watch::Sender::new(first) }
    }

    fn lock(&self) -> MutexGuard<'_, State<P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The id of an event, as it is sent.
    pub(super) fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.epoch)
    }

    /// The number of an id that this room may have given.
    pub(super) fn number(&self, id: &str) -> Option<u64> {
        let (epoch, number) = id.rsplit_once('-')?;
        let number = number.parse().ok().filter(|_| epoch == self.epoch)?;
        let state = self.lock();
        (state.base..=state.last).contains(&number).then_some(number)
    }

    /// A place for a listener: it changes when there is another event.
    pub(super) fn listen(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// The number of the last event.
    pub(super) fn last(&self) -> u64 {
        self.lock().last
    }

    /// How many listen.
    pub(super) fn listeners(&self) -> usize {
        self.changed.receiver_count()
    }

    /// Looks at the present state, and changes it.
    pub(super) fn with<T>(&self, look: impl FnOnce(&mut P) -> T) -> T {
        look(&mut self.lock().present)
    }

    /// Changes the present state and tells it; `change` says what is to be told.
    pub(super) fn tell(&self, project: Option<&Arc<str>>, change: impl FnOnce(&mut P) -> LiveEvent) {
        let mut state = self.lock();
        let event = change(&mut state.present);
        let id = state.last + 1;
        let frame = Arc::new(Frame::new(event, self.id(id)));
        state.last = id;
        state.bytes += frame.len();
        state.snapshots.clear();
        state.ring.push_back(Entry { id, project: project.cloned(), frame });
        while state.ring.len() > EVENTS || (state.bytes > BYTES && state.ring.len() > 1) {
            let Some(oldest) = state.ring.pop_front() else { break };
            state.bytes -= oldest.frame.len();
            state.base = oldest.id;
        }
        drop(state);
        self.changed.send_replace(id);
    }

    /// Nothing more will happen here.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let last = state.last;
        drop(state);
        self.changed.send_replace(last);
    }

    /// The first event after one.
    pub(super) fn after(&self, seen: u64) -> Found {
        let state = self.lock();
        if seen < state.base {
            return Found::Behind;
        }
        let at = state.ring.partition_point(|entry| entry.id <= seen);
        match state.ring.get(at) {
            Some(entry) => Found::Event(entry.clone()),
            None if state.closed => Found::Closed,
            None => Found::Nothing,
        }
    }

    /// The present state as an event, and the number of the last change in it; made once for all who need it now.
    pub(super) fn snapshot(&self, lang: Lang, make: impl FnOnce(&P) -> LiveEvent) -> (u64, Bytes) {
        let mut state = self.lock();
        let last = state.last;
        if let Some((_, known)) = state.snapshots.iter().find(|(known, _)| *known == lang) {
            return (last, known.clone());
        }
        let made = frame::of(&told(lang, make(&state.present)), &self.id(last));
        state.snapshots.push((lang, made.clone()));
        (last, made)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tell(room: &Room<u32>, count: u32) {
        for _ in 0..count {
            room.tell(None, |present| {
                *present += 1;
                LiveEvent::Deleted { run_id: format!("{present}-{}", "x".repeat(1000)) }
            });
        }
    }

    #[test]
    fn a_reader_gets_every_event_once_and_in_order() {
        let room = Room::new("e".into(), 40, 0);
        tell(&room, 3);
        let mut seen = 40;
        let mut told = Vec::new();
        while let Found::Event(entry) = room.after(seen) {
            seen = entry.id;
            told.push(entry.id);
        }
        assert_eq!(told, [41, 42, 43]);
        assert!(matches!(room.after(43), Found::Nothing));
        assert_eq!(room.number("e-42"), Some(42));
        for foreign in ["f-42", "e-39", "e-44", "42", "e-", ""] {
            assert_eq!(room.number(foreign), None, "{foreign}");
        }
        room.close();
        assert!(matches!(room.after(43), Found::Closed));
    }

    #[test]
    fn what_a_slow_reader_has_not_read_is_bounded() {
        let room = Room::new("e".into(), 0, 0);
        tell(&room, 20_000);
        let state = room.lock();
        assert!(state.bytes <= BYTES, "{}", state.bytes);
        assert!(state.ring.len() < 5_000);
        let base = state.base;
        drop(state);
        assert!(matches!(room.after(base - 1), Found::Behind));
        assert!(matches!(room.after(base), Found::Event(entry) if entry.id == base + 1));
        let (last, _) = room.snapshot(Lang::En, |_| LiveEvent::Revoked {});
        assert_eq!(last, 20_000);
    }
}
