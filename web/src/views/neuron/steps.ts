// From one query to its weights (vig2019, section 4.3): q and k neuron by neuron, q.k, scaled, the softmax; and what the
// weight multiplies.
import type { Scores } from "../../data/scores";
import { hiddenOf, shown, shownTokens, withoutSinks } from "../../data/shown";
import { axesWithin } from "../../data/sinks";
import type { Attention, Content, Neurons, Side } from "../../schema";
import type { State } from "../../state";

export interface KeyStep {
  key: number; // its place in the text
  label: string;
  title: string; // what the tokenizer wrote
  dot: number;
  scaled: number;
  weight: number;
  unseen: boolean; // the query is not allowed to see it
  lost: number; // what a weight that is too small for its byte is below; else 0
  valueNorm: number | null;
  norm: number | null; // weight x ||f(x)||
  score: number | null; // of the chosen measure, where it is another one
}

export interface Steps {
  size: number; // neurons of a head
  query: Float32Array; // d_head
  keys: Float32Array; // (key, d_head), all of them
  shown: KeyStep[];
  left: number; // how many keys a threshold leaves out
  largest: { query: number; key: number; product: number }; // without signs, of what is shown
  hidden: number | null; // the share of the row on sinks that are not shown
}

/** Tokens that can be chosen: those that the choices of the toolbar leave as rows. */
export function queriesShown(content: Content, attention: Attention, state: State): boolean[] {
  const { rows, columns } = axesWithin(content, attention, "token");
  return shownTokens(rows, columns, state).rowShown;
}

/** Kept tokens as pieces, since vectors belong to pieces: of a word that is kept, the first. */
export function keptPieces(state: State, letter: "q" | "k", side: Side): number[] {
  const places = state.keep.filter((name) => name[0] === letter).map((name) => Number(name.slice(1)));
  const pieces = state.level === "word" ? places.map((word) => side.word_of.indexOf(word)) : places;
  return pieces.filter((piece) => piece >= 0 && piece < side.tokens.length); // an address may come from another page
}

/** The first kept token that attends; else the last that is not special, which sees the whole text in a decoder too. */
export function queryChosen(kept: number[], can: boolean[], special: boolean[]): number {
  const first = kept.find((place) => can[place]);
  if (first !== undefined) return first;
  const ordinary = can.map((is, place) => is && !special[place]).lastIndexOf(true);
  return ordinary >= 0 ? ordinary : can.lastIndexOf(true);
}

export function stepsOf(content: Content, scores: Scores, neurons: Neurons, state: State, place: number, row: number): Steps {
  const { attention, keys: count } = scores;
  const size = neurons.queries.at.shape[2];
  const query = scores.queryVectors(place).subarray(row * size, (row + 1) * size);
  const keys = scores.keyVectors(place);
  const { rows, columns } = axesWithin(content, attention, "token");
  const dots = new Float32Array(count);
  for (let key = 0; key < count; key++) dots[key] = dot(query, keys, key * size);

  const map = scores.has("weight") ? scores.head("weight", place) : null;
  const weights = map ? map.subarray(row * count, (row + 1) * count) : softmax(dots, neurons.scaling);
  const causal = map !== null && isCausal(map, scores.queries, count);
  const bounds = scores.bounds("weight", place);
  const unseen = unseenBy(row, weights, dots, neurons.scaling, bounds, causal);

  const valueNorms = scores.valueNorm(place);
  const other = state.measure !== "weight" && state.measure !== "norm" ? scores.head(state.measure, place) : null;
  const chosen = other ?? (state.measure === "norm" && scores.has("norm") ? scores.head("norm", place) : null);
  const filtered = shown(
    chosen ? chosen.subarray(row * count, (row + 1) * count) : weights,
    { ...rows, labels: [""], special: [false], segments: [0], left: [true] },
    columns,
    { ...state, pairs: state.pairs === "all" ? "all" : state.pairs[1] === "b" ? "ab" : "aa" }, // the row itself was chosen by its text
  );
  // Renormalised, a weight is the softmax over the keys that are no sinks, and what is made of it goes along.
  const rest = (row: Float32Array) => row.reduce((sum, one, key) => sum + (columns.left[key] ? Math.abs(one) : 0), 0) || 1;
  const whole = state.sinks === "renormalised" ? rest(weights) : 1;
  const others = other?.subarray(row * count, (row + 1) * count) ?? null;
  const otherWhole = others && state.sinks === "renormalised" ? rest(others) : 1;
  const isFiltered = state.least > 0 || state.top > 0;
  const found: KeyStep[] = [];
  let left = 0;
  for (let key = 0; key < count; key++) {
    if (!filtered.columnShown[key]) continue;
    if (isFiltered && filtered.scores[key] === 0) {
      left++;
      continue;
    }
    found.push({
      key,
      label: columns.labels[key],
      title: columns.titles[key],
      dot: dots[key],
      scaled: neurons.scaling * dots[key],
      weight: weights[key] / whole,
      unseen: unseen[key],
      lost: weights[key] === 0 && !unseen[key] ? bounds[key] / whole : 0,
      valueNorm: valueNorms ? valueNorms[key] : null,
      norm: valueNorms ? (weights[key] / whole) * valueNorms[key] : null,
      score: others ? others[key] / otherWhole : null,
    });
  }
  return {
    size,
    query,
    keys,
    shown: found,
    left,
    largest: largestOf(query, keys, found, size),
    hidden: withoutSinks(state) ? hiddenOf([filtered]) : null,
  };
}

/**
 * Keys that a query may not see have a weight of exactly 0. Where weights are kept as bytes, one that is merely small may be
 * 0 too: then a key counts as unseen if q.k asks for a weight that a byte would show, or if all later keys are 0 everywhere.
 */
function unseenBy(
  row: number,
  weights: Float32Array,
  dots: Float32Array,
  scaling: number,
  bounds: Float32Array,
  causal: boolean,
): boolean[] {
  let most = 0;
  weights.forEach((weight, key) => {
    if (weight > weights[most]) most = key;
  });
  return Array.from(weights, (weight, key) => {
    if (weight !== 0) return false;
    const asked = weights[most] * Math.exp(scaling * (dots[key] - dots[most]));
    return bounds[key] === 0 || (causal && key > row) || asked > 4 * bounds[key];
  });
}

const causalMaps = new WeakMap<Float32Array, boolean>(); // a map is looked through once, not for every token that is pointed at

/** Whether nothing in a map looks ahead. */
function isCausal(map: Float32Array, rows: number, columns: number): boolean {
  let known = causalMaps.get(map);
  if (known === undefined) {
    known = rows === columns && rows > 1;
    for (let row = 0; known && row < rows; row++) {
      for (let column = row + 1; column < columns; column++) if (map[row * columns + column] !== 0) known = false;
    }
    causalMaps.set(map, known);
  }
  return known;
}

function dot(query: Float32Array, keys: Float32Array, start: number): number {
  let sum = 0;
  for (let neuron = 0; neuron < query.length; neuron++) sum += query[neuron] * keys[start + neuron];
  return sum;
}

function softmax(dots: Float32Array, scaling: number): Float32Array {
  const most = scaling * dots.reduce((largest, one) => Math.max(largest, one), -Infinity);
  const powers = dots.map((one) => Math.exp(scaling * one - most));
  const sum = powers.reduce((total, one) => total + one, 0);
  return powers.map((one) => one / sum);
}

function largestOf(query: Float32Array, keys: Float32Array, rows: KeyStep[], size: number): Steps["largest"] {
  const largest = { query: 0, key: 0, product: 0 };
  for (let neuron = 0; neuron < size; neuron++) {
    largest.query = Math.max(largest.query, Math.abs(query[neuron]));
    for (const { key } of rows) {
      const one = Math.abs(keys[key * size + neuron]);
      largest.key = Math.max(largest.key, one);
      largest.product = Math.max(largest.product, one * Math.abs(query[neuron]));
    }
  }
  return largest;
}
