// The texts, token by token, and the list of what one of them looks at.

const tokenNodes = tokens.map((token, index) =>
  element(
    "span",
    {
      role: "option",
      class: `token ${isSpecial(token) ? "special" : ""} ${token.entry === null ? "" : "unknown"}`,
      tabindex: -1,
      "data-token": index,
      "aria-label": `${token.label}, token ${index + 1} of ${count}`,
    },
    token.label,
  ),
);

function buildTexts() {
  texts.forEach((text, segment) => {
    const paragraph = element("p", { lang: language, dir: "auto" });
    const mine = tokens.flatMap((token, i) => (token.segment === segment ? [i] : []));
    const last = mine.findLast((i) => !isSpecial(tokens[i]));
    const characters = [...text]; // offsets count code points
    let read = 0;
    for (const i of mine) {
      const { start, end } = tokens[i];
      if (start < end) { // a token of white space alone stands for no other character
        paragraph.append(characters.slice(read, start).join(""));
        read = Math.max(read, end);
      }
      paragraph.append(tokenNodes[i]);
      const unread = i === last ? characters.slice(read, read + 60).join("") : "";
      if (unread.trim()) paragraph.append(element("span", { class: "unread", title: "cut off" }, `${unread}…`));
    }
    const name = ["First text", "Second text"][segment];
    const group = element("div", { role: "group", "aria-label": texts.length > 1 ? name : "Text" });
    if (texts.length > 1) group.append(element("div", { class: "name", "aria-hidden": true }, name));
    group.append(paragraph);
    byId("tokens").append(group);
  });
}

function showTexts() {
  const row = rowOf(looking());
  tokenNodes.forEach((node, i) => {
    paintShade(node, row[i]);
    node.tabIndex = i === chosen.token ? 0 : -1;
    node.setAttribute("aria-selected", i === chosen.token);
    node.classList.toggle("looking", i === looking());
  });
}

function showLooks() {
  const row = rowOf(looking());
  const order = [...row.keys()].sort((a, b) => row[b] - row[a] || a - b);
  byId("looks-title").replaceChildren(
    element("bdi", { class: "who", lang: language }, tokens[looking()].label),
    " looks at",
  );
  byId("looks").replaceChildren(
    ...order.map((key) => {
      const label = element("span", { class: "label", lang: language }, tokens[key].label);
      const { entry } = tokens[key];
      if (entry !== null) label.append(element("span", { class: "entry" }, ` ${entry}`));
      label.title = `token ${key + 1}`;
      const bar = element("span", { class: "bar", "aria-hidden": true });
      bar.style.setProperty("--share", row[key] / page.scale);
      const number = element("span", { class: "number" }, decimals(row[key]));
      return element("li", { "data-key": key }, label, bar, number);
    }),
  );
  if (chosen.hovered === null) {
    const most = order.slice(0, 3).map((key) => `${tokens[key].label} ${decimals(row[key])}`);
    byId("spoken").textContent =
      `${headName(chosen.layer, chosen.head)}: ${tokens[looking()].label} looks at ${most.join(", ")}`;
  }
}

function listenToTexts() {
  const list = byId("tokens");
  const tokenAt = (event) => event.target.closest?.(".token")?.dataset.token;
  list.addEventListener("pointerover", (event) => hover(tokenAt(event)));
  list.addEventListener("pointerleave", () => hover());
  list.addEventListener("focusin", (event) => chooseToken(Number(tokenAt(event) ?? chosen.token)));
  list.addEventListener("keydown", (event) => {
    const to = {
      ArrowLeft: chosen.token - 1,
      ArrowRight: chosen.token + 1,
      Home: 0,
      End: count - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    tokenNodes[Math.min(Math.max(to, 0), count - 1)].focus();
  });
}
