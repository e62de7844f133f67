//! Help, manual pages, completions, usage errors, and how results are written.

use crate::scene::{Scene, hardbop, root};
use expect_test::expect;
use std::process::{Command, Stdio};

const COMMANDS: [&str; 17] = [
    "",
    "bebop",
    "bp",
    "bp format",
    "bp graph",
    "bp run",
    "bp export",
    "bp generate",
    "c",
    "c cfg",
    "c run",
    "c dump",
    "c export",
    "check",
    "rule",
    "rule weave",
    "rules",
];

#[test]
fn short_help_teaches_by_example() {
    Scene::empty().check("-h", expect![[r#"
        A software model checker for C and for boolean programs

        Usage: hardbop [OPTIONS] <COMMAND>

        Commands:
          bebop        Model check a boolean program
          bp           Work with boolean programs: format, draw, run, export, generate
          check        Decide the checks of a C program: proved, violated or unknown, each with evidence
          harness      Write a C file that calls a function with arguments that may be anything, for other
                       verifiers and for fuzzers
          lsp          Serve an editor by the language server protocol, on standard input and output
          init         Begin a project: write hardbop.toml, which `hardbop check` without arguments goes by
          cache        Show, check and prune the store of answers
          certify      Check a certificate again: is what `hardbop check --certificate` wrote down true?
          validate     Check a witness: is what another run or another tool said of a program true?
          bmc          Dynamic path reduction: look for violations path by path, up to a bound, and learn
                       from each what to skip [alias: dpr]
          leap         Look for violations of a C program behind loops, without unrolling them
          terminate    Decide whether every execution of a C program ends
          explain      Explain why the shortest path to a check can or cannot be run
          slice        Show what matters for the checks of a C program, line by line, and why
          abstract     Abstract a C program to a boolean program by predicates
          c            Work with C programs: dump, draw and run what the front end makes of them
          rule         Work with rules: weave them into a program
          rules        List the rules that come with hardbop, or show what one of them demands
          man          Print the man page of hardbop or of one of its commands (troff)
          completions  Print a completion script for a shell
          help         Print this message or the help of the given subcommand(s)

        Options:
          -h, --help     Print help (see more with '--help')
          -V, --version  Print version

        Output:
              --json          Print the result as one JSON value for machines
          -q, --quiet         Do not show warnings
              --color <WHEN>  When to use colours [default: auto] [possible values: auto, always, never]

        Examples:
          hardbop check driver.c                      prove or refute every assertion of a C program
          hardbop check driver.c --rule lock          check a rule, of those that `hardbop rules` lists
          hardbop certify driver.c driver.cert        check again what `check --certificate` wrote down
          hardbop bmc driver.c --depth 8              look for bugs with up to 8 iterations of each loop
          hardbop bebop lock.bp                       decide every label and assertion of a boolean program
          hardbop bebop lock.bp --label ERROR         only this label, with a shortest trace
          hardbop bp generate t --size 800 | hardbop bebop -
          hardbop leap search.c                       find violations behind long loops
          hardbop terminate search.c                  does every execution end?
          hardbop abstract lock.c --pred lock.pred    make a boolean program of a C program
          hardbop c run sort.c --inputs 3,1,2         run C with these inputs
          hardbop c dump sort.c                       see what the front end makes of it

        `hardbop help COMMAND` and `hardbop COMMAND --help` teach each command by example.
        [exit 0]
    "#]]);
    Scene::empty().check("bebop -h", expect![[r#"
        Model check a boolean program

        Usage: hardbop bebop [OPTIONS] <FILE.bp>

        Arguments:
          <FILE.bp>  The boolean program; `-` reads standard input

        Options:
              --dialect <DIALECT>     The dialect that the text is in; it decides the precedence of
                                      operators [default: auto] [possible values: bebop, slam, boppo,
                                      getafix, auto]
              --label <LABEL>         Decide only this label, in every procedure that has it, or
                                      `procedure.LABEL` in one; may be given several times
              --assertions            Decide only the assertions (and the labels given by --label)
              --first                 Stop at the first target that is found reachable
              --reverse               Print traces last step first, in the layout of the Bebop paper's
                                      Figure 1
              --expand                Show the steps inside calls; without it a call that returns is one
                                      step
              --no-trace              Do not print traces
              --interactive           Step through the trace by commands from standard input: into calls,
                                      over them, back
              --invariants [<LABEL>]  Print the reachable states as a formula: at this label, or at every
                                      loop head and label
              --stats                 Print the size and cost of the run
          -h, --help                  Print help (see more with '--help')

        Limits:
              --time-limit <SECONDS>  Stop after this many seconds (fractions allowed) and report what is
                                      known by then
              --cpu-limit <SECONDS>   Stop after this much processor time, that of all threads together
              --memory-limit <MIB>    Stop before the process holds more than this much memory, in MiB

        Output:
              --json          Print the result as one JSON value for machines
          -q, --quiet         Do not show warnings
              --color <WHEN>  When to use colours [default: auto] [possible values: auto, always, never]

        Examples:
          hardbop bebop figure1.bp                    all labels and assertions, shortest traces
          hardbop bebop figure1.bp --label R          only the label R; main.R picks one of several
          hardbop bebop figure1.bp --reverse          last step first, as in the Bebop paper's Figure 1
          hardbop bebop figure1.bp --expand           step into every call
          hardbop bebop figure1.bp --interactive      step through the trace: into calls, over them, back
          hardbop bebop figure1.bp --invariants       reachable states at every loop head and label
          hardbop bebop big.bp --time-limit 60 --memory-limit 4000 --stats
        [exit 0]
    "#]]);
}

#[test]
fn every_command_has_help_and_a_manual_page() {
    let scene = Scene::empty();
    for command in COMMANDS {
        let help = scene.output(&format!("{command} --help"));
        assert!(help.status.success(), "{command}");
        let page = scene.output(&format!("man {command}"));
        assert!(page.status.success(), "{command}");
        let page = String::from_utf8(page.stdout).unwrap();
        for section in [".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS"] {
            assert!(page.contains(section), "{command} lacks {section}");
        }
    }
}

#[test]
fn the_manual_page_tells_exit_codes() {
    let page = Scene::empty().output("man bebop");
    let page = String::from_utf8(page.stdout).unwrap();
    let end = page.find(".SH EXAMPLES").expect("there are examples");
    expect![[r#"
        .SH EXAMPLES
        .nf
          hardbop bebop figure1.bp                    all labels and assertions, shortest traces
          hardbop bebop figure1.bp \-\-label R          only the label R; main.R picks one of several
          hardbop bebop figure1.bp \-\-reverse          last step first, as in the Bebop paper\*(Aqs Figure 1
          hardbop bebop figure1.bp \-\-expand           step into every call
          hardbop bebop figure1.bp \-\-interactive      step through the trace: into calls, over them, back
          hardbop bebop figure1.bp \-\-invariants       reachable states at every loop head and label
          hardbop bebop big.bp \-\-time\-limit 60 \-\-memory\-limit 4000 \-\-stats

        .fi
        .SH "EXIT STATUS"
        .nf
          0  everything asked about is proved or unreachable (or the command did its work)
          1  something is reachable or violated
          2  bad input or usage
          3  unknown, because a limit was reached or the work was cancelled
          4  not all is proved, but nothing is violated up to the depth that `check \-\-depth` asked for
    "#]].assert_eq(&page[end..]);
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = Scene::empty().output(&format!("completions {shell}"));
        assert!(script.status.success());
        let script = String::from_utf8(script.stdout).unwrap();
        assert!(
            script.contains("generate") && script.contains("time-limit"),
            "{shell}"
        );
    }
}

#[test]
fn the_version_is_the_package_s() {
    Scene::empty().check(
        "--version",
        expect![[r#"
        hardbop 0.1.0
        [exit 0]
    "#]],
    );
}

#[test]
fn usage_errors() {
    let scene = Scene::empty();
    scene.check("", expect![[r#"
        [stderr]
        A software model checker for C and for boolean programs

        Usage: hardbop [OPTIONS] <COMMAND>

        Commands:
          bebop        Model check a boolean program
          bp           Work with boolean programs: format, draw, run, export, generate
          check        Decide the checks of a C program: proved, violated or unknown, each with evidence
          harness      Write a C file that calls a function with arguments that may be anything, for other
                       verifiers and for fuzzers
          lsp          Serve an editor by the language server protocol, on standard input and output
          init         Begin a project: write hardbop.toml, which `hardbop check` without arguments goes by
          cache        Show, check and prune the store of answers
          certify      Check a certificate again: is what `hardbop check --certificate` wrote down true?
          validate     Check a witness: is what another run or another tool said of a program true?
          bmc          Dynamic path reduction: look for violations path by path, up to a bound, and learn
                       from each what to skip [alias: dpr]
          leap         Look for violations of a C program behind loops, without unrolling them
          terminate    Decide whether every execution of a C program ends
          explain      Explain why the shortest path to a check can or cannot be run
          slice        Show what matters for the checks of a C program, line by line, and why
          abstract     Abstract a C program to a boolean program by predicates
          c            Work with C programs: dump, draw and run what the front end makes of them
          rule         Work with rules: weave them into a program
          rules        List the rules that come with hardbop, or show what one of them demands
          man          Print the man page of hardbop or of one of its commands (troff)
          completions  Print a completion script for a shell
          help         Print this message or the help of the given subcommand(s)

        Options:
          -h, --help     Print help (see more with '--help')
          -V, --version  Print version

        Output:
              --json          Print the result as one JSON value for machines
          -q, --quiet         Do not show warnings
              --color <WHEN>  When to use colours [default: auto] [possible values: auto, always, never]

        Examples:
          hardbop check driver.c                      prove or refute every assertion of a C program
          hardbop check driver.c --rule lock          check a rule, of those that `hardbop rules` lists
          hardbop certify driver.c driver.cert        check again what `check --certificate` wrote down
          hardbop bmc driver.c --depth 8              look for bugs with up to 8 iterations of each loop
          hardbop bebop lock.bp                       decide every label and assertion of a boolean program
          hardbop bebop lock.bp --label ERROR         only this label, with a shortest trace
          hardbop bp generate t --size 800 | hardbop bebop -
          hardbop leap search.c                       find violations behind long loops
          hardbop terminate search.c                  does every execution end?
          hardbop abstract lock.c --pred lock.pred    make a boolean program of a C program
          hardbop c run sort.c --inputs 3,1,2         run C with these inputs
          hardbop c dump sort.c                       see what the front end makes of it

        `hardbop help COMMAND` and `hardbop COMMAND --help` teach each command by example.
        [exit 2]
    "#]]);
    scene.check(
        "nonsense",
        expect![[r#"
        [stderr]
        error: unrecognized subcommand 'nonsense'

        Usage: hardbop [OPTIONS] <COMMAND>

        For more information, try '--help'.
        [exit 2]
    "#]],
    );
    scene.check(
        "bebop",
        expect![[r#"
        [stderr]
        error: the following required arguments were not provided:
          <FILE.bp>

        Usage: hardbop bebop <FILE.bp>

        For more information, try '--help'.
        [exit 2]
    "#]],
    );
    scene.check("bebop x.bp --time-limit soon", expect![[r#"
        [stderr]
        error: invalid value 'soon' for '--time-limit <SECONDS>': expected a number of seconds, such as 30 or 0.5

        For more information, try '--help'.
        [exit 2]
    "#]]);
    scene.check(
        "bebop x.bp --memory-limit 0",
        expect![[r#"
        [stderr]
        error: invalid value '0' for '--memory-limit <MIB>': 0 is not in 1..18446744073709551615

        For more information, try '--help'.
        [exit 2]
    "#]],
    );
    scene.check(
        "bebop x.bp --no-trace --expand",
        expect![[r#"
        [stderr]
        error: the argument '--no-trace' cannot be used with '--expand'

        Usage: hardbop bebop --no-trace <FILE.bp>

        For more information, try '--help'.
        [exit 2]
    "#]],
    );
    scene.check(
        "man nonsense",
        expect![[r#"
        [stderr]
        error: there is no command `nonsense`; `hardbop --help` lists them
        [exit 2]
    "#]],
    );
}

#[test]
fn usage_errors_as_json() {
    let value = Scene::empty().json("bebop");
    assert_eq!(value["error"]["kind"], "usage");
    let message = value["error"]["message"].as_str().unwrap();
    assert!(message.contains("<FILE.bp>"), "{message}");
    let value = Scene::empty().json("man nonsense");
    assert_eq!(value["command"], "man");
}

#[test]
fn pages_and_scripts_come_as_json_too() {
    let scene = Scene::empty();
    assert!(
        scene.json("man bp run")["page"]
            .as_str()
            .unwrap()
            .starts_with(".ie")
    );
    assert!(
        scene.json("completions bash")["script"]
            .as_str()
            .unwrap()
            .contains("_hardbop")
    );
}

#[test]
fn colours_only_where_they_are_wanted() {
    let scene = Scene::examples();
    let plain = scene.output("bebop bp/figure1.bp").stdout;
    assert!(!plain.contains(&0x1b), "a pipe is no terminal");
    let coloured = scene.output("bebop bp/figure1.bp --color always").stdout;
    assert!(coloured.contains(&0x1b));
    let never = scene.output("bebop bp/figure1.bp --color never").stdout;
    assert_eq!(plain, never);
}

#[test]
fn a_reader_that_has_seen_enough_does_not_change_the_verdict() {
    let mut child = hardbop(&root())
        .args(["bebop", "examples/bp/figure1.bp"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let full = Command::new("sh")
        .arg("-c")
        .arg(format!(
            "{} bp generate t > /dev/full",
            env!("CARGO_BIN_EXE_hardbop")
        ))
        .output()
        .unwrap();
    let errors = String::from_utf8(full.stderr).unwrap();
    assert!(
        errors.starts_with("error: cannot write to standard output: "),
        "{errors}"
    );
    assert_eq!(full.status.code(), Some(2));
}
