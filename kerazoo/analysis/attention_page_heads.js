// The heads: overview, pickers, measures of one, table of all. Then the page is put together.

const headButtons = [];
const table = { column: null, descending: true };
let view = "map";

// ---- overview ----

function buildOverview() {
  const grid = byId("grid");
  grid.style.gridTemplateColumns = `16px repeat(${heads}, minmax(0, 1fr))`;
  const number = (value) => element("span", { class: "number", "aria-hidden": true }, value ?? "");
  grid.append(number(), ...Array.from({ length: heads }, (_, head) => number(head + 1)));
  for (let layer = 0; layer < layers; layer++) {
    headButtons.push(
      Array.from({ length: heads }, (_, head) => {
        const name = headName(layer, head);
        const at = { "data-layer": layer, "data-head": head, tabindex: -1 };
        return element("button", { type: "button", role: "gridcell", "aria-label": name, title: name, ...at });
      }),
    );
    grid.append(element("div", { role: "row" }, number(layer + 1), ...headButtons[layer]));
  }
  grid.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    chooseHead(chosen.layer + step[0], chosen.head + step[1]);
    headButtons[chosen.layer][chosen.head].focus();
  });
  for (const [id, number] of [["layer", layers], ["head", heads]]) {
    byId(id).append(...Array.from({ length: number }, (_, i) => element("option", { value: i }, i + 1)));
    byId(id).addEventListener("change", () => chooseHead(Number(byId("layer").value), Number(byId("head").value)));
  }
}

/** Return the largest weights of the parts of a matrix, so that thin lines stay in a small picture. */
function shrunk(matrix, side) {
  const small = new Uint16Array(side * side);
  const place = (i) => Math.floor((i * side) / count);
  matrix.forEach((weight, i) => {
    const part = place(Math.floor(i / count)) * side + place(i % count);
    small[part] = Math.max(small[part], weight);
  });
  return small;
}

function showOverview() {
  const side = Math.min(count, 28);
  headButtons.flat().forEach((button) => {
    const matrix = matrixOf(Number(button.dataset.layer), Number(button.dataset.head));
    button.replaceChildren(imageOf(shrunk(matrix, side), side, 0.4));
  });
}

// ---- measures ----

const wordsOf = (name) => name.replaceAll("_", " ");

function showMeasures() {
  byId("measures").replaceChildren(
    ...measures.flatMap(({ name, values }) => [
      element("dt", {}, wordsOf(name)),
      element("dd", {}, measured(values[chosen.layer][chosen.head])),
    ]),
  );
}

function buildTable() {
  const names = ["layer", "head", ...measures.map(({ name }) => name)];
  const headings = names.map((name, column) => {
    const button = element("button", { type: "button" }, wordsOf(name));
    button.addEventListener("click", () => {
      table.descending = table.column === column ? !table.descending : column > 1;
      table.column = column;
      showTable();
    });
    return element("th", { scope: "col" }, button);
  });
  byId("table").tHead.append(element("tr", {}, ...headings));
  byId("table").tBodies[0].addEventListener("click", (event) => {
    const { layer, head } = event.target.closest("tr").dataset;
    chooseHead(Number(layer), Number(head));
  });
}

function showTable() {
  const rows = headButtons.flatMap((row, layer) =>
    row.map((_, head) => [layer + 1, head + 1, ...measures.map(({ values }) => values[layer][head])]),
  );
  const { column, descending } = table;
  if (column !== null) {
    rows.sort((a, b) => (descending ? -1 : 1) * ((a[column] ?? -1) - (b[column] ?? -1)));
  }
  [...byId("table").tHead.rows[0].cells].forEach((cell, i) => {
    cell.ariaSort = i === column ? (descending ? "descending" : "ascending") : "none";
  });
  byId("table").tBodies[0].replaceChildren(
    ...rows.map(([layer, head, ...values]) => {
      const cells = [layer, head, ...values.map(measured)].map((value) => element("td", {}, value));
      return element("tr", { "data-layer": layer - 1, "data-head": head - 1 }, ...cells);
    }),
  );
  showTableRow();
}

function showTableRow() {
  for (const row of byId("table").tBodies[0].rows) {
    const isChosen = Number(row.dataset.layer) === chosen.layer && Number(row.dataset.head) === chosen.head;
    row.ariaCurrent = isChosen ? "true" : null;
  }
}

// ---- choosing ----

function chooseHead(layer, head) {
  chosen.layer = Math.min(Math.max(layer, 0), layers - 1);
  chosen.head = Math.min(Math.max(head, 0), heads - 1);
  showHead();
}

function chooseToken(token) {
  chosen.token = token;
  chosen.hovered = null;
  showToken();
}

function hover(token) {
  const hovered = token === undefined ? null : Number(token);
  if (hovered === chosen.hovered) return; // what is drawn anew comes under the pointer anew
  chosen.hovered = hovered;
  showToken();
}

function showToken() {
  showTexts();
  showLooks();
  if (view === "map") showMapRow();
  else showLines();
}

function showHead() {
  byId("detail-title").textContent = headName(chosen.layer, chosen.head);
  byId("layer").value = chosen.layer;
  byId("head").value = chosen.head;
  headButtons.flat().forEach((button) => {
    const isChosen = button === headButtons[chosen.layer][chosen.head];
    button.tabIndex = isChosen ? 0 : -1;
    button.ariaSelected = isChosen;
  });
  showMeasures();
  showTableRow();
  showEntropy();
  if (view === "map") showMap();
  showToken();
}

function showView(name) {
  view = name;
  document.querySelectorAll("[data-view]").forEach((button) => {
    button.ariaPressed = button.dataset.view === view;
    byId(button.dataset.view).hidden = button.dataset.view !== view;
  });
  showHead();
}

/** Draw again what depends on the colours. */
function showTheme() {
  mixShades();
  byId("theme").textContent = isDark() ? "Light theme" : "Dark theme";
  const scale = element("canvas", { width: 256, height: 1 });
  shades.forEach((_, step) => {
    const context = scale.getContext("2d");
    context.fillStyle = `rgb(${shadeOf(page.scale * (step / 255))})`;
    context.fillRect(step, 0, 1, 1);
  });
  const ticks = [0, 0.05, 0.25, 0.5, 1].map((tick) => {
    const label = element("span", {}, tick);
    label.style.left = `${100 * Math.sqrt(tick)}%`;
    return label;
  });
  byId("scale").replaceChildren(scale, ...ticks);
  showOverview();
  showHead();
}

async function start() {
  try {
    weights = await readWeights();
  } catch (error) {
    byId("failure").hidden = false;
    throw error;
  }
  buildOverview();
  buildTexts();
  buildMap();
  buildTable();
  listenToTexts();
  listenToLines();
  byId("grid").addEventListener("click", choosePlace);
  byId("entropy-plot").addEventListener("click", choosePlace);
  document.querySelectorAll("[data-view]").forEach((button) =>
    button.addEventListener("click", () => showView(button.dataset.view)),
  );
  byId("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    showTheme();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
  window.addEventListener("resize", showHead);
  showTable();
  showTheme();
}

/** Choose the head that a thumbnail or a point stands for. */
function choosePlace(event) {
  const place = event.target.closest("[data-layer]");
  if (place) chooseHead(Number(place.dataset.layer), Number(place.dataset.head));
}

start();
