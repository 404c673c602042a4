//! Flow control of terminal output. The browser acknowledges rendered bytes. Otherwise, a program that prints
//! without end would fill its memory, as WebSockets give pages no back pressure.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Semaphore;

/// Maximum number of unacknowledged bytes.
pub(super) const WINDOW: usize = 256 << 10;

/// Remaining window of a connection.
pub(super) struct Window {
    room: Semaphore,
    under_way: AtomicUsize,
}

impl Window {
    pub(super) fn new() -> Self {
        Self { room: Semaphore::new(WINDOW), under_way: AtomicUsize::new(0) }
    }

    /// Waits until this many bytes may be sent, at most [`WINDOW`].
    pub(super) async fn take(&self, bytes: usize) {
        let count = u32::try_from(bytes.min(WINDOW)).unwrap_or(u32::MAX);
        if let Ok(permit) = self.room.acquire_many(count).await {
            permit.forget();
            self.under_way.fetch_add(count as usize, Ordering::AcqRel);
        }
    }

    /// Acknowledges bytes. Limited to those in flight.
    pub(super) fn shown(&self, bytes: usize) {
        let mut back = 0;
        let taken = |under_way: usize| {
            back = bytes.min(under_way);
            Some(under_way - back)
        };
        let _ = self.under_way.fetch_update(Ordering::AcqRel, Ordering::Acquire, taken);
        self.room.add_permits(back);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn has_room(window: &Window, bytes: usize) -> bool {
        tokio::time::timeout(Duration::from_millis(20), window.take(bytes)).await.is_ok()
    }

    #[tokio::test]
    async fn what_was_shown_makes_room_and_nothing_else_does() {
        let window = Window::new();
        window.shown(WINDOW);
        assert!(has_room(&window, WINDOW).await);
        assert!(!has_room(&window, 1).await, "nothing was shown that was under way");
        window.shown(10);
        assert!(has_room(&window, 10).await && !has_room(&window, 1).await);
        window.shown(usize::MAX);
        assert!(has_room(&window, WINDOW).await && !has_room(&window, 1).await);
    }
}
