//! The last XID error of each card of this machine. NVML tells of one when it happens, and keeps none: a thread waits for them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use nvml_wrapper::bitmasks::event::EventTypes;
use nvml_wrapper::enums::event::XidError;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, EventSet, Nvml};

/// How long it is waited for one, in milliseconds: whether anybody still wants to know is looked at as often.
const PATIENCE: u32 = 1000;

/// By the card's UUID. It begins anew with the server.
#[derive(Debug, Default)]
pub(crate) struct Xids(Mutex<BTreeMap<String, u32>>);

impl Xids {
    /// The last that the card had.
    pub(crate) fn of(&self, uuid: &str) -> Option<u32> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(uuid).copied()
    }
}

/// What there is to say of a time of waiting.
enum Said {
    /// A card has had an error.
    Error {
        uuid: String,
        xid: u32,
    },
    Nothing,
    /// There will be no more.
    End,
}

/// Watches the cards for as long as somebody has this. Where the driver tells of no events, nothing is known.
pub(crate) fn watch(xids: &Arc<Xids>) {
    let xids = Arc::downgrade(xids);
    let work = move || {
        let Ok(nvml) = Nvml::init() else { return };
        let cards = cards(&nvml);
        if let Some(events) = events(&nvml, &cards) {
            keep(&xids, || next(&events, &cards));
        }
    };
    let _ = thread::Builder::new().name("xids".into()).spawn(work);
}

/// Keeps what is said until nobody wants to know any more.
fn keep(xids: &Weak<Xids>, mut next: impl FnMut() -> Said) {
    while xids.strong_count() > 0 {
        match (next(), xids.upgrade()) {
            (Said::Error { uuid, xid }, Some(xids)) => {
                xids.0.lock().unwrap_or_else(PoisonError::into_inner).insert(uuid, xid);
            }
            (Said::End, _) | (_, None) => return,
            (Said::Nothing, Some(_)) => {}
        }
    }
}

/// A card and its UUID, which NVML does not tell any more of one that has fallen off the bus.
fn cards(nvml: &Nvml) -> Vec<(Device<'_>, String)> {
    let count = nvml.device_count().unwrap_or_default();
    let devices = (0..count).filter_map(|index| nvml.device_by_index(index).ok());
    devices.filter_map(|device| device.uuid().ok().map(|uuid| (device, uuid))).collect()
}

/// The errors of the cards that tell of them. NVML takes a set back that a card refuses: only those are asked that can.
fn events<'n>(nvml: &'n Nvml, cards: &[(Device<'n>, String)]) -> Option<EventSet<'n>> {
    let wanted = EventTypes::CRITICAL_XID_ERROR;
    let can = |device: &Device<'_>| device.supported_event_types().is_ok_and(|types| types.contains(wanted));
    let mut able = cards.iter().map(|(device, _)| device).filter(|device| can(device)).peekable();
    able.peek()?;
    able.try_fold(nvml.create_event_set().ok()?, |set, device| device.register_events(wanted, set).ok())
}

fn next(events: &EventSet<'_>, cards: &[(Device<'_>, String)]) -> Said {
    let event = match events.wait(PATIENCE) {
        Ok(event) => event,
        Err(NvmlError::Timeout) => return Said::Nothing,
        Err(NvmlError::Uninitialized) => return Said::End,
        // A card that is gone is said at once, again and again; the others may still tell of something.
        Err(_) => {
            thread::sleep(Duration::from_millis(PATIENCE.into()));
            return Said::Nothing;
        }
    };
    let card = cards.iter().find(|(device, _)| is_same(device, &event.device));
    match (card, event.event_data) {
        (Some((_, uuid)), Some(XidError::Value(xid))) => {
            u32::try_from(xid).map_or(Said::Nothing, |xid| Said::Error { uuid: uuid.clone(), xid })
        }
        _ => Said::Nothing,
    }
}

fn is_same(a: &Device<'_>, b: &Device<'_>) -> bool {
    // SAFETY: they are compared, and nothing is done with what they stand for.
    #[allow(unsafe_code)]
    let (a, b) = unsafe { (a.handle(), b.handle()) };
    a == b
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(uuid: &str, xid: u32) -> Said {
        Said::Error { uuid: uuid.into(), xid }
    }

    #[test]
    fn the_last_error_of_each_card_is_kept() {
        let xids = Arc::new(Xids::default());
        let mut said = [
            error("GPU-1", 31),
            Said::Nothing,
            error("GPU-2", 13),
            error("GPU-1", 79),
            Said::End,
            error("GPU-3", 48),
        ]
        .into_iter();
        keep(&Arc::downgrade(&xids), || said.next().unwrap_or(Said::End));
        assert_eq!(["GPU-1", "GPU-2", "GPU-3"].map(|card| xids.of(card)), [Some(79), Some(13), None]);
    }

    #[test]
    fn nobody_waits_for_errors_that_nobody_wants_to_know() {
        let mut xids = Some(Arc::new(Xids::default()));
        let weak = xids.as_ref().map(Arc::downgrade).unwrap();
        let mut asked = 0;
        keep(&weak, || {
            asked += 1;
            drop(xids.take());
            error("GPU-1", 79)
        });
        keep(&weak, || unreachable!("it is gone already"));
        assert_eq!(asked, 1);
    }
}
