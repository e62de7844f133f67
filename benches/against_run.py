"""Random programs against all their runs: what the scripts that compare `hardbop check` with gcc have in common.

A program has one assertion, and few inputs, all of which gcc's program is run on. PROVED of an assertion that fails in a
run, and VIOLATED of one that never fails, are wrong: they are kept (`--keep`) and make the exit code 1.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Runs the program on all rows of inputs, each in a process of its own; says 7 if the assertion fails in one of them, and 9
# if one does not end or does what has no meaning.
HARNESS = r"""
#include <sys/wait.h>
#include <unistd.h>
static int given[ROWS], at;
unsigned char __VERIFIER_nondet_uchar(void) { return at < ROWS ? given[at++] : 0; }
int program_main(void);
void reach_error(void) { _exit(7); }
int main(void) {
    static const int largest[] = { LARGEST };
    int failed = 0;
    for (;;) {
        int k = 0, status = 0, child = fork();
        if (child == 0) {
            alarm(5);
            program_main();
            _exit(0);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) _exit(9);
        if (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 7) _exit(9);
        failed |= WEXITSTATUS(status) == 7;
        while (k < ROWS && ++given[k] > largest[k]) given[k++] = 0;
        if (k == ROWS) break;
    }
    _exit(failed ? 7 : 0);
}
"""


def fails(program, directory, flag):
    """Whether the assertion fails on some input, or None if the program cannot be made or does not end."""
    source, binary, harness = (directory / f"{program.seed}.{end}" for end in ("c", "exe", "harness.c"))
    source.write_text(program.text)
    largest = program.largest
    harness.write_text(f"#define ROWS {len(largest)}\n#define LARGEST {', '.join(map(str, largest))}\n" + HARNESS)
    gcc = ["gcc", flag, "-O0", "-w"] + (["-fsanitize=address"] if program.sanitized else [])
    if subprocess.run(gcc + ["-Dmain=program_main", "-c", str(source), "-o", f"{binary}.o"], capture_output=True).returncode:
        return None
    if subprocess.run(gcc + [f"{binary}.o", str(harness), "-o", str(binary)], capture_output=True).returncode:
        return None
    ran = subprocess.run([str(binary)], capture_output=True, timeout=60)
    return {0: False, 7: True}.get(ran.returncode)


def one(make, seed, directory, options):
    """Compares one program; says how it ended, and why if that is bad."""
    program = make(seed)
    failed = fails(program, directory, "-m64" if options.data_model == "lp64" else "-m32")
    if failed is None:
        return "left out", None
    command = [options.hardbop, "check", str(directory / f"{seed}.c"), "--json", "--quiet", "--time-limit", str(options.time_limit),
               "--memory-limit", "2000", "--data-model", options.data_model, "--engine", options.engine]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=options.time_limit + 20)
    try:
        found = json.loads(ran.stdout)
    except ValueError:
        return "crash", ran.stdout[-300:] + ran.stderr[-300:]
    if ran.returncode not in (0, 1, 3) or found.get("internal_error"):
        return "crash", str(found)[:300]
    kinds = {check["answer"] for check in found.get("checks", [])}
    if kinds == {"PROVED"}:
        return ("wrong", "proved, but a run fails") if failed else ("proved", None)
    if "VIOLATED" in kinds:
        # A program that asks for more than it is given here has runs that were not made.
        return ("violated", None) if failed or program.has_more_runs else ("wrong", "violated, but no run fails")
    return "unknown", None


def main(make, doc, engine, keep):
    """The command line of such a script: `make` makes the program of a seed."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hardbop", default=str(ROOT / "target/release/hardbop"))
    parser.add_argument("--count", type=int, default=10**6)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--engine", default=engine)
    parser.add_argument("--data-model", default="lp64", choices=["lp64", "ilp32"])
    parser.add_argument("--time-limit", type=int, default=6)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", default=keep)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    if options.show:
        print(make(options.seed).text)
        return 0
    if options.count == 10**6 and options.seconds == float("inf"):
        options.count = 200
    counts, keep, end = collections.Counter(), pathlib.Path(options.keep), time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory() as made, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        directory = pathlib.Path(made)

        def run(seed):
            if time.monotonic() > end:
                return seed, None, None
            return seed, *one(make, seed, directory, options)

        for start in range(0, options.count, 32):
            for seed, word, why in pool.map(run, range(options.seed + start, options.seed + min(start + 32, options.count))):
                if word is None:
                    continue
                counts[word] += 1
                if why:
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / f"{seed}.c").write_text((directory / f"{seed}.c").read_text())
                    print(f"{word.upper()} {keep}/{seed}.c: {why}", flush=True)
                for leftover in directory.glob(f"{seed}.*"):
                    leftover.unlink()
            if time.monotonic() > end:
                break
    print(f"{sum(counts.values())} programs, {options.engine}, {options.data_model}: " + ", ".join(f"{n} {word}" for word, n in sorted(counts.items())))
    return 1 if counts["wrong"] or counts["crash"] else 0
