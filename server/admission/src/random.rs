//! Pseudo-random numbers from a seed.

/// Sebastiano Vigna's `splitmix64` generator.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.number() % bound.max(1)
    }

    /// A number in (0, 1].
    pub fn unit(&mut self) -> f64 {
        ((self.number() >> 11) as f64 + 1.0) / (1u64 << 53) as f64
    }

    /// A sample of the standard normal distribution, by the Box-Muller transform.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// An exponentially distributed waiting time with this mean.
    pub fn wait(&mut self, mean: f64) -> f64 {
        -mean * self.unit().ln()
    }
}
