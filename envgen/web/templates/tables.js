"use strict";
(() => {
  const make = (tag, settings, ...inside) => {
    const node = Object.assign(document.createElement(tag), settings);
    node.append(...inside);
    return node;
  };
  const grouped = (value) => value.toLocaleString("en-US");
  const many = (count, one) => `${grouped(count)} ${one}${count === 1 ? "" : "s"}`;
  const compare = (a, b) => (a === null ? 1 : b === null ? -1
    : typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));

  // A button in each heading; `sorted(column, falling)` does the work.
  const headings = (row, sorted) => {
    const cells = [...row.cells];
    cells.forEach((cell, column) => {
      if (cell.tagName !== "TH") return;
      const button = make("button", { type: "button" }, cell.textContent);
      cell.replaceChildren(button);
      button.addEventListener("click", () => {
        const before = cell.getAttribute("aria-sort");
        const falling = before ? before === "ascending" : cell.classList.contains("n");
        cells.forEach((other) => other.removeAttribute("aria-sort"));
        cell.setAttribute("aria-sort", falling ? "descending" : "ascending");
        sorted(column, falling);
      });
    });
  };
  const searching = (name, changed) => {
    const input = make("input", { type: "search", autocomplete: "off", spellcheck: false });
    input.addEventListener("input", () => changed(input.value));
    return { input, label: make("label", {}, name, input) };
  };

  // -- tables whose rows are all in the page ---------------------------------------------------
  const FEW = 25;
  for (const table of document.querySelectorAll("table[data-sorts]")) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    if (rows.length < 2) continue;
    const value = (row, column) => {
      const cell = row.cells[column];
      if ("v" in cell.dataset) return Number(cell.dataset.v);
      return cell.textContent || null;
    };
    headings(table.tHead.rows[0], (column, falling) => {
      const filled = rows.map((row) => [value(row, column), row]);
      filled.sort(([a], [b]) => (falling && a !== null && b !== null ? compare(b, a) : compare(a, b)));
      body.append(...filled.map(([, row]) => row));
    });
    if (rows.length > FEW) {
      const told = make("output", {}, "");
      const search = searching("Filter", (text) => {
        const wanted = text.trim().toLowerCase();
        let left = 0;
        for (const row of rows) {
          row.hidden = !row.textContent.toLowerCase().includes(wanted);
          left += !row.hidden;
        }
        told.textContent = wanted ? `${grouped(left)} of ${many(rows.length, "row")}` : "";
      });
      search.input.setAttribute("aria-label", `Filter: ${table.caption.textContent}`);
      const tools = make("div", { className: "tools" }, search.label, told);
      table.closest(".scroll").before(tools);
    }
  }

  // -- the list of tasks -----------------------------------------------------------------------
  const holder = document.getElementById("task-data");
  if (!holder) return;
  const data = JSON.parse(holder.textContent);
  const fields = new Map(data.fields.map((field) => [field.name, field]));
  const shown = data.fields.filter((field) => field.title);
  const body = document.getElementById("task-table").tBodies[0];
  const PAGE = 50;
  const state = { only: [], text: "", order: null, falling: false, first: 0, rows: [] };

  const words = (field, row) => {
    const value = field.values[row];
    if (field.kind === "words") return value.map((at) => field.words[at]);
    if (field.kind === "word") return value < 0 ? [] : [field.words[value]];
    return value === null ? [] : [value];
  };
  const text = (field, row) => {
    const value = field.values[row];
    if (field.kind !== "number") return words(field, row).join(", ");
    if (value === null) return "";
    if (field.style !== "bytes") {
      const digits = Math.min(Number(field.style), field.name === "dollars" ? 4 : 2);
      return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    }
    const at = value < 1e3 ? 0 : value < 1e6 ? 1 : value < 1e9 ? 2 : 3;
    return `${(value / 1e3 ** at).toFixed(at ? 1 : 0)} ${["B", "kB", "MB", "GB"][at]}`;
  };
  const haystacks = [];
  const haystack = (row) => (haystacks[row] ??= data.fields
    .filter((field) => field.kind !== "number")
    .map((field) => text(field, row)).join("\n").toLowerCase());

  // Values of one field are alternatives; `a..b` is a range, its end not included.
  const holds = (name, wanted) => {
    const field = fields.get(name);
    if (!field) return () => false;
    if (field.kind === "number") {
      const ranges = wanted.map((one) => one.split("..").map((end, n) => (end === "" ? (n ? Infinity : -Infinity) : Number(end))));
      return (row) => field.values[row] !== null &&
        ranges.some(([low, high]) => field.values[row] >= low && field.values[row] < (high ?? low + 1e-9));
    }
    const set = new Set(wanted);
    return (row) => words(field, row).some((word) => set.has(word));
  };
  const choose = () => {
    const tests = state.only.map(([name, wanted]) => holds(name, wanted));
    const wanted = state.text.trim().toLowerCase();
    state.rows = [];
    for (let row = 0; row < data.total; row++) {
      if (tests.every((test) => test(row)) && (!wanted || haystack(row).includes(wanted))) state.rows.push(row);
    }
    if (state.order) {
      const key = (row) => (state.order.kind === "number" ? state.order.values[row] : text(state.order, row) || null);
      const keyed = state.rows.map((row) => [key(row), row]);
      const sign = state.falling ? -1 : 1;
      keyed.sort(([a, m], [b, n]) => (a === null || b === null ? compare(a, b) : sign * compare(a, b)) || m - n);
      state.rows = keyed.map(([, row]) => row);
    }
    state.first = 0;
    draw();
  };

  const told = make("output", {}, "");
  const search = searching("Search", (value) => { state.text = value; choose(); });
  search.input.setAttribute("aria-label", "Search in tasks, titles, reasons and axis values");
  const chips = make("div", { className: "tools" });
  document.getElementById("task-tools").append(make("div", { className: "tools" }, search.label, told), chips);
  const step = (name, by) => {
    const button = make("button", { type: "button" }, name);
    button.addEventListener("click", () => { state.first += by; draw(); });
    return button;
  };
  const back = step("Previous", -PAGE), forth = step("Next", PAGE);
  document.getElementById("task-pager").append(make("div", { className: "tools" }, back, forth));

  const draw = () => {
    const page = state.rows.slice(state.first, state.first + PAGE);
    body.replaceChildren(...page.map((row) => make("tr", {}, ...shown.map((field, n) => {
      const cell = make(n ? "td" : "th", { className: field.kind === "number" ? "n" : "" });
      if (!n) cell.scope = "row";
      const words = make("bdi", {}, text(field, row));
      cell.append(!n && data.pages
        ? make("a", { href: data.pages + encodeURIComponent(field.values[row]) }, words) : words);
      for (let next = data.fields.indexOf(field) + 1; data.notes.includes(data.fields[next]?.name); next++) {
        const below = text(data.fields[next], row);
        if (below) cell.append(make("small", {}, make("bdi", {}, below)));
      }
      return cell;
    }))));
    const last = state.first + page.length;
    told.textContent = page.length
      ? `${grouped(state.first + 1)} to ${grouped(last)} of ${many(state.rows.length, "task")}` : "no task";
    back.disabled = state.first === 0;
    forth.disabled = last >= state.rows.length;
  };
  const chip = (label, click) => {
    const button = make("button", { type: "button" }, label);
    button.addEventListener("click", click);
    return button;
  };
  const query = (only) => new URLSearchParams(only.flatMap(([name, wanted]) => wanted.map((one) => [name, one]))).toString();
  const go = (only) => { location.hash = only.length ? `tasks?${query(only)}` : "tasks"; };
  const follow = (moved) => {
    const [place, asked = ""] = location.hash.slice(1).split("?");
    if (place !== "tasks") return moved || choose();
    const parameters = new URLSearchParams(asked);
    state.only = [...new Set(parameters.keys())].map((name) => [name, parameters.getAll(name)]);
    chips.replaceChildren(...state.only.map(([name, wanted]) => chip(
      `${name.replaceAll("_", " ")}: ${wanted.join(" or ")} \u2715`,
      () => go(state.only.filter(([other]) => other !== name)),
    )));
    if (state.only.length > 1) chips.append(chip("show all", () => go([])));
    for (const button of chips.children) button.setAttribute("aria-label", `Remove filter ${button.textContent.replace(" \u2715", "")}`);
    choose();
    const title = document.getElementById("tasks-title");
    title.scrollIntoView();
    title.focus({ preventScroll: true });
  };
  headings(document.getElementById("task-table").tHead.rows[0], (column, falling) => {
    state.order = shown[column];
    state.falling = falling;
    choose();
  });
  for (const link of document.querySelectorAll("a[data-only]")) {
    link.hash = `tasks?${link.dataset.only}`;
    link.addEventListener("click", () => { if (link.hash === location.hash) follow(true); });
  }
  addEventListener("hashchange", () => follow(true));
  follow(false);
})();
