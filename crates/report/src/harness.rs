//! A C file that, compiled together with the program, repeats a violation in the real world.
//!
//! It defines what the program leaves open: `__VERIFIER_nondet_*` return the recorded inputs in
//! order, functions that no file defines return what the run has them return, external variables
//! get their values, and error functions end the process loudly.

use hardbop_budget::Budget;
use hardbop_cfront::dump::type_name;
use hardbop_cfront::ids::{EdgeId, FuncId, TypeId, VarId};
use hardbop_cfront::interp::{
    Consumed, Environment, Interpreter, Limits, OUTSIDE_OBJECT, Observer, Outcome, Request, Run,
    Script, State, TraceMode, outside,
};
use hardbop_cfront::program::{CheckKind, Edge, Initial, Op, Origin, Program};
use hardbop_cfront::types::Type;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// A harness, and what it cannot do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Harness {
    /// The C text.
    pub text: String,
    /// Why the compiled program may behave otherwise, if it may.
    pub doubts: Vec<String>,
}

/// Makes a harness of a run that violates a check.
pub fn harness(program: &Program, run: &Run, version: &str, budget: &Budget) -> Harness {
    let recorded = Recorded::new(program, run, budget);
    let mut writer = Writer {
        program,
        run,
        recorded,
        out: String::new(),
        doubts: Vec::new(),
    };
    writer.header(version);
    writer.inputs();
    writer.undefined_functions();
    writer.variables();
    writer.outside();
    writer.environment();
    writer.entry();
    Harness {
        text: writer.out,
        doubts: writer.doubts,
    }
}

/// What a repeated run shows of the choices that are no inputs.
#[derive(Default)]
struct Recorded {
    /// What undefined functions return, in order.
    results: BTreeMap<FuncId, Vec<Vec<u8>>>,
    /// Whether contents that a real run would find otherwise were not zero.
    garbage: bool,
    /// The bytes of external variables that no file defines.
    variables: BTreeMap<VarId, Vec<u8>>,
    /// The values of the entry's parameters.
    formals: Vec<Option<u128>>,
    /// What objects that the program did not make hold, by address.
    outside: BTreeMap<u64, Vec<u8>>,
}

impl Recorded {
    fn new(program: &Program, run: &Run, budget: &Budget) -> Recorded {
        let mut environment = Logged {
            script: Script::replay(run),
            program,
            results: BTreeMap::new(),
            garbage: false,
            outside: BTreeMap::new(),
        };
        let mut start = Start {
            program,
            seen: false,
            variables: BTreeMap::new(),
            formals: Vec::new(),
        };
        let limits = Limits {
            steps: run.steps.saturating_add(1),
            budget: budget.clone(),
            trace: TraceMode::Off,
            ..Limits::default()
        };
        let interpreter = Interpreter::new(program);
        interpreter.run_observed(&mut environment, &limits, &mut start);
        Recorded {
            results: environment.results,
            garbage: environment.garbage,
            variables: start.variables,
            formals: start.formals,
            outside: environment.outside,
        }
    }
}

/// Repeats a run and remembers what undefined functions return.
struct Logged<'p> {
    script: Script,
    program: &'p Program,
    results: BTreeMap<FuncId, Vec<Vec<u8>>>,
    garbage: bool,
    outside: BTreeMap<u64, Vec<u8>>,
}

impl Environment for Logged<'_> {
    fn input(&mut self, request: Request<'_>, ty: TypeId) -> Option<u128> {
        self.script.input(request, ty)
    }

    fn input_bytes(&mut self, request: Request<'_>, bytes: &mut [u8]) -> bool {
        self.script.input_bytes(request, bytes)
    }

    fn unknown(&mut self, request: Request<'_>, bytes: &mut [u8]) {
        Environment::unknown(&mut self.script, request, bytes);
        let Some(edge) = request.edge else {
            return;
        };
        let edge = &self.program.edges[edge.index()];
        let function = self.program.locations[edge.from.index()].function;
        if self.program.function(function).origin == Origin::Undefined {
            self.results
                .entry(function)
                .or_default()
                .push(bytes.to_vec());
        } else if bytes.iter().any(|&byte| byte != 0) {
            self.garbage = true;
        }
    }

    fn outside(&mut self, request: Request<'_>, address: u64, bytes: &mut [u8]) {
        self.script.outside(request, address, bytes);
        self.outside.insert(address, bytes.to_vec());
    }
}

/// Looks at what is there before the first step.
struct Start<'p> {
    program: &'p Program,
    seen: bool,
    variables: BTreeMap<VarId, Vec<u8>>,
    formals: Vec<Option<u128>>,
}

impl Observer for Start<'_> {
    fn edge(&mut self, _: EdgeId, state: &mut State<'_, '_>) {
        if std::mem::replace(&mut self.seen, true) {
            return;
        }
        for (index, variable) in self.program.variables.iter().enumerate() {
            if variable.initial == Initial::Unknown {
                let id = VarId(index as u32);
                if let Some(bytes) = state.static_bytes(id) {
                    self.variables.insert(id, bytes.to_vec());
                }
            }
        }
        for &formal in &self.program.function(self.program.entry).formals {
            let value = state.variable(formal).map(|value| value.bits);
            self.formals.push(value);
        }
    }
}

/// So many objects of the outside have room behind those whose contents are known: what the run
/// only writes was not asked for.
const OUTSIDE_OBJECTS_MORE: u64 = 64;

struct Writer<'p> {
    program: &'p Program,
    run: &'p Run,
    recorded: Recorded,
    out: String,
    doubts: Vec<String>,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn header(&mut self, version: &str) {
        let (message, place, kind) = match self.run.outcome {
            Outcome::Violated(check) => {
                let check = &self.program.checks[check.index()];
                let file = self.program.presumed_files.get(check.source.file as usize);
                let file = file.map_or("", String::as_str);
                (
                    check.message.replace("*/", "* /"),
                    format!("{file}:{}", check.source.line),
                    check.kind,
                )
            }
            _ => (String::new(), String::new(), CheckKind::Assertion),
        };
        let options = match kind {
            // A rule is not part of the program: the harness shows the run, not the failure.
            CheckKind::Assertion
            | CheckKind::ErrorCall
            | CheckKind::ErrorLabel
            | CheckKind::Rule
            | CheckKind::Termination => "",
            CheckKind::Overflow => {
                " -fsanitize=signed-integer-overflow,shift -fno-sanitize-recover=all"
            }
            CheckKind::DivisionByZero => {
                " -fsanitize=integer-divide-by-zero -fno-sanitize-recover=all"
            }
            // No sanitizer of gcc's sees these.
            CheckKind::Unsigned | CheckKind::Conversion | CheckKind::Nan | CheckKind::Uninit => "",
            // The processor sees it.
            CheckKind::Constant => "",
            CheckKind::Alignment => " -fsanitize=alignment -fno-sanitize-recover=all",
            CheckKind::PointerArithmetic => {
                " -fsanitize=pointer-overflow,undefined -fno-sanitize-recover=all"
            }
            CheckKind::Overlap => " -fsanitize=address -fno-builtin",
            CheckKind::FloatCast => " -fsanitize=float-cast-overflow -fno-sanitize-recover=all",
            CheckKind::Leak | CheckKind::Cleanup => " -fsanitize=leak",
            CheckKind::Pointer | CheckKind::Bounds | CheckKind::Free => {
                " -fsanitize=address,undefined -fno-sanitize-recover=all"
            }
        };
        let bits = match self.program.types.model() {
            hardbop_cfront::types::DataModel::Ilp32 => " -m32",
            hardbop_cfront::types::DataModel::Lp64 => "",
        };
        let _ = write!(
            self.out,
            "/* Repeats a run that hardbop {version} found: it violates\n   {place}: {message}\n   \
             Compile it together with the program, and run it:\n     \
             gcc{bits} -g{options} PROGRAM.c THIS_FILE.c -o failing && ./failing */\n\
             #include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n"
        );
    }

    /// The functions that ask for inputs: name to type; no type for ranges of memory.
    fn input_functions(&mut self) -> BTreeMap<String, Option<TypeId>> {
        let mut found = BTreeMap::new();
        let mut from_library = false;
        for edge in &self.program.edges {
            let function = self.program.locations[edge.from.index()].function;
            let model = self.program.function(function).origin == Origin::Model;
            match &edge.op {
                Op::Input { place, name } if !model => {
                    let ty = self.program.place(*place).ty;
                    found.entry(name.clone()).or_insert(Some(ty));
                }
                Op::HavocMemory { input: true, .. } if !model => {
                    found.insert("__VERIFIER_nondet_memory".to_owned(), None);
                }
                _ => {}
            }
        }
        for input in &self.run.inputs {
            from_library |= self.is_in_library(input.edge);
        }
        if from_library {
            self.doubts.push(
                "some inputs come from library functions, whose real counterparts are called"
                    .to_owned(),
            );
        }
        found
    }

    fn is_in_library(&self, edge: EdgeId) -> bool {
        let edge = &self.program.edges[edge.index()];
        let function = self.program.locations[edge.from.index()].function;
        self.program.function(function).origin == Origin::Model
    }

    fn inputs(&mut self) {
        let functions = self.input_functions();
        if functions.is_empty() {
            return;
        }
        let run = self.run;
        let inputs = run.inputs.iter().filter(|i| !self.is_in_library(i.edge));
        let mut data = String::new();
        let mut table = String::new();
        for (index, input) in inputs.enumerate() {
            let name = match &self.program.edges[input.edge.index()].op {
                Op::Input { name, .. } => name.as_str(),
                _ => "__VERIFIER_nondet_memory",
            };
            let bytes: Vec<u8> = match &input.value {
                Consumed::Scalar(value) => {
                    let size = self.program.types.size_of(value.ty).min(16) as usize;
                    value.bits.to_le_bytes()[..size].to_vec()
                }
                Consumed::Bytes(bytes) => bytes.clone(),
            };
            let list = byte_list(&bytes);
            let _ = writeln!(
                data,
                "static const unsigned char input_{index}[] = {{{list}}};"
            );
            let size = bytes.len();
            let _ = writeln!(table, "  {{\"{name}\", input_{index}, {size}}},");
        }
        self.out.push_str(&data);
        let _ = write!(
            self.out,
            "static const struct {{ const char *function; const unsigned char *bytes; size_t size; }} \
             inputs[] = {{\n{table}  {{0, 0, 0}}\n}};\nstatic size_t next_input;\n\n\
             /* The next recorded input; zeros after the last one. */\n\
             static void take_input(const char *function, void *to, size_t size)\n{{\n  \
             memset(to, 0, size);\n  if (!inputs[next_input].function)\n    return;\n  \
             if (strcmp(inputs[next_input].function, function) != 0) {{\n    \
             fprintf(stderr, \"hardbop: input %lu is asked for by %s, was recorded for %s\\n\",\n            \
             (unsigned long)next_input, function, inputs[next_input].function);\n    exit(4);\n  }}\n  \
             memcpy(to, inputs[next_input].bytes,\n         \
             inputs[next_input].size < size ? inputs[next_input].size : size);\n  next_input++;\n}}\n\n"
        );
        for (name, ty) in functions {
            match ty {
                Some(ty) => {
                    let ty = match self.program.types.get(ty) {
                        Type::Pointer(_) => "void *".to_owned(),
                        _ => type_name(&self.program.types, ty),
                    };
                    let _ = write!(
                        self.out,
                        "{ty} {name}(void)\n{{\n  {ty} value;\n  take_input(\"{name}\", &value, \
                         sizeof value);\n  return value;\n}}\n\n"
                    );
                }
                None => {
                    let _ = write!(
                        self.out,
                        "void {name}(void *to, size_t size)\n{{\n  take_input(\"{name}\", to, \
                         size);\n}}\n\n"
                    );
                }
            }
        }
    }

    fn undefined_functions(&mut self) {
        let program = self.program;
        for (index, function) in program.functions.iter().enumerate() {
            if function.origin != Origin::Undefined || function.name.starts_with("__builtin") {
                continue;
            }
            let name = &function.name;
            let Type::Function { result, .. } = program.types.get(function.ty) else {
                continue;
            };
            let ty = match program.types.get(*result) {
                Type::Void => {
                    let _ = write!(self.out, "void {name}()\n{{\n}}\n\n");
                    continue;
                }
                Type::Pointer(_) => "void *".to_owned(),
                Type::Record(_) | Type::Array { .. } | Type::Function { .. } => {
                    self.doubts.push(format!(
                        "`{name}` is not defined and returns a record, which the harness leaves out"
                    ));
                    continue;
                }
                _ => type_name(&program.types, *result),
            };
            let values = self.recorded.results.get(&FuncId(index as u32));
            let size = program.types.size_of(*result);
            let mut rows = String::new();
            for value in values.into_iter().flatten() {
                let _ = write!(rows, "{{{}}}, ", byte_list(value));
            }
            let _ = write!(
                self.out,
                "{ty} {name}()\n{{\n  static const unsigned char results[][{size}] = {{{rows}{{0}}}};\n  \
                 static size_t next;\n  {ty} value;\n  memcpy(&value, results[next], sizeof value);\n  \
                 if (next + 1 < sizeof results / sizeof *results)\n    next++;\n  return value;\n}}\n\n"
            );
        }
        if self.recorded.garbage {
            self.doubts.push(
                "the run reads memory before it is written, and what is there is not up to the harness"
                    .to_owned(),
            );
        }
    }

    fn variables(&mut self) {
        for (&id, bytes) in &self.recorded.variables {
            let variable = self.program.variable(id);
            let _ = writeln!(
                self.out,
                "unsigned char {}[{}] __attribute__((aligned(16))) = {{{}}};",
                variable.name,
                bytes.len().max(1),
                byte_list(bytes)
            );
        }
    }

    /// Puts objects where the run's pointers from outside lead to.
    fn outside(&mut self) {
        let room = outside(self.program.types.model());
        let results = self.recorded.results.values().flatten().map(|bytes| {
            let low = bytes.iter().take(8).rev();
            low.fold(0, |word, &byte| word << 8 | u64::from(byte))
        });
        let inputs = self.run.inputs.iter().map(|input| match &input.value {
            Consumed::Scalar(value) => value.bits as u64,
            Consumed::Bytes(_) => 0,
        });
        let mut pointers = results.chain(inputs);
        if self.recorded.outside.is_empty() && !pointers.any(|word| room.contains(&word)) {
            return;
        }
        let mut rows = String::new();
        for (address, bytes) in &self.recorded.outside {
            let size = bytes.len();
            let list = byte_list(bytes);
            let _ = writeln!(
                rows,
                "  memcpy((void *)0x{address:x}UL, (const unsigned char[]){{{list}}}, {size});"
            );
        }
        let last = self.recorded.outside.keys().next_back();
        let end = last.map_or(room.start, |&address| address - address % OUTSIDE_OBJECT)
            + OUTSIDE_OBJECTS_MORE * OUTSIDE_OBJECT;
        let size = end.min(room.end) - room.start;
        let _ = write!(
            self.out,
            "/* Objects that the program did not make. */\n#include <sys/mman.h>\n\
             __attribute__((constructor)) static void outside(void)\n{{\n  \
             void *room = mmap((void *)0x{start:x}UL, {size}UL, PROT_READ | PROT_WRITE,\n    \
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);\n  \
             if (room == MAP_FAILED) {{\n    perror(\"mmap\");\n    exit(3);\n  }}\n{rows}}}\n\n",
            start = room.start,
        );
        self.free_outside(room.start, size);
    }

    /// The C library did not allocate the objects of the outside, so it must not hear that they are
    /// freed. Where a sanitizer looks on, `free` is its own.
    fn free_outside(&mut self, start: u64, size: u64) {
        let frees = |edge: &Edge| matches!(edge.op, Op::Free { .. });
        let is_plain = match self.run.outcome {
            Outcome::Violated(check) => matches!(
                self.program.checks[check.index()].kind,
                CheckKind::Assertion | CheckKind::ErrorCall | CheckKind::ErrorLabel
            ),
            _ => false,
        };
        if is_plain && self.program.edges.iter().any(frees) {
            let _ = write!(
                self.out,
                "extern void __libc_free(void *);\nvoid free(void *object)\n{{\n  \
                 if ((unsigned long)object - 0x{start:x}UL >= {size}UL)\n    \
                 __libc_free(object);\n}}\n\n",
            );
        }
    }

    /// The functions of the environment that the program does not define itself.
    fn environment(&mut self) {
        let program = self.program;
        let defined: BTreeSet<&str> = program
            .functions
            .iter()
            .filter(|function| function.origin == Origin::User)
            .map(|function| function.name.as_str())
            .collect();
        let place = match self.run.outcome {
            Outcome::Violated(check) => {
                let source = program.checks[check.index()].source;
                let file = program.presumed_files.get(source.file as usize);
                format!("{}:{}", file.map_or("", String::as_str), source.line)
            }
            _ => String::new(),
        };
        let place = place.replace('\\', "\\\\").replace('"', "\\\"");
        let called: BTreeSet<&str> = program
            .checks
            .iter()
            .filter(|check| check.kind == CheckKind::ErrorCall)
            .filter_map(|check| check.message.split('`').nth(1))
            .chain(["reach_error", "__VERIFIER_error"])
            .collect();
        for name in called {
            if !defined.contains(name) {
                let _ = write!(
                    self.out,
                    "void {name}(void)\n{{\n  fputs(\"hardbop: {place}: {name} is called\\n\", stderr);\n  \
                     abort();\n}}\n\n"
                );
            }
        }
        if !defined.contains("__VERIFIER_assert") {
            let _ = write!(
                self.out,
                "void __VERIFIER_assert(int condition)\n{{\n  if (!condition) {{\n    \
                 fputs(\"hardbop: {place}: an assertion fails\\n\", stderr);\n    abort();\n  }}\n}}\n\n"
            );
        }
        if !defined.contains("__VERIFIER_assume") {
            self.line(
                "void __VERIFIER_assume(int condition)\n{\n  if (!condition) {\n    \
                 fputs(\"hardbop: an assumption does not hold\\n\", stderr);\n    exit(3);\n  }\n}\n",
            );
        }
    }

    /// Calls the entry function if it is not `main`.
    fn entry(&mut self) {
        let program = self.program;
        let entry = program.function(program.entry);
        let given = self.recorded.formals.iter().any(|value| *value != Some(0));
        if entry.name == "main" || entry.passes_on() {
            let passed = entry.passes_on() && !self.run.inputs.is_empty();
            if passed || (given && !entry.formals.is_empty()) {
                let called = match program.function_named("main") {
                    Some(_) => "`main`",
                    None => "the function that it begins with",
                };
                self.doubts
                    .push(format!("the run depends on the arguments of {called}"));
            }
            return;
        }
        let mut arguments = Vec::new();
        let mut parameters = Vec::new();
        for (&formal, value) in entry.formals.iter().zip(&self.recorded.formals) {
            let ty = program.variable(formal).ty;
            let Some(bits) = value else {
                self.doubts.push(format!(
                    "`{}` takes a record, which the harness cannot make",
                    entry.name
                ));
                return;
            };
            let name = match program.types.get(ty) {
                Type::Pointer(_) => "void *".to_owned(),
                Type::Float(_) => {
                    self.doubts
                        .push(format!("`{}` takes a floating-point number", entry.name));
                    return;
                }
                _ => type_name(&program.types, ty),
            };
            arguments.push(format!("({name})0x{:x}ull", *bits as u64));
            parameters.push(name);
        }
        let parameters = if parameters.is_empty() {
            "void".to_owned()
        } else {
            parameters.join(", ")
        };
        let name = &entry.name;
        let arguments = arguments.join(", ");
        let _ = write!(
            self.out,
            "extern void {name}({parameters});\nint main(void)\n{{\n  {name}({arguments});\n  \
             return 0;\n}}\n"
        );
    }
}

fn byte_list(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "0".to_owned();
    }
    let words: Vec<String> = bytes.iter().map(|byte| format!("{byte:#04x}")).collect();
    words.join(", ")
}
