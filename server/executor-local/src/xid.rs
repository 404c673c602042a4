//! The last XID error of each GPU of this machine, until the GPU is reset. NVML reports an error only when it
//! happens: a thread waits for them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use cubeloom_domain::monitoring::is_of_the_card;
use nvml_wrapper::bitmasks::event::EventTypes;
use nvml_wrapper::enums::event::XidError;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, EventSet, Nvml};

/// Timeout of one wait, in milliseconds; after each, the thread checks whether it is still needed.
const PATIENCE: u32 = 1000;
/// The driver's code when a GPU has fallen off the bus: NVML does not know it any more.
const OFF_THE_BUS: u32 = 79;
/// How often to check which GPUs are present.
const LOOK: Duration = Duration::from_secs(10);

/// Known errors by GPU UUID. Not persistent: it starts empty with the server.
#[derive(Default)]
pub(crate) struct Xids {
    known: Mutex<BTreeMap<String, Known>>,
    /// NVML handle, dropped while a GPU is missing: NVML finds a returned GPU only after reinitialisation.
    nvml: Mutex<Option<Arc<Nvml>>>,
}

/// State of a GPU.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// Its last error; a hardware error takes precedence.
    xid: Option<u32>,
    /// Whether NVML does not know it at present.
    is_away: bool,
}

impl Xids {
    /// The GPU's last error: a hardware error takes precedence over one that programs cause.
    pub(crate) fn of(&self, uuid: &str) -> Option<u32> {
        self.known().get(uuid).and_then(|known| known.xid)
    }

    /// The hardware error that excludes the GPU from new jobs. A missing GPU has fallen off the bus, whatever
    /// was reported.
    pub(crate) fn fault(&self, uuid: &str) -> Option<u32> {
        let known = self.known().get(uuid).copied()?;
        let own = known.xid.filter(|xid| is_of_the_card(*xid));
        own.or(known.is_away.then_some(OFF_THE_BUS))
    }

    /// The GPU's hardware error that may be cleared. `None` for a missing GPU, which is unusable anyway.
    pub(crate) fn known_fault(&self, uuid: &str) -> Option<u32> {
        let known = self.known().get(uuid).copied().filter(|known| !known.is_away)?;
        known.xid.filter(|xid| is_of_the_card(*xid))
    }

    /// Clears the GPU's hardware error, if it may be cleared; returns it.
    pub(crate) fn forget(&self, uuid: &str) -> Option<u32> {
        let mut known = self.known();
        let known = known.get_mut(uuid).filter(|known| !known.is_away)?;
        known.xid.take_if(|xid| is_of_the_card(*xid))
    }

    /// The NVML handle, if any.
    pub(crate) fn nvml(&self) -> Option<Arc<Nvml>> {
        self.nvml.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_nvml(&self, nvml: Option<Arc<Nvml>>) {
        *self.nvml.lock().unwrap_or_else(PoisonError::into_inner) = nvml;
    }

    /// Records an error of the GPU. A program's error does not replace a hardware error.
    pub(crate) fn note(&self, uuid: &str, xid: u32) {
        let mut known = self.known();
        let known = known.entry(uuid.to_owned()).or_default();
        if is_of_the_card(xid) || !known.xid.is_some_and(is_of_the_card) {
            known.xid = Some(xid);
        }
    }

    /// Records whether NVML knows the GPU. One that returns was reset, or its driver reloaded: its error is
    /// cleared.
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

/// The result of one wait.
enum Said {
    /// A GPU had an error.
    Error {
        uuid: String,
        xid: u32,
    },
    /// Whether NVML knows each GPU.
    Cards(Vec<(String, bool)>),
    Nothing,
    /// There will be no more events.
    End,
}

/// Why the event loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// A GPU is missing, and was at the previous check: reinitialise NVML.
    Away,
    /// All GPUs are present, and there are no more events.
    Silence,
    /// The state was dropped.
    Unwanted,
}

/// State between two initialisations of NVML.
#[derive(Default)]
struct Memory {
    /// Whether GPUs have reported errors, or could.
    has_told: bool,
    /// Whether it was logged that they do not.
    has_warned: bool,
}

impl Memory {
    /// All GPUs are present, and none reports errors. Returns whether to reinitialise NVML after a while: if
    /// errors were reported before, they may be again.
    fn is_worth_asking(&mut self) -> bool {
        if !std::mem::replace(&mut self.has_warned, true) {
            let again = self.has_told;
            tracing::warn!(again, "the driver does not report XID errors: unhealthy GPUs are not detected");
        }
        self.has_told
    }

    /// GPUs report errors.
    fn tells(&mut self) {
        *self = Self { has_told: true, has_warned: false };
    }
}

/// Watches the GPUs with these UUIDs until `xids` is dropped. If the driver reports no events, errors stay
/// unknown.
pub(crate) fn watch(xids: &Arc<Xids>, uuids: Vec<String>) {
    let xids = Arc::downgrade(xids);
    let work = move || {
        let mut memory = Memory::default();
        while ask(&xids, &uuids, &mut memory) {}
    };
    let _ = thread::Builder::new().name("xids".into()).spawn(work);
}

/// Runs one NVML session; returns whether to start another.
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
        // Without an event set, no present GPU reports errors.
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

/// Waits after NVML could not be initialised. If the driver is unloaded, all GPUs count as missing. Returns
/// whether the state is still in use.
fn wait_for_it(xids: &Weak<Xids>, uuids: &[String], error: &NvmlError) -> bool {
    if let Some(xids) = xids.upgrade().filter(|_| matches!(error, NvmlError::DriverNotLoaded)) {
        uuids.iter().for_each(|uuid| xids.set_here(uuid, false));
    }
    wait(xids)
}

/// Waits for the next check. Returns whether the state is still in use.
fn wait(xids: &Weak<Xids>) -> bool {
    thread::sleep(LOOK);
    xids.strong_count() > 0
}

/// Records events until the state is dropped, events end, or a GPU stays missing.
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

/// Each GPU and its UUID, which NVML no longer reports for one that has fallen off the bus.
fn cards(nvml: &Nvml) -> Vec<(Device<'_>, String)> {
    let count = nvml.device_count().unwrap_or_default();
    let devices = (0..count).filter_map(|index| nvml.device_by_index(index).ok());
    devices.filter_map(|device| device.uuid().ok().map(|uuid| (device, uuid))).collect()
}

/// Whether NVML knows each GPU; leaves out GPUs for which the error says neither.
fn here(nvml: &Nvml, uuids: &[String]) -> Vec<(String, bool)> {
    let is_here = |uuid: &str| match nvml.device_by_uuid(uuid).and_then(|device| device.uuid()) {
        Ok(_) => Some(true),
        Err(NvmlError::GpuLost | NvmlError::NotFound) => Some(false),
        Err(_) => None,
    };
    uuids.iter().filter_map(|uuid| Some((uuid.clone(), is_here(uuid)?))).collect()
}

/// Registers the XID events of the GPUs. NVML invalidates a set if one GPU refuses: only supporting GPUs are
/// registered.
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
        // A lost GPU returns an error at once, again and again; the others may still have events.
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
    // SAFETY: the handles are compared only, and never dereferenced.
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
