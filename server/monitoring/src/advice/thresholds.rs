//! When rules speak.

/// The numbers of all rules. The defaults are those of [docs/monitoring.md](../../../../docs/monitoring.md).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// How long a card must have been idle, in seconds.
    pub idle_for: f64,
    /// It is idle when its mean use is below this, from 0 to 1.
    pub idle_below: f64,
    /// It is never idle when it was ever used more than this meanwhile, from 0 to 1.
    pub idle_peak: f64,
    /// How long a task may take to begin, in seconds: low use is nothing before.
    pub warm_up: f64,
    /// How long use is looked at together with what else the task does, in seconds.
    pub saturated_for: f64,
    /// Use is low when its mean is below this, from 0 to 1.
    pub low_below: f64,
    /// CPU is saturated when so much of what the task asked for was used, from 0 to 1.
    pub saturated_above: f64,
    /// A task waits for storage when something of it did for so much of the time, from 0 to 1.
    pub waiting_above: f64,
    /// How long dips are looked for, in seconds.
    pub dips_for: f64,
    /// The use that a card has between dips must be above this, from 0 to 1.
    pub dips_level: f64,
    /// A dip goes below this share of the use between dips, from 0 to 1.
    pub dip_below: f64,
    /// Dips must have taken at least so much of the time, from 0 to 1.
    pub dips_least: f64,
    /// Dips that take more of the time than this are none: the card works in bursts then, from 0 to 1.
    pub dips_most: f64,
    /// So many dips must begin.
    pub dips_count: usize,
    /// They are regular when the distances between them deviate by no more than this share of their mean, from 0 to 1.
    pub dips_regular: f64,
    /// How long memory is looked at, in seconds.
    pub empty_for: f64,
    /// Memory is nearly empty when never more than this was held, from 0 to 1.
    pub empty_below: f64,
    /// A card that is used more than this has no room for more, however empty its memory, from 0 to 1.
    pub room_below: f64,
    /// How much of a card, of its memory and of the cores may be given away when it is shared, from 0 to 1.
    pub share_up_to: f64,
    /// A gang has peers to be compared when a role has at least so many workers.
    pub peers: usize,
    /// A worker's use is another one when it differs from that of its peers by this, from 0 to 1.
    pub far_use: f64,
    /// Peers are alike when their use differs by no more than this, from 0 to 1.
    pub alike_use: f64,
    /// A worker's power or CPU is another one when it differs from that of its peers by this share of it, from 0 to 1.
    pub far_share: f64,
    /// Peers are alike when their power or CPU differs by no more than this share of it, from 0 to 1.
    pub alike_share: f64,
    /// The share of values that must be known, from 0 to 1.
    pub known: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            idle_for: 1800.0,
            idle_below: 0.02,
            idle_peak: 0.2,
            warm_up: 900.0,
            saturated_for: 900.0,
            low_below: 0.5,
            saturated_above: 0.9,
            waiting_above: 0.3,
            dips_for: 2700.0,
            dips_level: 0.5,
            dip_below: 0.5,
            dips_least: 0.15,
            dips_most: 0.5,
            dips_count: 4,
            dips_regular: 0.25,
            empty_for: 1800.0,
            empty_below: 0.25,
            room_below: 0.7,
            share_up_to: 0.9,
            peers: 3,
            far_use: 0.3,
            alike_use: 0.2,
            far_share: 0.3,
            alike_share: 0.15,
            known: 0.8,
        }
    }
}
