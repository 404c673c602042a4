//! The value of a variable in the pod template of a role, if it differs between the pods.

use crate::frameworks::{Identity, Member};
use crate::lower::common::Variables;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    Text(String),
    /// The worker's index in its role.
    Index,
    /// Its index plus the number of workers of the roles before.
    Rank,
    /// Its index, between a prefix and a suffix.
    Within(String, String),
    /// The field by which the cluster counts pods.
    Count,
}

/// One worker, and its variables and identity on a machine of its own.
pub type Sample<'a> = (&'a Member, (Variables, Identity));

/// Derives the value of a variable from some workers of the role; `None` if it follows from neither index nor
/// rank.
pub fn told(name: &str, samples: &[Sample<'_>]) -> Option<Told> {
    let of = |variables: &Variables| variables.get(name).cloned();
    let (member, (variables, _)) = samples.first()?;
    let first = of(variables)?;
    let all = |is: &dyn Fn(&Member, &str) -> bool| {
        samples.iter().all(|(member, (variables, _))| of(variables).is_some_and(|text| is(member, &text)))
    };
    if all(&|_, text| text == first) {
        return Some(Told::Text(first));
    }
    if all(&|member, text| text == member.index.to_string()) {
        return Some(Told::Index);
    }
    if all(&|member, text| text == member.rank.to_string()) {
        return Some(Told::Rank);
    }
    let index = member.index.to_string();
    let mut around = first.match_indices(&index).map(|(at, _)| (&first[..at], &first[at + index.len()..]));
    let (before, after) = around
        .find(|(before, after)| all(&|member, text| text == format!("{before}{}{after}", member.index)))?;
    Some(Told::Within(before.to_owned(), after.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(index: u32) -> Member {
        let text = String::new;
        let (role, address, port, folder) = (text(), text(), text(), text());
        let (ports, resources) = (Vec::new(), Default::default());
        Member { role, index, rank: index + 9, address, port, ports, folder, resources }
    }

    /// The value of a variable of workers 0, 1 and 11.
    fn of(text: impl Fn(&Member) -> String) -> Option<Told> {
        let members = [0, 1, 11].map(member);
        let variables = |member| Variables::from([("V".to_owned(), text(member))]);
        let samples: Vec<Sample<'_>> =
            members.iter().map(|member| (member, (variables(member), Identity::default()))).collect();
        told("V", &samples)
    }

    #[test]
    fn what_differs_is_the_index_or_the_rank_alone_or_in_a_text() {
        assert_eq!(of(|_| "0 of 2".into()), Some(Told::Text("0 of 2".into())));
        assert_eq!(of(|member| member.index.to_string()), Some(Told::Index));
        assert_eq!(of(|member| member.rank.to_string()), Some(Told::Rank));
        let within = Told::Within("10 w-0, ".into(), " of 0".into());
        assert_eq!(of(|member| format!("10 w-0, {} of 0", member.index)), Some(within));
        assert_eq!(of(|member| format!("{}{}", member.index, member.index)), None);
        assert_eq!(of(|member| (member.index * 2).to_string()), None);
    }
}
