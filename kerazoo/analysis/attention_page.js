"use strict";

// The page's data, what is chosen on it, and what all its views share.

const page = JSON.parse(document.getElementById("data").textContent);
const { texts, tokens, layers, heads, measures } = page;
const count = tokens.length;
const isSpecial = (token) => token.start < 0;

const chosen = {
  layer: 0,
  head: 0,
  token: Math.max(0, tokens.findIndex((token) => !isSpecial(token))),
  hovered: null, // a token under the pointer, which goes before the chosen one
};
const looking = () => chosen.hovered ?? chosen.token;

let weights; // of (layers, heads, query, key), in units of 1 / page.scale

async function readWeights() {
  const packed = Uint8Array.from(atob(page.weights), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const half = bytes.length / 2; // all low bytes, then all high ones
  return Uint16Array.from({ length: half }, (_, i) => bytes[i] | (bytes[half + i] << 8));
}

/** Return the weights of a head, a row a token that looks. */
function matrixOf(layer, head) {
  const start = (layer * heads + head) * count * count;
  return weights.subarray(start, start + count * count);
}

/** Return what a token looks at in the chosen head. */
function rowOf(query) {
  return matrixOf(chosen.layer, chosen.head).subarray(query * count, (query + 1) * count);
}

const decimals = (weight) => (weight / page.scale).toFixed(page.weight_decimals);
const measured = (value) => (value === null ? "–" : value.toFixed(page.measure_decimals));
const headName = (layer, head) => `Layer ${layer + 1}, head ${head + 1}`;

// ---- elements ----

const byId = (id) => document.getElementById(id);

function withAttributes(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function element(name, attributes = {}, ...children) {
  return withAttributes(document.createElement(name), attributes, children);
}

function drawn(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  return withAttributes(made, attributes, children);
}

/** Letters that Chinese and Japanese share look different in their fonts. */
function languageOf(text) {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return "ja";
  if (/\p{Script=Hangul}/u.test(text)) return "ko";
  return /\p{Script=Han}/u.test(text) ? "zh" : "";
}

const language = languageOf(texts.join(" "));

// ---- colours ----

const RAMPS = {
  light: ["#ffffff", "#d5e5f2", "#8dbbdd", "#3b83c0", "#11508f", "#062449"],
  dark: ["#16191e", "#17344f", "#1d5a8b", "#4791c5", "#a1cae8", "#f4f9fd"],
};
let shades = []; // 256 colours [red, green, blue], from no attention to all of it

function isDark() {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function mixShades() {
  const ramp = RAMPS[isDark() ? "dark" : "light"].map((colour) =>
    [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16)),
  );
  shades = Array.from({ length: 256 }, (_, step) => {
    const place = (step / 255) * (ramp.length - 1);
    const below = Math.min(Math.floor(place), ramp.length - 2);
    return ramp[below].map((low, i) => Math.round(low + (place - below) * (ramp[below + 1][i] - low)));
  });
}

/** The square root lets weights of a hundredth show beside those near one. */
const shadeOf = (weight, power = 0.5) => shades[Math.round(255 * (weight / page.scale) ** power)];

/** Black or white, whichever reads better: at least 4.5 to 1 on any colour. */
function inkOn(colour) {
  const [red, green, blue] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
}

function paintShade(node, weight) {
  const colour = shadeOf(weight);
  node.style.backgroundColor = `rgb(${colour})`;
  node.style.color = inkOn(colour);
}

/** Return a canvas with a pixel for each number of a square matrix. */
function imageOf(matrix, side, power) {
  const canvas = element("canvas", { width: side, height: side });
  const context = canvas.getContext("2d");
  const image = context.createImageData(side, side);
  matrix.forEach((weight, i) => image.data.set([...shadeOf(weight, power), 255], 4 * i));
  context.putImageData(image, 0, 0);
  return canvas;
}
