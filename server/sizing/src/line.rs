//! A linear function of memory over the size of the input: `base + each * input`.

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    /// Memory without any input.
    pub(crate) base: f64,
    /// Memory per byte of input.
    pub(crate) each: f64,
    /// The largest input of the fit.
    pub(crate) largest: f64,
}

impl Line {
    /// Weighted least squares: each point has the inverse of its square as its weight, so that small and
    /// large ones count alike. `None` if all inputs are equal.
    pub(crate) fn through(points: &[(f64, f64)]) -> Option<Self> {
        let (mut w, mut x, mut y, mut xx, mut xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        let mut largest: f64 = 0.0;
        for (input, peak) in points {
            let weight = 1.0 / (peak * peak).max(1.0);
            w += weight;
            x += weight * input;
            y += weight * peak;
            xx += weight * input * input;
            xy += weight * input * peak;
            largest = largest.max(*input);
        }
        let spread = w * xx - x * x;
        if points.len() < 2 || spread <= 1e-9 * w * xx {
            return None;
        }
        let each = (w * xy - x * y) / spread;
        let base = (y - each * x) / w;
        Some(Self { base, each, largest })
    }

    /// The value for an input.
    pub(crate) fn at(&self, input: f64) -> f64 {
        self.base + self.each * input
    }
}
