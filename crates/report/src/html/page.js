"use strict";
// Steps through failing runs: the page is complete without this, only not alive.
for (const player of document.querySelectorAll(".player")) {
  const data = JSON.parse(player.querySelector("script[type='application/json']").textContent);
  const find = (name) => player.querySelector("." + name);
  const list = find("steps"), slider = find("slider"), said = find("said");
  const values = find("values-now"), stack = find("stack-now"), whole = find("whole"), rule = find("rule-now");
  let rows = [], at = 0;

  // The rule's state at a step, and what of it has changed since the step before.
  const stateOf = (index) => (data.rule ? data.rule.states[rows[index].r] || [] : []);
  function before(index) {
    for (let i = index - 1; i >= 0; i--) if (!rows[i].fold) return stateOf(i);
    return data.rule ? data.rule.states[0] : [];
  }
  const changed = (index) => (data.rule ? data.rule.variables.map((name, i) => [name, stateOf(index)[i], before(index)[i]]) : [])
    .filter(([, now, old]) => now !== old);

  const lines = (source) => player.querySelectorAll(`[data-source="${source}"] .row`);
  const boxes = (name, line) => player.querySelectorAll(`svg [data-f="${CSS.escape(name)}"][data-l="${line}"]`);

  function show(kind) {
    rows = data[kind];
    list.replaceChildren(...rows.map((row, index) => {
      const item = document.createElement("li");
      item.style.paddingInlineStart = 0.5 + Math.min(row.d, 12) * 1.2 + "rem";
      if (row.fold) { item.className = "fold"; item.textContent = row.fold; return item; }
      const margin = document.createElement("span");
      margin.className = "state";
      margin.textContent = changed(index).map(([name, value]) => name + " = " + value).join(", ");
      item.append(margin, row.n + "  " + row.t + "  ");
      if (row.x) item.className = "end";
      const said = document.createElement("span");
      said.className = "values";
      said.textContent = row.v.map(([name, value]) => name + " = " + value).join(", ");
      item.append(said);
      item.tabIndex = -1;
      item.addEventListener("click", () => go(index));
      return item;
    }));
    slider.max = rows.length - 1;
    at = -1;
    go(0);
  }

  // Folds are no steps: go on in the same direction.
  function go(to, by = 1) {
    let next = Math.max(0, Math.min(rows.length - 1, to));
    while (rows[next] && rows[next].fold && rows[next + by]) next += by;
    if (!rows[next] || rows[next].fold || next === at) return;
    at = next;
    slider.value = at;
    draw();
  }

  function draw() {
    const row = rows[at];
    for (const old of player.querySelectorAll(".now")) old.classList.remove("now");
    const item = list.children[at];
    item.classList.add("now");
    const line = lines(row.s)[row.l - 1];
    for (const panel of player.querySelectorAll("[data-source]")) panel.hidden = panel.dataset.source !== String(row.s);
    if (line) { line.classList.add("now"); within(line.closest(".source"), line); }
    within(list, item);
    const name = data.calls[row.c].f;
    for (const graph of player.querySelectorAll("[data-graph]")) graph.hidden = graph.dataset.graph !== name;
    for (const box of boxes(name, row.n)) box.classList.add("now");
    const chain = [];
    for (let call = row.c; call !== null; call = data.calls[call].p) chain.push(data.calls[call].f);
    stack.replaceChildren(...chain.map((f) => { const li = document.createElement("li"); li.textContent = f; return li; }));
    const known = new Map();
    for (let i = 0; i <= at; i++) {
      if (rows[i].fold) continue;
      // What a call passes belongs to the call that it opens.
      const next = rows[i + 1];
      const opens = next && !next.fold && data.calls[next.c].p === rows[i].c ? next.c : null;
      for (const [name, value, passed] of rows[i].v) {
        if ((passed ? opens : rows[i].c) === row.c) known.set(name, [value, i === at]);
      }
    }
    values.replaceChildren(...[...known].map(([name, [value, fresh]]) => {
      const tr = document.createElement("tr");
      if (fresh) tr.className = "changed";
      for (const text of [name, value]) { const td = document.createElement("td"); td.className = "code"; td.textContent = text; tr.append(td); }
      return tr;
    }));
    if (rule) rule.replaceChildren(...data.rule.variables.map((name, i) => {
      const tr = document.createElement("tr");
      if (stateOf(at)[i] !== before(at)[i]) tr.className = "changed";
      for (const text of [name, stateOf(at)[i]]) { const td = document.createElement("td"); td.className = "code"; td.textContent = text; tr.append(td); }
      return tr;
    }));
    said.textContent = `Step ${at + 1} of ${rows.length}: line ${row.n} in ${name}: ${row.t}` +
      (row.v.length ? " — " + row.v.map(([n, v]) => n + " is " + v).join(", ") : "") +
      changed(at).map(([n, v]) => `; the rule's ${n} is now ${v}`).join("");
  }

  function within(outer, inner) {
    if (!outer) return;
    const a = outer.getBoundingClientRect(), b = inner.getBoundingClientRect();
    if (b.top < a.top || b.bottom > a.bottom) outer.scrollTop += b.top - a.top - outer.clientHeight / 3;
  }

  find("first").addEventListener("click", () => go(0));
  find("back").addEventListener("click", () => go(at - 1, -1));
  find("next").addEventListener("click", () => go(at + 1));
  find("last").addEventListener("click", () => go(rows.length - 1, -1));
  slider.addEventListener("input", () => go(Number(slider.value)));
  if (whole) whole.addEventListener("change", () => show(whole.checked ? "full" : "relevant"));
  player.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === slider) return;
    const move = { ArrowRight: 1, ArrowDown: 1, j: 1, n: 1, ArrowLeft: -1, ArrowUp: -1, k: -1, p: -1 }[event.key];
    if (move) go(at + move, move);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(rows.length - 1, -1);
    else return;
    event.preventDefault();
  });
  show("relevant");
}
