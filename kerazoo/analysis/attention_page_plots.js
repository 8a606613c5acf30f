// The plots: one head as a heat map and as lines, and the entropy of all.

// ---- heat map ----

const map = { image: null, cell: 12, key: null }; // key: the column under the pointer
const mapLabels = { keys: [], queries: [] };
const secondText = tokens.findIndex((token) => token.segment === 1); // -1 for a single text

function buildMap() {
  for (const side of ["keys", "queries"]) {
    mapLabels[side] = tokens.map((token, i) => element("span", { "data-token": i, title: token.label }, token.label));
    byId(`map-${side}`).append(...mapLabels[side]);
    byId(`map-${side}`).lang = language;
  }
  const cells = byId("map-cells");
  byId("map-queries").addEventListener("pointerover", (event) => hover(event.target.dataset.token));
  byId("map-queries").addEventListener("pointerleave", () => hover());
  byId("map-queries").addEventListener("click", (event) => chooseToken(Number(event.target.dataset.token ?? chosen.token)));
  const cellAt = (event) =>
    [event.offsetY, event.offsetX].map((place) => Math.min(Math.max(Math.floor(place / map.cell), 0), count - 1));
  cells.addEventListener("pointermove", (event) => {
    const [query, key] = cellAt(event);
    map.key = key;
    hover(query);
    showMapRow();
  });
  cells.addEventListener("pointerleave", () => {
    map.key = null;
    hover();
  });
  cells.addEventListener("click", (event) => chooseToken(cellAt(event)[0]));
}

function showMap() {
  const room = byId("map").clientWidth - 76;
  map.cell = Math.min(Math.max(Math.floor(room / count), 11), 26);
  byId("map-body").style.setProperty("--cell", `${map.cell}px`);
  byId("map-cells").setAttribute(
    "aria-label",
    `Heat map of ${headName(chosen.layer, chosen.head).toLowerCase()}: a row a token that looks, a column a token looked at`,
  );
  map.image = imageOf(matrixOf(chosen.layer, chosen.head), count);
  showMapRow();
}

function showMapRow() {
  const cells = byId("map-cells");
  const side = map.cell * count;
  const density = window.devicePixelRatio || 1;
  cells.width = cells.height = Math.round(side * density);
  cells.style.width = cells.style.height = `${side}px`;
  const context = cells.getContext("2d");
  context.scale(density, density);
  context.imageSmoothingEnabled = false;
  context.drawImage(map.image, 0, 0, side, side);
  if (secondText > 0) {
    context.fillStyle = getComputedStyle(byId("map")).color;
    context.fillRect(0, secondText * map.cell - 0.5, side, 1);
    context.fillRect(secondText * map.cell - 0.5, 0, 1, side);
  }
  mapLabels.queries.forEach((label, i) => label.classList.toggle("chosen", i === looking()));
  mapLabels.keys.forEach((label, i) => label.classList.toggle("chosen", i === map.key));
  context.strokeStyle = getComputedStyle(mapLabels.queries[looking()]).color;
  context.lineWidth = 2;
  context.strokeRect(1, looking() * map.cell, side - 2, map.cell);
  if (map.key !== null) context.strokeRect(map.key * map.cell, looking() * map.cell, map.cell, map.cell);
  byId("map-number").textContent =
    map.key === null
      ? "Point at a cell to read its weight."
      : `${tokens[looking()].label} → ${tokens[map.key].label}: ${decimals(rowOf(looking())[map.key])}`;
}

// ---- lines ----

const LINE = { row: 22, gap: 16, number: 52, font: "12px" };
const lineHeight = (i) => (i + 0.5) * LINE.row + (secondText > 0 && i >= secondText ? LINE.gap : 0);

function lineLabel(i, x, kind) {
  const shown = [...tokens[i].label];
  const text = shown.length > 12 ? `${shown.slice(0, 11).join("")}…` : tokens[i].label;
  return drawn("text", { class: kind, x, y: lineHeight(i), "data-token": i, lang: language }, text);
}

/** Return the room that the words beside the lines take. */
function labelWidth(width) {
  const context = element("canvas").getContext("2d");
  context.font = `${LINE.font} ${getComputedStyle(document.body).fontFamily}`;
  const longest = Math.max(...tokens.map(({ label }) => context.measureText(label).width));
  return Math.min(longest + 10, 0.26 * width);
}

/** Draw lines from each token to those it looks at; weights under a twentieth only of the one that looks. */
function showLines() {
  const width = Math.min(byId("lines").clientWidth, 620);
  const label = labelWidth(width);
  const [left, right] = [label, width - label - LINE.number];
  const middle = (left + right) / 2;
  const faint = [];
  const strong = [];
  for (let query = 0; query < count; query++) {
    const isLooking = query === looking();
    rowOf(query).forEach((weight, key) => {
      const share = weight / page.scale;
      if (share < (isLooking ? 0.005 : 0.05)) return;
      const [from, to] = [lineHeight(query), lineHeight(key)];
      const path = drawn("path", {
        d: `M${left} ${from}C${middle} ${from} ${middle} ${to} ${right} ${to}`,
        "stroke-width": (0.5 + 3 * share).toFixed(2),
        "stroke-opacity": (isLooking ? Math.sqrt(share) : 0.35 * Math.sqrt(share)).toFixed(2),
        class: isLooking ? "chosen" : "",
      });
      (isLooking ? strong : faint).push(path);
    });
  }
  const row = rowOf(looking());
  const labels = tokens.flatMap((_, i) => [
    lineLabel(i, left - 6, "query"),
    lineLabel(i, right + 6, "key"),
    drawn("text", { class: "number", x: width, y: lineHeight(i), "data-key": i }, decimals(row[i])),
  ]);
  labels[3 * looking()].classList.add("chosen");
  const height = lineHeight(count - 1) + LINE.row / 2;
  byId("lines").replaceChildren(
    drawn(
      "svg",
      { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": true },
      ...faint,
      ...strong,
      ...labels,
    ),
  );
}

function listenToLines() {
  const queryAt = (event) => event.target.closest?.(".query")?.dataset.token;
  byId("lines").addEventListener("pointerover", (event) => hover(queryAt(event)));
  byId("lines").addEventListener("pointerleave", () => hover());
  byId("lines").addEventListener("click", (event) => chooseToken(Number(queryAt(event) ?? chosen.token)));
}

// ---- entropy by layer ----

function showEntropy() {
  const { values } = measures.find((measure) => measure.name === "entropy");
  const width = Math.max(byId("entropy-plot").clientWidth, 260);
  const edge = { left: 40, right: width - 12, top: 12, bottom: 216 };
  const top = Math.max(page.uniform_entropy, ...values.flat()) * 1.05 || 1;
  const band = (edge.right - edge.left) / layers;
  const x = (layer, head = (heads - 1) / 2) =>
    edge.left + band * (layer + 0.5 + (heads > 1 ? 0.6 * (head / (heads - 1) - 0.5) : 0));
  const y = (entropy) => edge.bottom - ((edge.bottom - edge.top) * entropy) / top;
  const step = top > 2 ? 1 : 0.5;
  const ticks = Array.from({ length: Math.floor(top / step) + 1 }, (_, i) => i * step);
  const means = page.layer_entropy;
  const rule = (entropy, kind) =>
    drawn("line", { class: kind, x1: edge.left, x2: edge.right, y1: y(entropy), y2: y(entropy) });
  byId("entropy-plot").replaceChildren(
    drawn(
      "svg",
      {
        width,
        height: 258,
        role: "img",
        "aria-label": `Mean entropy in nats, layer by layer: ${means.map(measured).join(", ")}`,
      },
      ...ticks.flatMap((tick) => [
        rule(tick, "rule"),
        drawn("text", { class: "tick", x: edge.left - 8, y: y(tick) + 4, "text-anchor": "end" }, tick),
      ]),
      ...means.map((_, layer) =>
        drawn("text", { class: "tick", x: x(layer), y: edge.bottom + 18, "text-anchor": "middle" }, layer + 1),
      ),
      drawn("text", { class: "tick", x: (edge.left + edge.right) / 2, y: edge.bottom + 36, "text-anchor": "middle" }, "layer"),
      rule(page.uniform_entropy, "uniform"),
      drawn("path", { class: "mean", d: `M${means.map((mean, layer) => `${x(layer)} ${y(mean)}`).join("L")}` }),
      ...values.flatMap((row, layer) =>
        row.map((value, head) =>
          drawn(
            "circle",
            {
              class: layer === chosen.layer && head === chosen.head ? "point chosen" : "point",
              cx: x(layer, head),
              cy: y(value),
              r: layer === chosen.layer && head === chosen.head ? 6 : 4,
              "data-layer": layer,
              "data-head": head,
            },
            drawn("title", {}, `${headName(layer, head)}: ${measured(value)} nats`),
          ),
        ),
      ),
    ),
  );
}
