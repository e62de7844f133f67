//! Which function of a text a line belongs to, without a parser: an editor asks while the text is
//! half written.

/// The function that a line belongs to, counted from 0.
pub fn at(text: &str, line: u64) -> Option<String> {
    let found = functions(text);
    let inside = |(_, first, last): &&(String, u64, u64)| (*first..=*last).contains(&line);
    found.iter().find(inside).map(|(name, ..)| name.clone())
}

/// The functions of a text, each with its first and its last line.
fn functions(text: &str) -> Vec<(String, u64, u64)> {
    let mut found = Vec::new();
    let mut depth = 0u32;
    let mut line = 0;
    // The last word outside of parentheses before one opens, and where it stands.
    let mut candidate: Option<(String, u64)> = None;
    let mut open: Option<(String, u64)> = None;
    let mut word = String::new();
    let mut parentheses = 0u32;
    let mut characters = text.chars().peekable();
    let mut fresh = true;
    while let Some(one) = characters.next() {
        let starts = fresh;
        fresh = fresh && one.is_whitespace();
        match one {
            '\n' => {
                line += 1;
                fresh = true;
            }
            '#' if starts => {
                // A directive, with the lines that belong to it.
                let mut last = one;
                while let Some(&next) = characters.peek() {
                    if next == '\n' && last != '\\' {
                        break;
                    }
                    line += u64::from(next == '\n');
                    last = next;
                    characters.next();
                }
            }
            '/' if characters.peek() == Some(&'/') => {
                while characters.peek().is_some_and(|&next| next != '\n') {
                    characters.next();
                }
            }
            '/' if characters.peek() == Some(&'*') => {
                let mut last = ' ';
                for next in characters.by_ref() {
                    line += u64::from(next == '\n');
                    if last == '*' && next == '/' {
                        break;
                    }
                    last = next;
                }
            }
            '"' | '\'' => {
                let mut escaped = false;
                for next in characters.by_ref() {
                    line += u64::from(next == '\n');
                    if !escaped && next == one {
                        break;
                    }
                    escaped = !escaped && next == '\\';
                }
            }
            '{' => {
                if depth == 0 && parentheses == 0 {
                    open = candidate.take();
                }
                depth += 1;
            }
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0
                    && let Some((name, first)) = open.take()
                {
                    found.push((name, first, line));
                }
            }
            '(' if depth == 0 => {
                let named = !word.is_empty() && word != "__attribute__";
                if parentheses == 0 && named && candidate.is_none() {
                    candidate = Some((word.clone(), line));
                }
                word.clear();
                parentheses += 1;
            }
            ')' if depth == 0 => parentheses = parentheses.saturating_sub(1),
            ';' | '=' if depth == 0 && parentheses == 0 => candidate = None,
            _ => {}
        }
        let in_word = |one: char| one.is_alphanumeric() || one == '_';
        if in_word(one) {
            word.push(one);
            if characters.peek().is_some_and(|next| next.is_whitespace()) {
                // The word is whole, and only a parenthesis may still ask for it.
                let next = characters.clone().find(|next| !next.is_whitespace());
                if next != Some('(') {
                    word.clear();
                }
            }
        } else if !one.is_whitespace() {
            word.clear();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#include <stdio.h>
#define TWICE(x) { \\
  x; x; }
/* int no(void) { } */
struct point { int x; };
static int table[] = { 1, 2 };

int
first(int a, int (*f)(int))
{
  if (a) { return f(a); }
  return '}';
}
static void second (void) { puts(\"}{\"); } // int nor(void) {
int declared(void);
";

    #[test]
    fn lines_belong_to_functions() {
        let named: Vec<(String, u64, u64)> = functions(TEXT);
        let expected = [("first".to_owned(), 8, 12), ("second".to_owned(), 13, 13)];
        assert_eq!(named, expected);
        assert_eq!(at(TEXT, 10).as_deref(), Some("first"));
        assert_eq!(at(TEXT, 4), None);
        assert_eq!(at("int half(void) { if (", 0), None);
    }
}
