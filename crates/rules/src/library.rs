//! The rules that come with the tool, each with a page that says what it demands.

/// A rule of the library.
#[derive(Clone, Copy, Debug)]
pub struct LibraryRule {
    /// Its name.
    pub name: &'static str,
    /// The name of its file, as messages show it.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
    /// Its page, in Markdown.
    pub page: &'static str,
}

macro_rules! rules {
    ($($name:literal)*) => {
        /// The rules, by name.
        pub const RULES: &[LibraryRule] = &[$(LibraryRule {
            name: $name,
            path: concat!("<hardbop>/rules/", $name, ".rule"),
            text: include_str!(concat!("../library/", $name, ".rule")),
            page: include_str!(concat!("../library/", $name, ".md")),
        }),*];
    };
}

rules! {
    "callback"
    "descriptor"
    "file"
    "init-order"
    "interrupts"
    "lock"
    "memory"
    "mutex-order"
    "refcount"
    "request"
}

impl LibraryRule {
    /// What it demands, in one line: the first line of its page after the title.
    pub fn summary(&self) -> &'static str {
        let mut lines = self.page.lines().skip(1);
        lines.find(|line| !line.is_empty()).unwrap_or_default()
    }
}

/// The rule of a name.
pub fn find(name: &str) -> Option<&'static LibraryRule> {
    RULES.iter().find(|rule| rule.name == name)
}

/// The rules whose names are most like a name that no rule has, best first.
pub fn nearest(name: &str) -> Vec<&'static str> {
    let mut near: Vec<(usize, &'static str)> = RULES
        .iter()
        .map(|rule| (distance(name, rule.name), rule.name))
        .filter(|&(distance, known)| {
            distance <= 1 + known.len() / 3 || known.contains(name) || name.contains(known)
        })
        .collect();
    near.sort_unstable();
    near.into_iter().map(|(_, name)| name).take(3).collect()
}

/// How many letters must be put in, taken out or changed to get from one word to another.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().take(100).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let changed = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}
