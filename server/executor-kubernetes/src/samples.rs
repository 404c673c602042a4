//! Running statistics of a measured quantity, in constant memory. Pure.

/// At this many values, every second one is dropped, and later ones are sampled at half the rate. At four a
/// minute it is an hour of values.
const KEPT: usize = 240;

/// Values of one quantity, all >= 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// The retained values, in order.
    kept: Vec<f64>,
    /// How often values were halved.
    halved: u32,
    /// Count, sum, maximum and last of all values.
    times: u32,
    sum: f64,
    most: f64,
    last: f64,
}

impl Samples {
    pub fn add(&mut self, value: f64) {
        self.times = self.times.saturating_add(1);
        self.sum += value;
        self.most = self.most.max(value);
        self.last = value;
        if !self.times.is_multiple_of(1 << self.halved) {
            return;
        }
        self.kept.push(value);
        if self.kept.len() >= KEPT {
            let mut index = 0;
            self.kept.retain(|_| {
                index += 1;
                index % 2 == 0
            });
            self.halved += 1;
        }
    }

    /// Number of values.
    pub fn times(&self) -> u32 {
        self.times
    }

    /// Their mean; 0 if there are none.
    pub fn mean(&self) -> f64 {
        self.sum / f64::from(self.times.max(1))
    }

    /// Maximum of all values, including dropped ones; 0 if there are none.
    pub fn most(&self) -> f64 {
        self.most
    }

    /// The last value; 0 if there are none.
    pub fn last(&self) -> f64 {
        self.last
    }

    /// The quantile that one in `part` retained values exceeds (20: the 95th percentile); `None` without
    /// values.
    pub fn not_beyond(&self, part: usize) -> Option<f64> {
        let mut sorted = self.kept.clone();
        sorted.sort_by(f64::total_cmp);
        let beyond = sorted.len() / part;
        sorted.into_iter().rev().nth(beyond)
    }
}

impl Extend<f64> for Samples {
    fn extend<I: IntoIterator<Item = f64>>(&mut self, values: I) {
        values.into_iter().for_each(|value| self.add(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spike_is_told_from_what_is_held_all_along() {
        let of = |values: &[f64]| {
            let mut samples = Samples::default();
            samples.extend(values.iter().copied());
            (samples.not_beyond(2), samples.not_beyond(20), samples.most(), samples.mean())
        };
        assert_eq!(of(&[]), (None, None, 0.0, 0.0));
        assert_eq!(of(&[3.0]), (Some(3.0), Some(3.0), 3.0, 3.0));
        assert_eq!(of(&[1.0, 5.0, 1.0, 1.0]), (Some(1.0), Some(5.0), 5.0, 2.0), "too few for 19 of 20");
        let mut minutes = [1.0; 40];
        minutes[7..9].fill(9.0);
        assert_eq!(of(&minutes), (Some(1.0), Some(1.0), 9.0, 1.4));
        minutes[9] = 9.0;
        assert_eq!(of(&minutes), (Some(1.0), Some(9.0), 9.0, 1.6));
    }

    #[test]
    fn as_little_is_kept_however_long_it_goes_on() {
        let mut samples = Samples::default();
        samples.extend((0..100_000).map(f64::from));
        assert!((KEPT / 2..KEPT).contains(&samples.kept.len()), "{}", samples.kept.len());
        assert_eq!((samples.times(), samples.most(), samples.last()), (100_000, 99_999.0, 99_999.0));
        let near = |part, expected: f64| {
            let found = samples.not_beyond(part).unwrap();
            assert!((found - expected).abs() <= 1000.0, "{found} is not {expected}");
        };
        near(2, 50_000.0);
        near(20, 95_000.0);
    }
}
