//! The page of `hardbop check --html`, used in a real browser as a person uses it.
//!
//! Skipped, with a message, where there is no Chromium. The program in the page is
//! `examples/c/spinlock_bug.c`, whose failing run every reader of the documentation knows.

#![expect(clippy::print_stderr, reason = "a test that is skipped must say so")]

mod chromium;
mod picture;
mod playground;

use chromium::{Browser, Tab};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Elements that end to the right of a window of `WIDTH` pixels, though no box around them scrolls.
const OVERFLOWING: &str = r#"[...document.querySelectorAll("body *")].filter(e => {
    if (e.closest("script, head")) return false;
    for (let box = e.parentElement; box; box = box.parentElement) {
        if (["auto", "scroll", "hidden"].includes(getComputedStyle(box).overflowX) && box !== document.body) return false;
    }
    // A word that is too long sticks out of its element.
    const words = getComputedStyle(e).overflowX === "visible" && e.scrollWidth > e.clientWidth ? e.scrollWidth : 0;
    const box = e.getBoundingClientRect();
    return Math.max(box.right, box.left + words) > WIDTH + 1;
}).map(e => e.tagName + "." + e.className)"#;

/// What the reader sees of the current step.
const STEP: &str = r#"(() => {
    const player = document.querySelector(".player");
    const text = e => e ? e.textContent.replace(/\s+/g, " ").trim() : null;
    const row = player.querySelector(".source .row.now");
    return {
        line: row ? [...row.parentElement.querySelectorAll(".row")].indexOf(row) + 1 : null,
        source: text(row),
        seen: row ? (([r, box]) => r.top >= box.top && r.bottom <= box.bottom)
            ([row, row.closest(".source")].map(e => e.getBoundingClientRect())) : false,
        item: [...player.querySelectorAll(".steps li")].findIndex(li => li.classList.contains("now")),
        values: [...player.querySelectorAll(".values-now tr")].map(tr => [...tr.cells].map(text).join(" = ")),
        stack: [...player.querySelectorAll(".stack-now li")].map(text),
        said: text(player.querySelector(".said")),
        slider: Number(player.querySelector(".slider").value),
    };
})()"#;

#[test]
fn the_page_of_a_failing_run_works_in_a_browser() {
    let Some(browser) = Browser::start() else {
        eprintln!("skipped: there is no chromium here to show the page");
        return;
    };
    let directory = tempfile::tempdir().expect("a temporary directory");
    let page = page(directory.path(), &["examples/c/spinlock_bug.c"]);
    let mut tab = browser.open(&page);
    loads_by_itself(&mut tab, &page);
    steps(&mut tab);
    speaks(&mut tab);
    shows(&mut tab, "light");
    tab.scheme("dark");
    shows(&mut tab, "dark");
    fits(&mut tab);
    assert_eq!(
        tab.complaints,
        Vec::<String>::new(),
        "what the console says"
    );
}

/// A page with everything on it: a proof, several sources, a rule.
#[test]
fn the_page_of_a_driver_works_in_a_browser() {
    let Some(browser) = Browser::start() else {
        eprintln!("skipped: there is no chromium here to show the page");
        return;
    };
    let directory = tempfile::tempdir().expect("a temporary directory");
    let files = ["examples/driver/driver.c", "examples/driver/os.c"];
    let rule = ["--rule", "examples/driver/sleep.rule", "-DBUG_SLEEP"];
    let page = page(directory.path(), &[&files[..], &rule[..]].concat());
    let mut tab = browser.open(&page);
    loads_by_itself(&mut tab, &page);
    // To the end and back to the start: every step has its line.
    let count = tab.value("document.querySelectorAll('.player .steps li:not(.fold)').length");
    let count = count.as_u64().expect("a number");
    assert!(count > 5, "{count} steps");
    tab.focus(".player .steps");
    let mut shown = Vec::new();
    for _ in 0..count {
        let step = tab.value(STEP);
        assert!(step["line"].is_number(), "{step}");
        assert_eq!(step["seen"], true, "the line is in sight: {step}");
        shown.push(step["source"].clone());
        tab.press("ArrowRight");
    }
    tab.press("End");
    let end = tab.value(STEP);
    assert_eq!(end["source"], *shown.last().expect("there are steps"));
    shows(&mut tab, "light");
    tab.press("Home");
    assert_eq!(tab.value(STEP)["source"], shown[0]);
    fits(&mut tab);
    assert_eq!(
        tab.complaints,
        Vec::<String>::new(),
        "what the console says"
    );
}

/// Checks a program and gives back the page.
fn page(directory: &Path, arguments: &[&str]) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(env!("CARGO_BIN_EXE_hardbop"))
        .current_dir(root)
        .args(["check", "-q", "--html"])
        .arg(directory)
        .args(arguments)
        .output()
        .expect("hardbop starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    directory.join("index.html")
}

/// Nothing but the page itself is fetched, and nothing goes wrong.
fn loads_by_itself(tab: &mut Tab, page: &Path) {
    let own = format!("file://{}", page.display());
    let foreign: Vec<&String> = tab
        .requests
        .iter()
        .filter(|url| **url != own && !url.starts_with("data:"))
        .collect();
    assert_eq!(foreign, Vec::<&String>::new(), "what is fetched");
    assert_eq!(
        tab.complaints,
        Vec::<String>::new(),
        "what the console says"
    );
    let title = tab.value("document.title");
    assert!(title.as_str().is_some_and(|title| !title.is_empty()));
}

/// Forward and back, by button, by keyboard, by a click on a step and by the slider.
fn steps(tab: &mut Tab) {
    let first = tab.value(STEP);
    assert_eq!(first["line"], 24, "{first}");
    assert_eq!(first["item"], 0);
    assert_eq!(first["stack"], json!(["main"]));

    tab.click(".player .next");
    tab.click(".player .next");
    let third = tab.value(STEP);
    assert_eq!(third["line"], 15, "{third}");
    assert_eq!(third["source"], "held = 0;");
    assert_eq!(third["values"], json!(["held = 0"]));
    assert_eq!(third["stack"], json!(["release", "main"]));
    assert_eq!(third["seen"], true, "the line is in sight");
    let said = third["said"].as_str().unwrap_or_default();
    assert!(
        said.contains("line 15") && said.contains("held is 0"),
        "{said}"
    );

    tab.click(".player .back");
    assert_eq!(tab.value(STEP)["line"], 25);
    tab.click(".player .last");
    let last = tab.value(STEP);
    assert_eq!(last["line"], 14, "{last}");
    // Beyond the end there is nothing.
    tab.click(".player .next");
    assert_eq!(tab.value(STEP), last);
    tab.click(".player .first");
    assert_eq!(tab.value(STEP), first);

    tab.focus(".player .steps");
    tab.press("ArrowRight");
    tab.press("ArrowRight");
    assert_eq!(
        tab.value(STEP),
        third,
        "the keyboard does what the buttons do"
    );
    tab.press("ArrowLeft");
    assert_eq!(tab.value(STEP)["line"], 25);
    tab.press("End");
    assert_eq!(tab.value(STEP), last);
    tab.press("Home");
    assert_eq!(tab.value(STEP), first);

    tab.click(".player .steps li:nth-child(3)");
    assert_eq!(tab.value(STEP), third, "a click on a step goes there");

    tab.focus(".player .slider");
    tab.press("Home");
    assert_eq!(tab.value(STEP), first);
    tab.press("ArrowRight");
    assert_eq!(tab.value(STEP)["slider"], 1);

    // All steps: the call of acquire, which does not matter, is among them.
    tab.click(".player .whole");
    let all = tab.value(STEP);
    assert_eq!(all["line"], 19, "{all}");
    tab.click(".player .whole");
    assert_eq!(tab.value(STEP), first);
}

/// What a screen reader is told.
fn speaks(tab: &mut Tab) {
    let nodes = tab.accessible();
    let has = |role: &str, name: &str| {
        nodes
            .iter()
            .any(|(its_role, its_name)| its_role == role && its_name.contains(name))
    };
    for (role, name) in [
        ("main", ""),
        ("navigation", ""),
        ("banner", ""),
        ("heading", "reach_error"),
        ("button", "First step"),
        ("button", "Step back"),
        ("button", "Step forward"),
        ("button", "Last step"),
        ("slider", "Step"),
        ("checkbox", "all steps"),
        ("columnheader", "Value"),
        ("list", "Path"),
    ] {
        assert!(has(role, name), "no {role} {name:?} in {nodes:#?}");
    }
    for (role, name) in &nodes {
        let named = ["button", "slider", "checkbox", "link", "navigation"].contains(&role.as_str());
        assert!(!named || !name.is_empty(), "a {role} without a name");
    }
    let said = tab.value("document.querySelector('.said').getAttribute('aria-live')");
    assert_eq!(said, "polite");
    let language = tab.value("document.documentElement.lang");
    assert_eq!(language, "en");
    let levels = tab
        .value("[...document.querySelectorAll('h1, h2, h3, h4')].map(h => Number(h.tagName[1]))");
    let levels: Vec<u64> = levels
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(Value::as_u64)
        .collect();
    assert_eq!(levels[0], 1);
    let jumps = levels.windows(2).any(|pair| pair[1] > pair[0] + 1);
    assert!(!jumps, "headings go down one level at a time: {levels:?}");
}

/// The picture has text on it, and the current line stands out.
fn shows(tab: &mut Tab, scheme: &str) {
    tab.evaluate(
        "document.querySelector('.player .source .row.now').scrollIntoView({block: 'center'})",
    );
    let area = tab.value(
        "(r => [r.left, r.top, Math.min(r.width, 300), r.height])\
         (document.querySelector('.player .source .row.now').getBoundingClientRect())",
    );
    let area: Vec<f64> = area
        .as_array()
        .expect("a rectangle")
        .iter()
        .filter_map(Value::as_f64)
        .collect();
    let picture = tab.screenshot();
    if let Some(directory) = std::env::var_os("HARDBOP_SCREENSHOTS") {
        let name = format!("{}-{scheme}.png", std::process::id());
        std::fs::write(Path::new(&directory).join(name), &picture.file).expect("it can be written");
    }
    assert!(picture.colours() > 20, "the page is not blank");
    let back = picture.background();
    assert_eq!(
        back[0] > 128,
        scheme == "light",
        "the background is {back:?}"
    );
    let marked = picture.most_common(area[0], area[1], area[2], area[3]);
    let difference = back.iter().zip(marked).map(|(&a, b)| a.abs_diff(b)).max();
    assert!(
        difference > Some(15),
        "the line {marked:?} stands out from {back:?}"
    );
    assert!(
        picture.contrast(area[0], area[1], area[2], area[3]) >= 4.5,
        "the text on it can be read"
    );
}

/// On a phone, and on a narrow window, nothing has to be moved sideways.
fn fits(tab: &mut Tab) {
    for width in [360, 800, 1280] {
        tab.size(width, 740);
        let overflowing = tab.value(&OVERFLOWING.replace("WIDTH", &width.to_string()));
        assert_eq!(overflowing, json!([]), "at {width} pixels");
        let wide = tab.value("document.documentElement.scrollWidth");
        assert!(wide.as_u64() <= Some(width), "{wide} of {width} pixels");
        shows_step(tab);
    }
}

/// A step can be made, and its line comes into sight.
fn shows_step(tab: &mut Tab) {
    tab.click(".player .last");
    tab.click(".player .back");
    let step = tab.value(STEP);
    assert!(step["line"].is_number(), "{step}");
}
