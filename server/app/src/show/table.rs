//! Tables of text with aligned columns.

use super::style::{Style, Styles};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    Left,
    /// To the right, for numbers.
    Right,
}

#[derive(Clone, Debug, Default)]
pub struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), style: Style::Plain }
    }
}

#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table with these headings.
    pub fn new(columns: &[(&'static str, Align)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        self.rows.push(cells.into_iter().collect());
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as text, with the headings in its first line.
    pub fn render(&self, styles: Styles) -> String {
        let head: Vec<Cell> =
            self.columns.iter().map(|(name, _)| Cell::styled(name.to_uppercase(), Style::Dim)).collect();
        let head = self.line(&head, &self.widths(), styles);
        std::iter::once(head).chain(self.rows(styles)).collect::<Vec<_>>().join("\n")
    }

    /// Only the rows.
    pub fn rows(&self, styles: Styles) -> Vec<String> {
        let widths = self.widths();
        self.rows.iter().map(|row| self.line(row, &widths, styles)).collect()
    }

    fn widths(&self) -> Vec<usize> {
        (0..self.columns.len()).map(|column| self.width(column)).collect()
    }

    fn width(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| width(&cell.text)).chain([self.columns[column].0.len()]).max().unwrap_or(0)
    }

    fn line(&self, row: &[Cell], widths: &[usize], styles: Styles) -> String {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            let room = " ".repeat(widths[at].saturating_sub(width(&cell.text)));
            let text = styles.paint(cell.style, &cell.text);
            if at > 0 {
                line.push_str("  ");
            }
            match self.columns[at].1 {
                Align::Right => line.extend([room, text]),
                Align::Left if at + 1 == row.len() => line.push_str(&text),
                Align::Left => line.extend([text, room]),
            }
        }
        line.trim_end().to_owned()
    }
}

/// The number of terminal columns of a text: Chinese characters take two.
fn width(text: &str) -> usize {
    text.chars().map(|c| if matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}') { 2 } else { 1 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&[("task", Align::Left), ("time", Align::Right), ("note", Align::Left)]);
        table.row(["pull".into(), "0.1s".into(), "".into()]);
        table.row(["数据".into(), "12.5s".into(), "ok".into()]);
        assert_eq!(table.render(Styles::plain()), "TASK   TIME  NOTE\npull   0.1s\n数据  12.5s  ok");
    }
}
