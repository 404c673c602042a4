//! Locations of a job's workers: the file that its script writes once Slurm has placed them.

use std::path::Path;

use cubeloom_domain::slurm::{LINK_PORT, files};
use cubeloom_files::own;

use crate::SlurmError;

/// All of them, in rank order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Places(Vec<Place>);

/// The location of one worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) address: String,
    pub(crate) port: u16,
}

impl Places {
    /// Reads the file in an attempt's folder.
    pub(crate) fn read(folder: &Path) -> Result<Self, SlurmError> {
        let path = folder.join(files::PLACES);
        let text = own::read_to_string(&path).map_err(SlurmError::file(&path))?;
        Self::parse(&text).map_err(|why| SlurmError::form(&path, why))
    }

    /// One line each: rank, node, address, port. The ranks are consecutive from 0.
    fn parse(text: &str) -> Result<Self, String> {
        let line = |(rank, line): (usize, &str)| {
            let wrong = || format!("the line `{line}` is not `{rank} NODE ADDRESS PORT`");
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                [number, _, address, port] if number == rank.to_string() => {
                    Ok(Place { address: address.into(), port: port.parse().map_err(|_| wrong())? })
                }
                _ => Err(wrong()),
            }
        };
        text.lines().enumerate().map(line).collect::<Result<_, _>>().map(Self)
    }

    /// The location of a worker.
    pub(crate) fn of(&self, rank: u32) -> Option<&Place> {
        self.0.get(rank as usize)
    }

    /// The number of workers.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// A port of the job beyond those of the workers; `None` if there are not as many.
    pub(crate) fn more_port(&self, at: u32) -> Option<u32> {
        let number = u32::try_from(self.len()).ok()?.checked_add(at).filter(|number| *number < LINK_PORT)?;
        self.0.first().map(|first| u32::from(first.port) + number)
    }

    /// The job's own port: the first worker has the first of the job's ports.
    pub(crate) fn link_port(&self) -> Option<u32> {
        self.0.first().map(|first| u32::from(first.port) + LINK_PORT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_in_rank_order_and_nothing_else_is() {
        let places = Places::parse("0 n1 10.0.0.1 10064\n1 n2 node-2 10065\n").unwrap();
        assert_eq!(places.of(1), Some(&Place { address: "node-2".into(), port: 10_065 }));
        assert_eq!((places.len(), places.link_port(), places.of(2)), (2, Some(10_127), None));
        assert_eq!([0, 60, 61].map(|at| places.more_port(at)), [Some(10_066), Some(10_126), None]);
        for wrong in ["1 n1 a 1", "0 n1  1", "0 n1 a 70000", "0 n1 a 1\n0 n1 a 1", "\n"] {
            let why = Places::parse(wrong).unwrap_err();
            assert!(why.contains("NODE ADDRESS PORT"), "{wrong:?}: {why}");
        }
    }
}
