//! The latest events of one subject, and its listeners.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::watch;

use super::frame::{self, Frame};
use crate::api::events::view::LiveEvent;
use crate::texts::Lang;
use crate::told::told;

/// Maximum number of events kept for reconnecting listeners, and their size in bytes. Events with messages
/// take up to three times as much: they are kept in each language.
const EVENTS: usize = 10_000;
const BYTES: usize = 4 << 20;

/// A subject: one run, or the runs of all projects.
pub(super) struct Room<P> {
    epoch: String,
    state: Mutex<State<P>>,
    changed: watch::Sender<u64>,
}

struct State<P> {
    /// Current state that snapshots need.
    present: P,
    ring: VecDeque<Entry>,
    bytes: usize,
    /// Events up to this number are no longer in the buffer.
    base: u64,
    last: u64,
    closed: bool,
    /// Cached snapshots after the last event, by language.
    snapshots: Vec<(Lang, Bytes)>,
}

/// An event in the buffer.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) id: u64,
    /// Project of the event, for rooms whose listeners see different projects.
    pub(super) project: Option<Arc<str>>,
    pub(super) frame: Arc<Frame>,
}

/// Result of a read.
pub(super) enum Found {
    /// The next event.
    Event(Entry),
    /// The listener has fallen behind: later events were dropped.
    Behind,
    Nothing,
    Closed,
}

impl<P> Room<P> {
    /// An empty room. Its numbers start above those of older rooms.
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

    /// Id of an event, as sent to clients.
    pub(super) fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.epoch)
    }

    /// The number in an id, if this room may have issued it.
    pub(super) fn number(&self, id: &str) -> Option<u64> {
        let (epoch, number) = id.rsplit_once('-')?;
        let number = number.parse().ok().filter(|_| epoch == self.epoch)?;
        let state = self.lock();
        (state.base..=state.last).contains(&number).then_some(number)
    }

    /// Subscribes a listener. The value changes with each event.
    pub(super) fn listen(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// The number of the last event.
    pub(super) fn last(&self) -> u64 {
        self.lock().last
    }

    pub(super) fn listeners(&self) -> usize {
        self.changed.receiver_count()
    }

    /// Accesses the current state.
    pub(super) fn with<T>(&self, look: impl FnOnce(&mut P) -> T) -> T {
        look(&mut self.lock().present)
    }

    /// Changes the current state, and publishes the event that `change` returns.
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

    /// Closes the room: no further events.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let last = state.last;
        drop(state);
        self.changed.send_replace(last);
    }

    /// The first event after number `seen`.
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

    /// The current state as an event, with the number of the last change in it. Created once for concurrent
    /// requests.
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
