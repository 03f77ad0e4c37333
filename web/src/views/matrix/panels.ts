// The heat maps of the matrix: one measure; or two, and the difference between their shares.
import type { Axis } from "../../data/axis";
import { isJoint, scoreTitle } from "../../data/content";
import { mapOf } from "../../data/maps";
import type { Scores } from "../../data/scores";
import { hiddenOf, hiddenOfRows, placesOf, shown, withoutSinks } from "../../data/shown";
import { axesWithin } from "../../data/sinks";
import type { Attention, Change, Content, Scale } from "../../schema";
import type { State } from "../../state";
import { Pyramid } from "./pyramid";
import { onScale } from "./scale";

/** The tokens along one side of the maps: only those that are shown. */
export interface Tokens {
  labels: string[];
  titles: string[]; // what the tokenizer wrote
  changes: (Change | undefined)[]; // from one text to another, where two are compared
  places: number[]; // their numbers among all of the side
}

export interface Panel {
  name: string; // a measure, "a" or "b" of two that are compared, or "difference"
  title: string;
  about: string;
  signs: string; // what blue and orange mean
  signed: boolean;
  most: number; // the largest |score| that is drawn
  drawn: Pyramid; // (row, column) of the tokens that are shown, on the scale; 0 where a threshold leaves a score out
  full: number; // what the darkest colour stands for there
  score: (row: number, column: number) => number; // also of what a threshold leaves out
  share: (row: number, column: number) => number; // of everything that the row gives, hidden tokens too; or of what is left
  rowHidden: number[] | null; // of each row that is shown, the share on sinks that are not; null where they are
}

export interface Matrix {
  rows: Tokens;
  columns: Tokens;
  panels: Panel[];
  hidden: number | null; // the share on sinks that are not shown
}

interface MeasureMap {
  title: string;
  signed: boolean;
  scores: Float32Array;
  totals: Float32Array; // of each row, without signs; renormalised, without sinks
}

export function matrixOf(content: Content, scores: Scores, state: State, head: number): Matrix {
  const { attention } = scores;
  const { rows, columns } = axesWithin(content, attention, state.level, state.of);
  const width = columns.labels.length;
  const place = Math.max(0, attention.heads.indexOf(head));
  const renormalised = state.sinks === "renormalised";

  const read = (name: string): MeasureMap => {
    const merged = mapOf(scores, name, place, rows, columns, state.of);
    const which = content.compared ? `${state.of.toUpperCase()}, ` : "";
    return { title: which + panelTitle(content, attention, state, name, head), scores: merged, ...totalsOf(merged, width, renormalised ? columns.left : null) };
  };
  const first = read(state.measure);
  const filtered = shown(first.scores, rows, columns, state);
  const rowPlaces = placesOf(filtered.rowShown);
  const columnPlaces = placesOf(filtered.columnShown);

  const panel = (name: string, map: MeasureMap, about: string, share: Panel["share"]): Panel => {
    const apart = map.totals.length === 0; // a difference of shares, which are not to be made shares once more
    const visible = map === first ? filtered : shown(map.scores, rows, columns, apart && renormalised ? { ...state, sinks: "hidden" } : state);
    return {
      name,
      title: map.title,
      about,
      signs: "orange is below zero",
      signed: map.signed,
      ...onMap(compact(visible.scores, width, rowPlaces, columnPlaces), rowPlaces.length, columnPlaces.length, visible.most, state.scale),
      score: renormalised ? share : (row, column) => map.scores[rowPlaces[row] * width + columnPlaces[column]],
      share,
      rowHidden: withoutSinks(state) && !apart ? pick([...hiddenOfRows([visible])], rowPlaces) : null,
    };
  };
  const shareOf =
    (map: MeasureMap): Panel["share"] =>
    (row, column) =>
      map.scores[rowPlaces[row] * width + columnPlaces[column]] / (map.totals[rowPlaces[row]] || 1);

  const panels = [panel(state.measure, first, "", shareOf(first))];
  if (state.compare) {
    const second = read(state.compare);
    const difference: MeasureMap = {
      title: `${titleOf(content, state.compare)} − ${titleOf(content, state.measure)} (row shares)`,
      signed: true,
      scores: sharesApart(first, second, width),
      totals: new Float32Array(0),
    };
    const about =
      `Each row of both maps is divided by its sum${renormalised ? " without sinks" : ""}` +
      (first.signed || second.signed ? `${renormalised ? " and" : ""} without signs` : "") +
      ", so that they add up to the same; then one is taken from the other.";
    panels.push(panel(state.compare, second, "", shareOf(second)));
    panels.push(
      panel("difference", difference, about, (row, column) => difference.scores[rowPlaces[row] * width + columnPlaces[column]]),
    );
  }
  return {
    rows: tokensOf(rows, rowPlaces),
    columns: tokensOf(columns, columnPlaces),
    panels,
    hidden: withoutSinks(state) ? hiddenOf([filtered]) : null,
  };
}

/** `weight, head 3.1`. */
export function panelTitle(content: Content, attention: Attention, state: State, measure: string, head: number): string {
  const who = isJoint(content, attention, measure) ? "all heads together" : `head ${attention.layer}.${head}`;
  return `${scoreTitle(content, state, measure)}, ${who}`;
}

function sharesApart(first: MeasureMap, second: MeasureMap, width: number): Float32Array {
  const apart = new Float32Array(first.scores.length);
  for (let row = 0, i = 0; row < first.totals.length; row++) {
    const one = first.totals[row] || 1;
    const other = second.totals[row] || 1;
    for (let column = 0; column < width; column++, i++) apart[i] = second.scores[i] / other - first.scores[i] / one;
  }
  return apart;
}

/** The sum of each row without signs, over the columns that are counted, and whether there are any signs. */
function totalsOf(scores: Float32Array, width: number, counted: boolean[] | null): { totals: Float32Array; signed: boolean } {
  const totals = new Float32Array(width ? scores.length / width : 0);
  let least = 0;
  for (let row = 0, i = 0; row < totals.length; row++) {
    let sum = 0;
    for (let column = 0; column < width; column++, i++) {
      const score = scores[i];
      if (!counted || counted[column]) sum += Math.abs(score);
      if (score < least) least = score;
    }
    totals[row] = sum;
  }
  return { totals, signed: least < 0 };
}

/** What of a panel is drawn, on a scale whose end is `most`. */
export function onMap(scores: Float32Array, rows: number, columns: number, most: number, scale: Scale): Pick<Panel, "most" | "drawn" | "full"> {
  return { most, drawn: new Pyramid(onScale(scores, columns, most, scale), rows, columns), full: scale === "linear" ? most : 1 };
}

export function compact(scores: Float32Array, width: number, rows: number[], columns: number[]): Float32Array {
  if (rows.length * columns.length === scores.length) return scores;
  const kept = new Float32Array(rows.length * columns.length);
  let i = 0;
  for (const row of rows) for (const column of columns) kept[i++] = scores[row * width + column];
  return kept;
}

export function pick<T>(all: T[], places: number[]): T[] {
  return places.map((place) => all[place]);
}

export function tokensOf(axis: Axis, places: number[]): Tokens {
  const changes = places.map((place) => axis.joint?.changes[place]);
  return { labels: pick(axis.labels, places), titles: pick(axis.titles, places), changes, places };
}

function titleOf(content: Content, name: string): string {
  return content.measures.find((one) => one.name === name)?.title ?? name;
}
