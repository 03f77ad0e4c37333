// Which scores of a map are drawn: pairs of texts, special tokens, a threshold, the largest few of each row.

import type { Pairs, State } from "../schema";
import type { Axis } from "./axis";

export interface Shown {
  scores: Float32Array; // (row, column); 0 where nothing is drawn
  rows: Axis;
  columns: Axis;
  rowShown: boolean[];
  columnShown: boolean[];
  most: number; // the largest |score| that is drawn
  total: number; // the sum of the shown rows' |scores|, hidden tokens included
  hidden: number; // the share of it that lies on hidden special tokens
}

type Choices = Pick<State, "pairs" | "special" | "least" | "top">;

export function shown(scores: Float32Array, rows: Axis, columns: Axis, state: Choices): Shown {
  const { rowShown, columnShown } = shownTokens(rows, columns, state);
  const width = columns.labels.length;
  // Maps of 4,096 tokens have 16.7 million scores: nothing is copied where nothing is left out, and flags are bytes.
  const isWhole = !rowShown.includes(false) && !columnShown.includes(false) && !state.top && !state.least;
  const drawn = isWhole ? scores : new Float32Array(scores.length);
  const here = Uint8Array.from(columnShown, Number);
  const isHiddenSpecial = Uint8Array.from(columns.special, (special) => Number(special && !state.special));
  let most = 0;
  let all = 0;
  let onSpecial = 0;
  for (let row = 0; row < rowShown.length; row++) {
    if (!rowShown[row]) continue;
    for (let column = 0, i = row * width; column < width; column++, i++) {
      const size = Math.abs(scores[i]);
      all += size;
      if (isHiddenSpecial[column]) onSpecial += size;
      if (here[column] && size > most) most = size;
    }
    if (isWhole) continue;
    for (let column = 0, i = row * width; column < width; column++, i++) if (here[column]) drawn[i] = scores[i];
    if (state.top > 0) keepLargest(drawn, row * width, width, state.top);
  }
  if (state.least > 0) {
    for (let i = 0; i < drawn.length; i++) if (Math.abs(drawn[i]) < state.least * most) drawn[i] = 0;
  }
  return { scores: drawn, rows, columns, rowShown, columnShown, most, total: all, hidden: all > 0 ? onSpecial / all : 0 };
}

/** Which tokens of both axes are shown. */
export function shownTokens(rows: Axis, columns: Axis, state: Pick<State, "pairs" | "special">): Pick<Shown, "rowShown" | "columnShown"> {
  return {
    rowShown: visible(rows, state.special, segmentOf(state.pairs, 0)),
    columnShown: visible(columns, state.special, segmentOf(state.pairs, 1)),
  };
}

/** The numbers of those that are shown. */
export function placesOf(isShown: boolean[]): number[] {
  return isShown.flatMap((here, place) => (here ? [place] : []));
}

/** Which tokens of an axis are shown; `segment` is the text of a pair that they must belong to, null for either. */
function visible(axis: Axis, special: boolean, segment: number | null): boolean[] {
  return axis.labels.map((_, i) => (special || !axis.special[i]) && (segment === null || axis.segments[i] === segment));
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
