// The map of one head between two axes, and what of it is shown: of one text, or of what two have together.
import type { Of, State } from "../schema";
import { type Axis, merge } from "./axis";
import type { Scores } from "./scores";
import { type Shown, shown } from "./shown";

type Choices = Pick<State, "pairs" | "sinks" | "least" | "top" | "of">;

/** (row, column) of one text, or of one of two between the tokens of both. */
export function mapOf(scores: Scores, measure: string, place: number, rows: Axis, columns: Axis, of: Of): Float32Array {
  const own = of === "a" ? scores.parts[0] : of === "b" ? scores.parts[1] : null;
  if (!of || !own) return merge(scores.head(measure, place), rows.members, columns.members, scores.keys);
  return merge(own.head(measure, place), rows.joint?.[of] ?? [], columns.joint?.[of] ?? [], own.keys);
}

/** What is shown of the map of one head. Of a difference what is shown of each of the two, and then B - A. */
export function shownOf(scores: Scores, measure: string, place: number, rows: Axis, columns: Axis, state: Choices): Shown {
  if (scores.parts.length === 0 || state.of) return shown(mapOf(scores, measure, place, rows, columns, state.of), rows, columns, state);
  const whole = { ...state, least: 0, top: 0 };
  const maps = (["a", "b"] as const).map((of) => mapOf(scores, measure, place, rows, columns, of));
  const [a, b] = maps.map((map) => shown(map, rows, columns, whole));
  const off = (["a", "b"] as const).map((of, part) => columnBounds(scores.parts[part], measure, place, columns, of));
  const surely = (row: number, column: number) => off[0][column] / wholeOf(a, row, state) + off[1][column] / wholeOf(b, row, state);
  const apart = differences(a.scores, b.scores, rows, surely);
  const found = shown(apart, rows, columns, state.sinks === "renormalised" ? { ...state, sinks: "hidden" } : state);
  const sum = (of: "totals" | "onSinks") => a[of].map((part, row) => part + b[of][row]);
  return { ...found, totals: sum("totals"), onSinks: sum("onSinks") };
}

/** Whether both texts have a token, if only one in the place of the other. */
export function isInBoth(axis: Axis, place: number): boolean {
  const change = axis.joint?.changes[place];
  return change !== "left out" && change !== "put in";
}

/**
 * B - A. A row that only one of them has gives nothing that could be compared, and is empty; what rounding to bytes could have
 * made by itself is no difference.
 */
function differences(first: Float32Array, second: Float32Array, rows: Axis, surely: (row: number, column: number) => number): Float32Array {
  const apart = new Float32Array(first.length);
  const width = first.length / Math.max(1, rows.labels.length);
  rows.labels.forEach((_, row) => {
    if (!isInBoth(rows, row)) return;
    for (let column = 0, i = row * width; column < width; column++, i++) {
      const score = second[i] - first[i];
      if (Math.abs(score) > surely(row, column)) apart[i] = score;
    }
  });
  return apart;
}

/** By how much the scores of each column may be off that were kept as bytes: of a word, those of all of its pieces. */
function columnBounds(part: Scores, measure: string, place: number, columns: Axis, of: "a" | "b"): number[] {
  const bounds = part.bounds(measure, place);
  return (columns.joint?.[of] ?? []).map((pieces) => pieces.reduce((sum, piece) => sum + bounds[piece], 0));
}

/** What the scores of a row were divided by. */
function wholeOf({ totals, onSinks }: Shown, row: number, { sinks }: Choices): number {
  return (sinks === "renormalised" && totals[row] - onSinks[row]) || 1;
}
