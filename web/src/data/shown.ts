// Which scores of a map are drawn: pairs of texts, sinks, a threshold, the largest few of each row.

import type { Pairs, State } from "../schema";
import type { Axis } from "./axis";

export interface Shown {
  scores: Float32Array; // (row, column); 0 where nothing is drawn
  rows: Axis;
  columns: Axis;
  rowShown: boolean[];
  columnShown: boolean[];
  most: number; // the largest |score| that is drawn
  totals: Float32Array; // the sum of each shown row's |scores|, hidden tokens included
  onSinks: Float32Array; // the part of it that lies on sinks that are not shown
}

type Choices = Pick<State, "pairs" | "sinks" | "least" | "top">;

export function shown(scores: Float32Array, rows: Axis, columns: Axis, state: Choices): Shown {
  const { rowShown, columnShown } = shownTokens(rows, columns, state);
  const width = columns.labels.length;
  const renormalised = state.sinks === "renormalised";
  // Maps of 4,096 tokens have 16.7 million scores: nothing is copied where nothing is left out, and flags are bytes.
  const isWhole = !rowShown.includes(false) && !columnShown.includes(false) && !state.top && !state.least && !renormalised;
  const drawn = isWhole ? scores : new Float32Array(scores.length);
  const here = Uint8Array.from(columnShown, Number);
  const isHiddenSink = Uint8Array.from(columns.left, (left) => Number(withoutSinks(state) && !left));
  const totals = new Float32Array(rowShown.length);
  const onSinks = new Float32Array(rowShown.length);
  let most = 0;
  for (let row = 0; row < rowShown.length; row++) {
    if (!rowShown[row]) continue;
    let [all, sinks, largest] = [0, 0, 0];
    for (let column = 0, i = row * width; column < width; column++, i++) {
      const size = Math.abs(scores[i]);
      all += size;
      if (isHiddenSink[column]) sinks += size;
      if (here[column] && size > largest) largest = size;
    }
    totals[row] = all;
    onSinks[row] = sinks;
    const whole = renormalised ? all - sinks || 1 : 1; // what a score is a part of
    if (largest / whole > most) most = largest / whole;
    if (isWhole) continue;
    for (let column = 0, i = row * width; column < width; column++, i++) if (here[column]) drawn[i] = scores[i] / whole;
    if (state.top > 0) keepLargest(drawn, row * width, width, state.top);
  }
  if (state.least > 0) {
    for (let i = 0; i < drawn.length; i++) if (Math.abs(drawn[i]) < state.least * most) drawn[i] = 0;
  }
  return { scores: drawn, rows, columns, rowShown, columnShown, most, totals, onSinks };
}

/** The share of what several maps of the same rows give that lies on sinks which are not shown. */
export function hiddenOf(maps: Pick<Shown, "totals" | "onSinks">[]): number {
  const sum = (of: "totals" | "onSinks") => maps.reduce((all, map) => map[of].reduce((part, one) => part + one, all), 0);
  return sum("onSinks") / (sum("totals") || 1);
}

/** The same for each row. */
export function hiddenOfRows(maps: Pick<Shown, "totals" | "onSinks">[]): Float32Array {
  const rows = new Float32Array(maps[0]?.totals.length ?? 0);
  return rows.map((_, row) => hiddenOf(maps.map(({ totals, onSinks }) => ({ totals: totals.subarray(row, row + 1), onSinks: onSinks.subarray(row, row + 1) }))));
}

/** Whether sinks are left out, by a state that is fitted to its content. */
export function withoutSinks({ sinks }: Pick<State, "sinks">): boolean {
  return sinks === "hidden" || sinks === "renormalised";
}

/** Which tokens of both axes are shown. */
export function shownTokens(rows: Axis, columns: Axis, state: Pick<State, "pairs" | "sinks">): Pick<Shown, "rowShown" | "columnShown"> {
  return {
    rowShown: visible(rows, withoutSinks(state), segmentOf(state.pairs, 0)),
    columnShown: visible(columns, withoutSinks(state), segmentOf(state.pairs, 1)),
  };
}

/** The numbers of those that are shown. */
export function placesOf(isShown: boolean[]): number[] {
  return isShown.flatMap((here, place) => (here ? [place] : []));
}

/** Which tokens of an axis are shown; `segment` is the text of a pair that they must belong to, null for either. */
function visible(axis: Axis, without: boolean, segment: number | null): boolean[] {
  return axis.labels.map((_, i) => (axis.left[i] || !without) && (segment === null || axis.segments[i] === segment));
}

/** The text that a letter of `pairs` names: a is the first, b the second. */
function segmentOf(pairs: Pairs, end: 0 | 1): number | null {
  return pairs === "all" ? null : pairs[end] === "b" ? 1 : 0;
}

/** Of several alike the first stays. A row of thousands is not sorted: only the few largest are. */
function keepLargest(scores: Float32Array, start: number, width: number, count: number): void {
  const row = scores.subarray(start, start + width);
  const largest: number[] = []; // columns, the largest first
  let least = -1; // what a score must be above to be among them
  for (let column = 0; column < width; column++) {
    const size = Math.abs(row[column]);
    if (size <= least) continue;
    let place = largest.length;
    while (place > 0 && Math.abs(row[largest[place - 1]]) < size) place--;
    largest.splice(place, 0, column);
    if (largest.length > count) largest.pop();
    if (largest.length === count) least = Math.abs(row[largest[count - 1]]);
  }
  const kept = largest.map((column) => row[column]);
  row.fill(0);
  largest.forEach((column, i) => {
    row[column] = kept[i];
  });
}
