//! The options of a script. `sbatch` reads the script's `#SBATCH` lines; slurmrestd does not, so this module
//! parses the same lines. The options are thus written once, where users see them.

/// One option: its name without the dashes, and its value.
pub type Asked = (String, Option<String>);

/// The options of each component of a script.
pub fn of_script(script: &str) -> Vec<Vec<Asked>> {
    let mut components = vec![Vec::new()];
    // Like `sbatch`: options end where the commands begin.
    for line in script.lines().take_while(|line| line.is_empty() || line.starts_with('#')) {
        let Some(words) = line.strip_prefix("#SBATCH ") else { continue };
        if words.trim() == "hetjob" {
            components.push(Vec::new());
            continue;
        }
        let options = words.split_whitespace().map(|word| {
            let word = word.trim_start_matches('-');
            match word.split_once('=') {
                Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
                None => (word.to_owned(), None),
            }
        });
        components.last_mut().into_iter().for_each(|component| component.extend(options.clone()));
    }
    components
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_each_component_are_read_up_to_the_commands() {
        let script = "#!/bin/bash\n#SBATCH --job-name=cl-a-b\n#SBATCH --nodes=1-2 --use-min-nodes\n#SBATCH hetjob\n\
            #SBATCH --comment=run/a=b/0/1\n\n# words --mem=1\nset -e\n#SBATCH --mem=7\n";
        let option = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
        assert_eq!(
            of_script(script),
            [
                vec![
                    option("job-name", "cl-a-b"),
                    option("nodes", "1-2"),
                    ("use-min-nodes".to_owned(), None)
                ],
                vec![option("comment", "run/a=b/0/1")]
            ]
        );
    }
}
