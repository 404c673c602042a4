//! Goodput of a run or task, as a bar.

use crate::api::tasks::effective::EffectiveView;
use crate::pages::Frame;

/// A bar of 100 units.
pub(crate) struct Effective {
    view: EffectiveView,
}

/// A part of the total time.
pub(crate) struct Part<'v> {
    /// Kind of the time.
    pub(crate) part: &'v str,
    /// Start of the part.
    pub(crate) from: f64,
    pub(crate) width: f64,
    /// Duration in seconds.
    pub(crate) seconds: f64,
}

impl Effective {
    pub(crate) fn new(view: EffectiveView) -> Self {
        Self { view }
    }

    /// `83 %`, or a text if nothing is known.
    pub(crate) fn share(&self, frame: &Frame) -> String {
        let unknown = || frame.t("run.effective-part-unknown").to_owned();
        self.view.share.map_or_else(unknown, |share| percent(share * 100.0))
    }

    /// Parts, from left to right.
    pub(crate) fn parts(&self) -> Vec<Part<'_>> {
        let unit = 100.0 / self.view.seconds.max(f64::MIN_POSITIVE);
        let mut from = 0.0;
        let parts = self.view.parts.iter().map(|one| {
            let part =
                Part { part: one.part.as_str(), from, width: one.seconds * unit, seconds: one.seconds };
            from += part.width;
            part
        });
        parts.collect()
    }

    /// Note if some attempts reported no steps.
    pub(crate) fn note(&self, frame: &Frame) -> Option<String> {
        let (ran, told) = (self.view.attempts, self.view.attempts_with_steps);
        match told {
            _ if told == ran => None,
            0 => Some(frame.t("run.effective-untold").to_owned()),
            _ => Some(frame.t_with("run.effective-partly", [("told", told), ("ran", ran)])),
        }
    }
}

impl Part<'_> {
    /// Text key of its name.
    pub(crate) fn key(&self) -> String {
        format!("run.effective-part-{}", self.part.replace('_', "-"))
    }

    /// `12 %`.
    pub(crate) fn percent(&self) -> String {
        percent(self.width)
    }
}

/// Never rounds a small part to 0 %, nor a nearly complete one to 100 %.
fn percent(of_hundred: f64) -> String {
    match of_hundred {
        small if small > 0.0 && small < 0.5 => "< 1 %".into(),
        large if (99.5..100.0).contains(&large) => "> 99 %".into(),
        other => format!("{other:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::tasks::effective::TimePartView;

    #[test]
    fn parts_lie_side_by_side_and_small_ones_are_not_none() {
        let part = |part: &str, seconds| TimePartView { part: part.into(), seconds };
        let parts = vec![part("useful", 150.0), part("out_of_memory", 49.5), part("waiting", 0.5)];
        let bar = Effective::new(EffectiveView {
            share: Some(0.75),
            seconds: 200.0,
            parts,
            attempts: 2,
            attempts_with_steps: 2,
        });
        let drawn: Vec<_> = bar.parts().iter().map(|part| (part.from, part.width, part.percent())).collect();
        let expected = [(0.0, 75.0, "75 %"), (75.0, 24.75, "25 %"), (99.75, 0.25, "< 1 %")];
        assert_eq!(drawn, expected.map(|(from, width, text)| (from, width, text.to_owned())));
        assert_eq!(bar.parts()[1].key(), "run.effective-part-out-of-memory");
        assert_eq!(percent(99.9), "> 99 %");
    }
}
