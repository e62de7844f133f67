//! Limits hold from the first byte that is read, and files are looked at before the work begins.

use crate::scene::{Scene, hardbop};
use expect_test::expect;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const VIOLATED: &str = "#include \"h.h\"
extern int __VERIFIER_nondet_int(void); extern void reach_error(void);
int main(void) { if (__VERIFIER_nondet_int() == 7) reach_error(); return 0; }
";

fn violated() -> Scene {
    Scene::file("v.c", VIOLATED).and_file("h.h", "")
}

/// A program that takes much memory to read.
fn large() -> Scene {
    let mut text = String::new();
    for i in 0..60_000 {
        let _ = writeln!(
            text,
            "int f{i}(int x) {{ if (x > {i}) x--; return x * {i}; }}"
        );
    }
    text.push_str("int main(void) { return f0(1); }\n");
    Scene::file("large.c", text)
}

/// Macros that double: nobody reads the last one to its end.
fn doubling() -> Scene {
    let mut text = String::from("#define A0 1\n");
    for i in 1..40 {
        let _ = writeln!(text, "#define A{i} A{}+A{}", i - 1, i - 1);
    }
    text.push_str("int main(void) { return A39; }\n");
    Scene::file("x.c", text)
}

#[test]
fn time_is_limited_while_the_program_is_read() {
    let scene = doubling();
    let started = Instant::now();
    scene.check(
        "check x.c --time-limit 0.2",
        expect![[r#"
            UNKNOWN because the time limit passed while the program was being read
            [exit 3]
        "#]],
    );
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn memory_is_limited_while_the_program_is_read() {
    large().check(
        "check large.c --memory-limit 60",
        expect![[r#"
            UNKNOWN because the memory limit was reached while the program was being read
            [exit 3]
        "#]],
    );
}

#[test]
fn macros_that_double_end_at_a_limit() {
    doubling().check(
        "check x.c --memory-limit 200",
        expect![[r#"
            UNKNOWN because the memory limit was reached while the program was being read
            [exit 3]
        "#]],
    );
}

#[test]
fn limits_are_told_to_machines_too() {
    large().check(
        "check large.c --memory-limit 60 --json",
        expect![[r#"
            {
              "command": "check",
              "exit_code": 3,
              "diagnostics": [],
              "error": {
                "kind": "limit",
                "message": "the memory limit was reached while the program was being read"
              }
            }
            [exit 3]
        "#]],
    );
}

#[test]
fn a_device_is_no_program() {
    let scene = Scene::file("x.c", "#include \"/dev/zero\"\n");
    scene.check(
        "check /dev/zero",
        expect![[r#"
            [stderr]
            error: cannot read `/dev/zero`: it is a device
            [exit 2]
        "#]],
    );
    let output = hardbop(&scene.path()).args(["check", "x.c"]).output();
    let output = output.expect("the command runs");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_pipe_without_a_writer_is_not_waited_for() {
    let scene = Scene::empty();
    let made = Command::new("mkfifo")
        .arg(scene.path().join("pipe.c"))
        .status();
    if !made.is_ok_and(|status| status.success()) {
        return;
    }
    scene.check(
        "check pipe.c --time-limit 0.3",
        expect![[r#"
            UNKNOWN because the time limit passed while the program was being read
            [exit 3]
        "#]],
    );
}

#[test]
fn an_input_without_an_end_is_refused() {
    let scene = Scene::empty();
    let mut child = hardbop(&scene.path())
        .args(["check", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut input = child.stdin.take().expect("a pipe");
    let some = vec![b'\n'; 1 << 20];
    // It ends when nobody reads any more.
    while input.write_all(&some).is_ok() {}
    let output = child.wait_with_output().expect("an end");
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "error: cannot read standard input: it has no end, or is longer than 256 MiB\n"
    );
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn outputs_do_not_write_over_inputs() {
    let scene = violated();
    std::fs::hard_link(scene.path().join("v.c"), scene.path().join("same.c")).expect("a link");
    scene.check(
        "check v.c --harness v.c",
        expect![[r#"
            [stderr]
            error: --harness would write over `v.c`, which is read
            [exit 2]
        "#]],
    );
    scene.check(
        "check v.c --sarif ./same.c",
        expect![[r#"
            [stderr]
            error: --sarif would write over `./same.c`, which is read
            [exit 2]
        "#]],
    );
    scene.check(
        "check v.c --witness h.h",
        expect![[r#"
            [stderr]
            error: --witness would write over `h.h`, which is read
            [exit 2]
        "#]],
    );
    scene.check(
        "check v.c --sarif out --junit out",
        expect![[r#"
            [stderr]
            error: --junit and --sarif would both write `out`
            [exit 2]
        "#]],
    );
    let text = std::fs::read_to_string(scene.path().join("v.c")).expect("the program");
    assert_eq!(text, VIOLATED);
    assert!(!scene.path().join("out").exists());
}

#[test]
fn outputs_that_cannot_be_written_are_refused_before_the_work() {
    let scene = violated();
    scene.check(
        "check v.c --sarif no/such/directory",
        expect![[r#"
            [stderr]
            error: cannot write `no/such/directory`: No such file or directory (os error 2)
            [exit 2]
        "#]],
    );
    scene.check(
        "check v.c --html v.c/page",
        expect![[r#"
            [stderr]
            error: cannot make the directory `v.c/page`: Not a directory (os error 20)
            [exit 2]
        "#]],
    );
}

#[test]
fn the_verdict_is_printed_even_if_a_report_is_lost() {
    violated().check(
        "check v.c --sarif /dev/full",
        expect![[r#"
            VIOLATED v.c:3: call of `reach_error` (in main)
              3  int main(void) { if (__VERIFIER_nondet_int() == 7) reach_error(); return 0; }  __VERIFIER_nondet_int() = 7
              3  call of `reach_error`
              v.c:3: input __VERIFIER_nondet_int() = 7
            [stderr]
            error: cannot write `/dev/full`: No space left on device (os error 28)
            [exit 2]
        "#]],
    );
}

/// A violation that the first run finds, and a check that nobody decides.
const HARD: &str = "extern unsigned __VERIFIER_nondet_uint(void); extern void reach_error(void);
extern unsigned long __VERIFIER_nondet_ulong(void);
int main(void) {
  if (__VERIFIER_nondet_uint() == 0) reach_error();
  unsigned long a = __VERIFIER_nondet_ulong(), b = __VERIFIER_nondet_ulong();
  unsigned long h = 5381;
  for (unsigned long i = 0; i < a; i++) h = (h * 33 ^ b) + (h >> 7);
  if (a > 1000 && h == 0x123456789abcdef) reach_error();
  return 0;
}
";

/// What is told of [`HARD`] where processor time is short.
const TOLD: [&str; 2] = [
    "VIOLATED hard.c:4: call of `reach_error` (in main)",
    "2 checks: 0 proved, 1 violated, 1 unknown",
];

/// Checks a file within a limit of the system.
fn limited(scene: &Scene, limit: &str, file: &str) -> Output {
    let tool = hardbop(&scene.path());
    let script = format!("{limit}; exec \"$0\" check {file} --no-trace");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).arg(tool.get_program());
    shell.current_dir(scene.path()).output().expect("it runs")
}

#[test]
fn processor_time_is_limited() {
    let scene = Scene::file("hard.c", HARD);
    let output = scene.output("check hard.c --no-trace --cpu-limit 2");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(TOLD.iter().all(|line| told.contains(line)), "{told}");
}

#[test]
fn a_limit_of_the_system_ends_the_work_before_it_ends_the_process() {
    let scene = Scene::file("hard.c", HARD);
    let output = limited(&scene, "ulimit -t 4", "hard.c");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(TOLD.iter().all(|line| told.contains(line)), "{told}");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn engines_find_room_where_addresses_are_few() {
    let text = "extern unsigned __VERIFIER_nondet_uint(void); extern void reach_error(void);
int main(void) {
  unsigned n = __VERIFIER_nondet_uint(), i = 0;
  while (i < n) i++;
  if (i != n) reach_error();
  return 0;
}
";
    let scene = Scene::file("x.c", text);
    let output = limited(&scene, "ulimit -v 1800000", "x.c");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.starts_with("PROVED x.c:5"), "{told}");
}
