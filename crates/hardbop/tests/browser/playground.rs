//! The page of the book on which boolean programs are edited, checked and walked through.
//!
//! The page is made of the book's own files, without the frame that mdBook puts around them.

use crate::chromium::{Browser, Tab};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// What the reader sees.
const SEEN: &str = r##"(() => {
    const text = e => e.textContent.replace(/\s+/g, " ").trim();
    const all = (selector, f = text) => [...document.querySelectorAll(selector)].map(f);
    return {
        status: text(document.querySelector("#pg-status")),
        messages: all("#pg-messages li"),
        wrong: all("#pg-lines .wrong"),
        targets: all("#pg-targets li"),
        step: text(document.querySelector("#pg-step")),
        summary: text(document.querySelector("#pg-summary")),
        values: all("#pg-values tbody tr", tr => [...tr.cells].map(text).join(" ").trim()),
        line: all("#pg-lines .now"),
        now: all("#pg-graph rect.now", rect => text(rect.nextElementSibling)),
        boxes: document.querySelectorAll("#pg-graph rect:not(.panel)").length,
        walk: !document.querySelector("#pg-walk").hidden,
        dead: all("#pg-walk button:disabled"),
    };
})()"##;

#[test]
fn boolean_programs_are_checked_in_a_browser() {
    let Some(browser) = Browser::start() else {
        eprintln!("skipped: there is no chromium here to show the page");
        return;
    };
    let directory = tempfile::tempdir().expect("a temporary directory");
    let page = page(directory.path());
    let mut tab = browser.open(&page);
    walks_through_figure_1(&mut tab);
    shows_errors_at_their_places(&mut tab);
    proves(&mut tab);
    stops(&mut tab);
    assert_eq!(
        tab.complaints,
        Vec::<String>::new(),
        "what the console says"
    );
    let own = format!("file://{}", directory.path().display());
    let foreign = tab.requests.iter();
    let foreign = foreign.filter(|url| !url.starts_with(&own) && !url.starts_with("blob:"));
    assert_eq!(
        foreign.collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "what is fetched"
    );
}

/// Puts the page together, with the checker as `scripts/playground` makes it.
fn page(directory: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let made = Command::new(root.join("scripts/playground"))
        .arg(directory)
        .output()
        .expect("the script starts");
    let errors = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "{errors}");
    let book = root.join("docs/src");
    for name in ["playground.js", "playground.css"] {
        std::fs::copy(book.join(name), directory.join(name)).expect("a file of the book");
    }
    let text = std::fs::read_to_string(book.join("playground.md")).expect("a page of the book");
    let start = text.find("<link").expect("the page's own part");
    let last = "</script>";
    let end = text.rfind(last).expect("the page's scripts") + last.len();
    let page = directory.join("playground.html");
    let html = format!(
        "<!doctype html><meta charset=utf-8><title>p</title>{}",
        &text[start..end]
    );
    std::fs::write(&page, html).expect("the page");
    page
}

/// Runs what is in the editor and waits for the answer.
fn run(tab: &mut Tab) -> Value {
    tab.click("#pg-run");
    let start = Instant::now();
    loop {
        let seen = tab.value(SEEN);
        if seen["status"] != "running" {
            return seen;
        }
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "no answer: {seen}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Types another program.
fn write(tab: &mut Tab, text: &str) {
    let text = json!(text);
    tab.evaluate(&format!(
        "(e => {{ e.value = {text}; e.dispatchEvent(new Event('input')); }})(document.querySelector('#pg-text'))"
    ));
}

fn press(tab: &mut Tab, button: &str) -> Value {
    tab.click(&format!("#pg-{button}"));
    tab.value(SEEN)
}

fn walks_through_figure_1(tab: &mut Tab) {
    let seen = run(tab);
    assert_eq!(seen["status"], "", "{seen}");
    assert_eq!(
        seen["targets"],
        json!(["line 12: label R in main: reachable after 6 steps"])
    );
    assert_eq!(seen["boxes"], 14, "a box for each vertex");
    assert_eq!(seen["step"], "1/21 main, line 6: h := !g");
    assert_eq!(seen["dead"], json!(["Back", "Up", "Out"]));
    assert_eq!(seen["now"], json!(["6: h := !g"]));
    let seen = press(tab, "over");
    assert_eq!(seen["step"], "2/21 main, line 7: A(g,h)");
    assert_eq!(seen["values"], json!(["g 1", "h 0"]));
    assert_eq!(seen["line"], json!(["7"]));
    let seen = press(tab, "into");
    assert_eq!(seen["step"], "3/21 A, line 20: if (a1)");
    assert_eq!(seen["values"], json!(["g 1", "a1 1", "a2 0"]));
    assert_eq!(seen["now"], json!(["20: if (a1)"]));
    let seen = press(tab, "up");
    assert_eq!(seen["step"], "2/21 main, line 7: A(g,h)");
    let seen = press(tab, "over");
    assert_eq!(seen["summary"], "summary of A: g=1 a1=1 a2=0 -> g=1");
    assert_eq!(seen["line"], json!(["8"]));
    let seen = press(tab, "back");
    assert_eq!(seen["line"], json!(["7"]));
    press(tab, "into");
    let seen = press(tab, "out");
    assert_eq!(seen["line"], json!(["8"]));
    let seen = press(tab, "end");
    assert_eq!(seen["step"], "21/21 main, line 12: R: skip");
    assert_eq!(seen["dead"], json!(["Over", "Into", "Up", "Out"]));
}

fn shows_errors_at_their_places(tab: &mut Tab) {
    write(tab, "decl g;\nvoid main()\nbegin\n  g := x;\nend\n");
    let seen = tab.value(SEEN);
    assert_eq!(seen["walk"], false, "the answers to another text are gone");
    assert_eq!(seen["boxes"], 0);
    let seen = run(tab);
    let message = "4:8: error: unknown variable `x` (not declared before this place)";
    assert_eq!(seen["messages"], json!([message]));
    assert_eq!(seen["wrong"], json!(["4"]));
    tab.click("#pg-messages button");
    let selected = "(e => e.value.slice(e.selectionStart, e.selectionEnd))(document.activeElement)";
    assert_eq!(tab.value(selected), "x");
}

fn proves(tab: &mut Tab) {
    write(
        tab,
        "decl g;\nvoid main()\nbegin\n  g := 1;\n  if (!g) then\n    L: skip;\n  fi\n  assert(g);\nend\n",
    );
    let seen = run(tab);
    let targets = [
        "line 6: label L in main: unreachable",
        "line 8: assertion in main: holds",
    ];
    assert_eq!(seen["targets"], json!(targets));
    assert_eq!(seen["walk"], false);
}

/// A counter of 24 bits takes long; the page stays alive, and the run ends when the reader says so.
fn stops(tab: &mut Tab) {
    let bits: Vec<String> = (0..24).map(|bit| format!("b{bit}")).collect();
    let names = bits.join(", ");
    let zeros = vec!["0"; 24].join(", ");
    let mut body = String::new();
    for bit in 0..24 {
        let word = if bit == 0 { "if" } else { "elsif" };
        let targets = bits[..=bit].join(", ");
        let values = format!("{}1", "0, ".repeat(bit));
        body += &format!("{word} (!b{bit}) then {targets} := {values};\n");
    }
    let condition = bits
        .iter()
        .map(|bit| format!("!{bit}"))
        .collect::<Vec<_>>()
        .join(" | ");
    write(
        tab,
        &format!(
            "decl {names};\nvoid main() begin\n{names} := {zeros};\nwhile ({condition}) do\n{body}fi od\ndone: skip; end"
        ),
    );
    tab.click("#pg-run");
    assert_eq!(tab.value(SEEN)["status"], "running");
    let seen = press(tab, "stop");
    assert_eq!(seen["status"], "stopped");
}
