// The page on which a reader edits a boolean program, runs Bebop and walks along the trace. The
// checker (crates/playground) is in playground-wasm.js; it runs in a worker, so that the page stays
// alive and a run can be stopped.
(() => {
    "use strict";
    const $ = id => document.getElementById("pg-" + id);

    const EXAMPLES = {
        "Recursion (Figure 1 of the Bebop paper)": `decl g;

main()
begin
  decl h;
  h := !g;
  A(g,h);
  skip;
  A(g,h);
  skip;
  if (g) then
    R: skip;
  else
    skip;
  fi
end

A(a1,a2)
begin
  if (a1) then
    A(a2,a1);
    skip;
  else
    g := a2;
  fi
end
`,
        "A lock that is taken twice": `decl locked;

void main()
begin
  decl more;
  locked := 0;
  more := 1;
  while (more) do
    acquire();
    more := *;
    if (*) then
      release();
    fi
  od
end

void acquire()
begin
  assert(!locked);
  locked := 1;
end

void release()
begin
  assert(locked);
  locked := 0;
end
`,
        "Counting with results": `decl done;

void main()
begin
  decl a, b, carry;
  a, b, done := 0, 0, 0;
  while (!done) do
    a, carry := add(a, 1);
    b, done := add(b, carry);
  od
  ZERO: assert(!a & !b);
  a := 1;
  assert(a = b);
end

bool<2> add(x, y)
begin
  return x != y, x & y;
end
`,
    };

    // What the worker does; its text is all that it gets, besides the bytes of the checker.
    function work() {
        let instance = null;
        onmessage = ({ data }) => {
            try {
                if (instance === null) {
                    instance = new WebAssembly.Instance(new WebAssembly.Module(data.wasm), {});
                }
                const { hardbop_playground_add: add, hardbop_playground_run: run,
                    hardbop_playground_byte: byte } = instance.exports;
                for (const b of new TextEncoder().encode(data.text)) add(b);
                const bytes = new Uint8Array(run());
                for (let i = 0; i < bytes.length; i++) bytes[i] = byte(i);
                postMessage({ answer: new TextDecoder().decode(bytes) });
            } catch (error) {
                postMessage({ failed: String(error) });
            }
        };
    }

    const wasm = typeof PLAYGROUND_WASM === "undefined" ? null
        : Uint8Array.from(atob(PLAYGROUND_WASM), c => c.charCodeAt(0));
    let worker = null;
    let answer = null;
    let trace = null;
    let at = 0;

    function begin() {
        stop("");
        if (wasm === null) {
            $("status").textContent = "the checker is missing: scripts/book makes it";
            return;
        }
        show({ messages: [], targets: [], svg: null });
        $("status").textContent = "running";
        $("stop").disabled = false;
        const source = URL.createObjectURL(new Blob(["(" + work + ")()"], { type: "text/javascript" }));
        worker = new Worker(source);
        URL.revokeObjectURL(source);
        worker.onmessage = ({ data }) => {
            stop("");
            if (data.failed) {
                $("status").textContent = "the checker failed: " + data.failed;
                return;
            }
            show(JSON.parse(data.answer));
        };
        worker.onerror = event => stop("the checker failed: " + event.message);
        worker.postMessage({ wasm, text: $("text").value });
    }

    function stop(said) {
        if (worker !== null) worker.terminate();
        worker = null;
        $("stop").disabled = true;
        $("status").textContent = said;
    }

    function element(name, text, className) {
        const made = document.createElement(name);
        if (text !== undefined) made.textContent = text;
        if (className) made.className = className;
        return made;
    }

    // The position of a line and column in the text; columns count characters, not their halves.
    function offset(line, column) {
        const lines = $("text").value.split("\n");
        const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
        return before + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length;
    }

    function show(found) {
        answer = found;
        trace = null;
        const messages = found.messages.map(message => {
            const item = element("li", undefined, message.severity);
            const place = message.line ? `${message.line}:${message.column}: ` : "";
            const label = message.label ? ` (${message.label})` : "";
            const button = element("button", `${place}${message.severity}: ${message.message}${label}`);
            button.type = "button";
            button.onclick = () => {
                if (!message.line) return;
                $("text").focus();
                $("text").setSelectionRange(offset(message.line, message.column),
                    offset(message.end_line, message.end_column));
            };
            item.append(button);
            return item;
        });
        $("messages").replaceChildren(...messages);
        const targets = (found.targets ?? []).map((target, index) => {
            const item = element("li");
            const words = target.kind === "label" ? { reachable: "reachable", unreachable: "unreachable" }
                : { reachable: "fails", unreachable: "holds" };
            let said = words[target.answer] ?? `unknown (${target.reason})`;
            if (target.trace) said += ` after ${target.trace.length} steps`;
            const text = `line ${target.line}: ${target.name}: ${said}`;
            if (!target.trace) {
                item.textContent = text;
                return item;
            }
            const button = element("button", text);
            button.type = "button";
            button.onclick = () => choose(index);
            item.append(button);
            return item;
        });
        $("targets").replaceChildren(...targets);
        $("graph").innerHTML = found.svg ?? "";
        $("walk").hidden = true;
        lines();
        const first = (found.targets ?? []).findIndex(target => target.trace);
        if (first >= 0) choose(first);
        else if (found.targets && found.targets.length === 0 && found.svg) {
            $("status").textContent = "there is nothing to decide: no label and no assertion";
        }
    }

    function choose(index) {
        trace = answer.targets[index].trace;
        [...$("targets").children].forEach((item, i) =>
            item.firstElementChild?.classList.toggle("chosen", i === index));
        $("walk").hidden = false;
        go(0, "");
    }

    function go(index, summary) {
        if (trace === null || index === null) return;
        at = index;
        const step = trace.steps[at];
        $("step").textContent =
            `${at + 1}/${trace.steps.length}  ${step.procedure}, line ${step.line}: ${step.statement}`;
        $("summary").textContent = summary;
        const rows = step.values.map(({ name, value, forced }) => {
            const row = element("tr");
            row.append(element("td", name), element("td", String(value)), element("td", forced ? "" : "either"));
            return row;
        });
        $("values").tBodies[0].replaceChildren(...rows);
        const ways = { back: step.back, over: step.over, into: step.next, up: step.up, out: step.out };
        for (const [way, target] of Object.entries(ways)) $(way).disabled = target === null;
        const boxes = $("graph").querySelectorAll("rect:not(.panel)");
        boxes.forEach((box, vertex) => box.classList.toggle("now", vertex === step.vertex));
        const box = boxes[step.vertex];
        if (box) {
            const outer = $("graph").getBoundingClientRect();
            const inner = box.getBoundingClientRect();
            $("graph").scrollTop += inner.top - outer.top - outer.height / 2;
            $("graph").scrollLeft += inner.left - outer.left - 40;
        }
        lines();
    }

    // The numbers of the lines, with those of errors and of the step marked.
    function lines() {
        const wrong = new Set((answer?.messages ?? []).filter(m => m.severity === "error").map(m => m.line));
        const now = trace === null ? null : trace.steps[at].line;
        const count = $("text").value.split("\n").length;
        const rows = Array.from({ length: count }, (_, i) => {
            const row = element("span", String(i + 1));
            row.classList.toggle("wrong", wrong.has(i + 1));
            row.classList.toggle("now", now === i + 1);
            return row;
        });
        $("lines").replaceChildren(...rows);
        $("lines").scrollTop = $("text").scrollTop;
    }

    $("example").append(...Object.keys(EXAMPLES).map(name => element("option", name)));
    $("example").onchange = () => {
        $("text").value = EXAMPLES[$("example").value];
        begin();
    };
    $("run").onclick = begin;
    $("stop").onclick = () => stop("stopped");
    $("text").oninput = () => {
        // Answers belong to the text that was run.
        stop("edited: run it again");
        answer = null;
        trace = null;
        $("messages").replaceChildren();
        $("targets").replaceChildren();
        $("graph").replaceChildren();
        $("walk").hidden = true;
        lines();
    };
    $("text").onscroll = () => { $("lines").scrollTop = $("text").scrollTop; };
    $("start").onclick = () => go(0, "");
    $("end").onclick = () => go(trace.steps.length - 1, "");
    $("back").onclick = () => go(trace.steps[at].back, "");
    $("into").onclick = () => go(trace.steps[at].next, "");
    $("up").onclick = () => go(trace.steps[at].up, "");
    $("out").onclick = () => go(trace.steps[at].out, "");
    $("over").onclick = () => {
        const { over, summary } = trace.steps[at];
        go(over, summary ? "summary of " + summary : "");
    };
    // The search of the book listens to letters.
    $("text").onkeydown = event => event.stopPropagation();
    $("text").value = Object.values(EXAMPLES)[0];
    lines();
})();
