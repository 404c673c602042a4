//! Bars by day, or by month for long periods. The largest groups are stacked in colors.

use std::collections::BTreeMap;

use cubeloom_domain::accounting::{By, Day, Figures, Line, Period};

use super::words::hours;

/// Number of groups with their own color.
const COLOURS: usize = 6;

/// Longer periods, in days, are shown by month.
const DAYS: i64 = 100;

/// Height of the chart, and width of a bar with its gap. The chart is stretched to its box.
const HEIGHT: f64 = 100.0;
const STEP: usize = 10;

/// Measure that determines the height of bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    Gpu,
    Cpu,
    Memory,
    Cost,
}

impl Measure {
    /// Measures that are not zero. CPU if all are.
    pub(super) fn telling(total: &Figures) -> Vec<Self> {
        let all = [Self::Gpu, Self::Cpu, Self::Memory, Self::Cost];
        let telling: Vec<Self> = all.into_iter().filter(|measure| measure.of(total) > 0.0).collect();
        if telling.is_empty() { vec![Self::Cpu] } else { telling }
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Gpu => "gpu",
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Cost => "cost",
        }
    }

    /// Text key of its name.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Gpu => "usage.gpu-hours",
            Self::Cpu => "usage.cpu-hours",
            Self::Memory => "usage.memory-hours",
            Self::Cost => "usage.cost",
        }
    }

    fn of(self, figures: &Figures) -> f64 {
        match self {
            Self::Gpu => figures.gpu_hours(),
            Self::Cpu => figures.cpu_hours(),
            Self::Memory => figures.memory_hours(),
            // Only shown as a height.
            #[expect(clippy::cast_precision_loss, reason = "the height of a bar")]
            Self::Cost => figures.cost.total().0 as f64 / 1e6,
        }
    }

    fn written(self, amount: f64) -> String {
        if self == Self::Cost { format!("{amount:.2}") } else { hours(amount) }
    }
}

#[derive(Debug)]
pub(super) struct Chart {
    /// Legend of the colors.
    pub legend: Vec<Entry>,
    pub bars: Vec<Bar>,
    pub width: usize,
    /// Value of the highest bar, as text. Empty without bars.
    pub most: String,
    pub first: String,
    pub last: String,
}

/// Color: from 1, and 0 for all other groups.
#[derive(Debug)]
pub(super) struct Entry {
    pub colour: usize,
    pub name: String,
}

/// A part of a bar.
#[derive(Debug)]
pub(super) struct Bar {
    pub colour: usize,
    pub x: usize,
    pub y: String,
    pub height: String,
    /// Tooltip.
    pub title: String,
}

impl Chart {
    /// From lines by group and day.
    pub(super) fn new(
        lines: &[(Line, Figures)],
        period: Period,
        measure: Measure,
        by: By,
        name: &dyn Fn(&Line) -> String,
        others: &dyn Fn(usize) -> String,
    ) -> Self {
        let slots = Slots::of(period);
        // Days have one color, as they are next to each other.
        let group = |line: &Line| if by == By::Day { Line::default() } else { line.group(&[by]) };
        let mut totals: BTreeMap<Line, f64> = BTreeMap::new();
        for (line, figures) in lines {
            *totals.entry(group(line)).or_default() += measure.of(figures);
        }
        let mut order: Vec<(Line, f64)> = totals.into_iter().filter(|(_, amount)| *amount > 0.0).collect();
        order.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let first = order.iter().take(COLOURS).zip(1..);
        let colours: BTreeMap<&Line, usize> = first.map(|((line, _), colour)| (line, colour)).collect();
        let mut parts: BTreeMap<(usize, usize), f64> = BTreeMap::new();
        for (line, figures) in lines {
            // Other groups are stacked above those with a color.
            let part = colours.get(&group(line)).copied().unwrap_or(COLOURS + 1);
            *parts.entry((slots.of_day(line.day), part)).or_default() += measure.of(figures);
        }
        let mut legend: Vec<Entry> = Vec::new();
        if by != By::Day {
            let named = order.iter().take(COLOURS).enumerate();
            legend.extend(named.map(|(at, (line, _))| Entry { colour: at + 1, name: name(line) }));
            if order.len() > COLOURS {
                legend.push(Entry { colour: 0, name: others(order.len() - COLOURS) });
            }
        }
        let title = |slot: usize, part: usize, amount: f64| {
            let of = legend.iter().find(|entry| entry.colour == part % (COLOURS + 1));
            let of = of.map_or(String::new(), |entry| format!(" · {}", entry.name));
            format!("{}{of}: {}", slots.name(slot), measure.written(amount))
        };
        let most = highest(&parts);
        Self {
            bars: bars(&parts, most, &title),
            width: slots.names.len() * STEP,
            most: if most > 0.0 { measure.written(most) } else { String::new() },
            first: slots.names.first().cloned().unwrap_or_default(),
            last: slots.names.last().cloned().unwrap_or_default(),
            legend,
        }
    }
}

fn highest(parts: &BTreeMap<(usize, usize), f64>) -> f64 {
    let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
    for ((slot, _), amount) in parts {
        *sums.entry(*slot).or_default() += amount;
    }
    sums.into_values().fold(0.0, f64::max)
}

/// Parts of each bar, the first color at the bottom.
fn bars(
    parts: &BTreeMap<(usize, usize), f64>,
    most: f64,
    title: &dyn Fn(usize, usize, f64) -> String,
) -> Vec<Bar> {
    let mut made = Vec::new();
    let mut below: (usize, f64) = (usize::MAX, 0.0);
    for ((slot, part), amount) in parts.iter().filter(|(_, amount)| **amount > 0.0) {
        if below.0 != *slot {
            below = (*slot, 0.0);
        }
        let height = amount / most * HEIGHT;
        below.1 += height;
        made.push(Bar {
            colour: part % (COLOURS + 1),
            x: slot * STEP + 1,
            y: format!("{:.2}", HEIGHT - below.1),
            height: format!("{height:.2}"),
            title: title(*slot, *part, *amount),
        });
    }
    made
}

/// Positions of bars: days or months.
struct Slots {
    period: Period,
    monthly: bool,
    names: Vec<String>,
}

impl Slots {
    fn of(period: Period) -> Self {
        let monthly = period.days() > DAYS;
        let mut names: Vec<String> = period
            .each()
            .map(|day| if monthly { day.month().to_string() } else { day.to_string() })
            .collect();
        names.dedup();
        Self { period, monthly, names }
    }

    fn of_day(&self, day: Day) -> usize {
        if self.monthly {
            let month = day.month().to_string();
            return self.names.iter().position(|name| *name == month).unwrap_or(0);
        }
        usize::try_from(day.0 - self.period.first.0).unwrap_or(0)
    }

    fn name(&self, slot: usize) -> &str {
        self.names.get(slot).map_or("", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(day: i64, project: &str, cards: i64) -> (Line, Figures) {
        let line = Line { day: Day(day), project: project.into(), ..Line::default() };
        (line, Figures { gpu: cards * 3_600_000, ..Figures::default() })
    }

    fn chart(lines: &[(Line, Figures)], period: Period) -> Chart {
        let name = |line: &Line| line.project.clone();
        Chart::new(lines, period, Measure::Gpu, By::Project, &name, &|n| format!("{n} others"))
    }

    #[test]
    fn parts_of_a_day_stand_on_each_other() {
        let lines = [line(0, "a", 1), line(0, "b", 3), line(2, "b", 2)];
        let chart = chart(&lines, Period { first: Day(0), last: Day(2) });
        let legend: Vec<&str> = chart.legend.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!((legend, chart.width, chart.most.as_str()), (vec!["b", "a"], 30, "4.00"));
        let bars: Vec<_> = chart.bars.iter().map(|bar| (bar.colour, bar.x, &*bar.y, &*bar.height)).collect();
        assert_eq!(bars, [(1, 1, "25.00", "75.00"), (2, 1, "0.00", "25.00"), (1, 21, "50.00", "50.00")]);
        assert_eq!(chart.bars[1].title, "1970-01-01 · a: 1.00");
    }

    #[test]
    fn many_groups_and_many_days_are_put_together() {
        let lines: Vec<_> = (0..9).map(|n| line(n * 30, &format!("p{n}"), 10 - n)).collect();
        let chart = chart(&lines, Period { first: Day(0), last: Day(300) });
        assert_eq!(chart.legend.last().map(|entry| entry.name.as_str()), Some("3 others"));
        assert_eq!((chart.width, chart.first.as_str(), chart.last.as_str()), (100, "1970-01", "1970-10"));
        assert_eq!(chart.bars.iter().filter(|bar| bar.colour == 0).count(), 3);
    }
}
