//! The last XID error of each card of this machine, for as long as nothing says that the card has been reset since. NVML tells of
//! an error when it happens, and keeps none: a thread waits for them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use cubeloom_domain::monitoring::is_of_the_card;
use nvml_wrapper::bitmasks::event::EventTypes;
use nvml_wrapper::enums::event::XidError;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, EventSet, Nvml};

/// How long it is waited for one, in milliseconds: whether anybody still wants to know is looked at as often.
const PATIENCE: u32 = 1000;
/// What the driver calls it when a card has fallen off the bus: NVML does not know it any more.
const OFF_THE_BUS: u32 = 79;
/// How often it is looked which cards are there.
const LOOK: Duration = Duration::from_secs(10);

/// What is known of the cards, by UUID. It begins anew with the server.
#[derive(Default)]
pub(crate) struct Xids {
    known: Mutex<BTreeMap<String, Known>>,
    /// What the cards are asked by; given up while one is away, as NVML finds one that is back only when it begins anew.
    nvml: Mutex<Option<Arc<Nvml>>>,
}

/// What is known of a card.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Its last error: of those of its own, where it had one.
    xid: Option<u32>,
    /// Whether NVML does not know it at present.
    is_away: bool,
}

impl Xids {
    /// The last error that the card had: one of its own before those that programs bring about.
    pub(crate) fn of(&self, uuid: &str) -> Option<u32> {
        self.known().get(uuid).and_then(|known| known.xid)
    }

    /// The error of its own for which no job is to get the card. One that is away has fallen off the bus, whatever was told of it.
    pub(crate) fn fault(&self, uuid: &str) -> Option<u32> {
        let known = self.known().get(uuid).copied()?;
        let own = known.xid.filter(|xid| is_of_the_card(*xid));
        own.or(known.is_away.then_some(OFF_THE_BUS))
    }

    /// The error of its own of the card that may be forgotten. None of a card that is away: nobody could use it.
    pub(crate) fn known_fault(&self, uuid: &str) -> Option<u32> {
        let known = self.known().get(uuid).copied().filter(|known| !known.is_away)?;
        known.xid.filter(|xid| is_of_the_card(*xid))
    }

    /// Forgets the error of its own that the card had, where it may be; which one it was.
    pub(crate) fn forget(&self, uuid: &str) -> Option<u32> {
        let mut known = self.known();
        let known = known.get_mut(uuid).filter(|known| !known.is_away)?;
        known.xid.take_if(|xid| is_of_the_card(*xid))
    }

    /// What the cards are asked by, if anything is.
    pub(crate) fn nvml(&self) -> Option<Arc<Nvml>> {
        self.nvml.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_nvml(&self, nvml: Option<Arc<Nvml>>) {
        *self.nvml.lock().unwrap_or_else(PoisonError::into_inner) = nvml;
    }

    /// The card has had an error. What a program did wrong does not make a faulty card whole.
    pub(crate) fn note(&self, uuid: &str, xid: u32) {
        let mut known = self.known();
        let known = known.entry(uuid.to_owned()).or_default();
        if is_of_the_card(xid) || !known.xid.is_some_and(is_of_the_card) {
            known.xid = Some(xid);
        }
    }

    /// Whether NVML knows the card. One that is back has been reset, or its driver loaded anew: what it had is forgotten.
    pub(crate) fn set_here(&self, uuid: &str, is_here: bool) {
        let mut known = self.known();
        let known = known.entry(uuid.to_owned()).or_default();
        if is_here && known.is_away {
            known.xid = None;
        }
        known.is_away = !is_here;
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What there is to say of a time of waiting.
enum Said {
    /// A card has had an error.
    Error {
        uuid: String,
        xid: u32,
    },
    /// Whether NVML knows each card.
    Cards(Vec<(String, bool)>),
    Nothing,
    /// There will be no more.
    End,
}

/// Why no more is kept of what is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// A card is away, and was at the look before: NVML is to be asked anew.
    Away,
    /// All cards are there, and no more is said.
    Silence,
    /// Nobody wants to know any more.
    Unwanted,
}

/// What is remembered from one time that NVML is asked to the next.
#[derive(Default)]
struct Memory {
    /// Whether cards have told of errors, or would have.
    has_told: bool,
    /// Whether it was said that they do not.
    has_warned: bool,
}

impl Memory {
    /// All cards are there, and none tells of errors. Whether NVML is to be asked anew after a while: where it told of them once, it
    /// may again.
    fn is_worth_asking(&mut self) -> bool {
        if !std::mem::replace(&mut self.has_warned, true) {
            let again = self.has_told;
            tracing::warn!(
                again,
                "the driver does not tell of XID errors of the GPUs: which are faulty is not known"
            );
        }
        self.has_told
    }

    /// Cards would tell of errors.
    fn tells(&mut self) {
        *self = Self { has_told: true, has_warned: false };
    }
}

/// Watches the cards with these UUIDs for as long as somebody has this. Where the driver tells of no events, nothing is known.
pub(crate) fn watch(xids: &Arc<Xids>, uuids: Vec<String>) {
    let xids = Arc::downgrade(xids);
    let work = move || {
        let mut memory = Memory::default();
        while ask(&xids, &uuids, &mut memory) {}
    };
    let _ = thread::Builder::new().name("xids".into()).spawn(work);
}

/// Asks NVML from its beginning to its end; whether it is to be asked anew.
fn ask(xids: &Weak<Xids>, uuids: &[String], memory: &mut Memory) -> bool {
    let nvml = match Nvml::init() {
        Ok(nvml) => Arc::new(nvml),
        Err(error) => return wait_for_it(xids, uuids, &error),
    };
    if let Some(xids) = xids.upgrade() {
        xids.set_nvml(Some(Arc::clone(&nvml)));
    }
    let cards = cards(&nvml);
    let events = events(&nvml, &cards);
    if events.is_some() {
        memory.tells();
    }
    let mut looked: Option<Instant> = None;
    let said = || {
        if looked.is_none_or(|at| at.elapsed() >= LOOK) {
            looked = Some(Instant::now());
            return Said::Cards(here(&nvml, uuids));
        }
        // Where there are none, no card that is there tells of any.
        events.as_ref().map_or(Said::End, |events| next(events, &cards))
    };
    let again = match keep(xids, said) {
        Kept::Away => true,
        Kept::Silence => memory.is_worth_asking() && wait(xids),
        Kept::Unwanted => false,
    };
    if again && let Some(xids) = xids.upgrade() {
        xids.set_nvml(None);
    }
    again
}

/// NVML cannot be asked now. Where the driver is unloaded, it begins anew with all cards. Whether anybody still wants to know.
fn wait_for_it(xids: &Weak<Xids>, uuids: &[String], error: &NvmlError) -> bool {
    if let Some(xids) = xids.upgrade().filter(|_| matches!(error, NvmlError::DriverNotLoaded)) {
        uuids.iter().for_each(|uuid| xids.set_here(uuid, false));
    }
    wait(xids)
}

/// Waits until it is to be looked again. Whether anybody still wants to know.
fn wait(xids: &Weak<Xids>) -> bool {
    thread::sleep(LOOK);
    xids.strong_count() > 0
}

/// Keeps what is said until nobody wants to know any more, nothing more is said, or a card stays away.
fn keep(xids: &Weak<Xids>, mut next: impl FnMut() -> Said) -> Kept {
    let mut was_away = false;
    while xids.strong_count() > 0 {
        match (next(), xids.upgrade()) {
            (Said::Error { uuid, xid }, Some(xids)) => xids.note(&uuid, xid),
            (Said::Cards(cards), Some(xids)) => {
                cards.iter().for_each(|(uuid, is_here)| xids.set_here(uuid, *is_here));
                let is_away = cards.iter().any(|(_, is_here)| !is_here);
                if is_away && was_away {
                    return Kept::Away;
                }
                was_away = is_away;
            }
            (Said::End, Some(_)) if was_away => thread::sleep(Duration::from_millis(PATIENCE.into())),
            (_, None) => return Kept::Unwanted,
            (Said::End, Some(_)) => return Kept::Silence,
            (Said::Nothing, Some(_)) => {}
        }
    }
    Kept::Unwanted
}

/// A card and its UUID, which NVML does not tell any more of one that has fallen off the bus.
fn cards(nvml: &Nvml) -> Vec<(Device<'_>, String)> {
    let count = nvml.device_count().unwrap_or_default();
    let devices = (0..count).filter_map(|index| nvml.device_by_index(index).ok());
    devices.filter_map(|device| device.uuid().ok().map(|uuid| (device, uuid))).collect()
}

/// Whether NVML knows each card; of those of which it says neither, nothing.
fn here(nvml: &Nvml, uuids: &[String]) -> Vec<(String, bool)> {
    let is_here = |uuid: &str| match nvml.device_by_uuid(uuid).and_then(|device| device.uuid()) {
        Ok(_) => Some(true),
        Err(NvmlError::GpuLost | NvmlError::NotFound) => Some(false),
        Err(_) => None,
    };
    uuids.iter().filter_map(|uuid| Some((uuid.clone(), is_here(uuid)?))).collect()
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
        assert_eq!(keep(&Arc::downgrade(&xids), || said.next().unwrap_or(Said::End)), Kept::Silence);
        assert_eq!(["GPU-1", "GPU-2", "GPU-3"].map(|card| xids.of(card)), [Some(79), Some(13), None]);
    }

    #[test]
    fn what_a_program_does_wrong_makes_no_faulty_card_whole() {
        let xids = Xids::default();
        [79, 13].into_iter().for_each(|xid| xids.note("GPU-1", xid));
        [31, 43].into_iter().for_each(|xid| xids.note("GPU-2", xid));
        assert_eq!(
            ["GPU-1", "GPU-2"].map(|card| (xids.of(card), xids.fault(card))),
            [(Some(79), Some(79)), (Some(43), None)]
        );
        assert_eq!(["GPU-1", "GPU-2"].map(|card| xids.known_fault(card)), [Some(79), None]);
        assert_eq!(
            ["GPU-1", "GPU-1", "GPU-2", "GPU-3"].map(|card| xids.forget(card)),
            [Some(79), None, None, None]
        );
        assert_eq!((xids.of("GPU-1"), xids.of("GPU-2")), (None, Some(43)));
    }

    #[test]
    fn a_card_that_was_away_and_is_back_has_had_no_error() {
        let xids = Arc::new(Xids::default());
        let cards = |first: bool, second: bool| {
            Said::Cards(vec![("GPU-1".to_owned(), first), ("GPU-2".to_owned(), second)])
        };
        let asked = |said: Vec<Said>| {
            let mut said = said.into_iter();
            keep(&Arc::downgrade(&xids), || said.next().unwrap_or(Said::End))
        };
        let here = vec![cards(true, true), error("GPU-1", 79), error("GPU-2", 48), cards(true, true)];
        assert_eq!(asked(here), Kept::Silence);
        let away = asked(vec![cards(false, true), Said::Nothing, cards(false, true)]);
        assert_eq!(away, Kept::Away, "one stays away");
        assert_eq!((xids.fault("GPU-1"), xids.fault("GPU-2")), (Some(79), Some(48)));
        assert_eq!(asked(vec![cards(true, true)]), Kept::Silence);
        assert_eq!((xids.fault("GPU-1"), xids.fault("GPU-2")), (None, Some(48)));
    }

    #[test]
    fn a_card_that_is_away_is_faulty_and_stays_so_whoever_takes_it_back() {
        let xids = Xids::default();
        xids.note("GPU-1", 48);
        ["GPU-1", "GPU-2"].into_iter().for_each(|card| xids.set_here(card, false));
        assert_eq!(["GPU-1", "GPU-2"].map(|card| xids.known_fault(card)), [None, None]);
        assert_eq!(["GPU-1", "GPU-2"].map(|card| xids.forget(card)), [None, None]);
        assert_eq!(["GPU-1", "GPU-2"].map(|card| xids.fault(card)), [Some(48), Some(79)]);
        ["GPU-1", "GPU-2"].into_iter().for_each(|card| xids.set_here(card, true));
        assert_eq!(["GPU-1", "GPU-2"].map(|card| xids.fault(card)), [None, None]);
    }

    #[test]
    fn nobody_waits_for_errors_that_nobody_wants_to_know() {
        let mut xids = Some(Arc::new(Xids::default()));
        let weak = xids.as_ref().map(Arc::downgrade).unwrap();
        let mut asked = 0;
        let kept = keep(&weak, || {
            asked += 1;
            drop(xids.take());
            error("GPU-1", 79)
        });
        assert_eq!((kept, asked), (Kept::Unwanted, 1));
        assert_eq!(keep(&weak, || unreachable!("it is gone already")), Kept::Unwanted);
    }

    #[test]
    fn cards_that_told_of_errors_once_are_asked_again() {
        let mut memory = Memory::default();
        assert!(!memory.is_worth_asking() && memory.has_warned);
        memory.tells();
        assert!(!memory.has_warned, "it is said each time that they fall silent");
        assert!(memory.is_worth_asking() && memory.is_worth_asking());
    }
}
