// An axis: the tokens or words of one side, and which of them are shown; and maps of scores between two axes.
import type { Level, Side } from "../schema";

export interface Axis {
  labels: string[];
  titles: string[]; // what the tokenizer wrote
  special: boolean[];
  segments: number[];
  left: boolean[]; // which stay where sinks are left out
  members: number[][]; // the pieces of each
}

/** Of one side by itself, which knows of no sinks: see axesWithin. */
export function axisOf(side: Side, level: Level): Axis {
  if (level === "token") {
    return {
      labels: side.tokens,
      titles: side.raw,
      special: side.special,
      segments: side.segments,
      left: side.tokens.map(() => true),
      members: side.tokens.map((_, piece) => [piece]),
    };
  }
  const members: number[][] = side.words.map(() => []);
  side.word_of.forEach((word, piece) => {
    members[word].push(piece);
  });
  return {
    labels: side.words,
    titles: members.map((pieces) => pieces.map((piece) => side.raw[piece]).join(" ")),
    special: members.map((pieces) => side.special[pieces[0]] ?? false),
    segments: members.map((pieces) => side.segments[pieces[0]] ?? 0),
    left: members.map(() => true),
    members,
  };
}

/** Pieces to words: the sum over the pieces attended to, the mean over the pieces that attend (clark2019, section 4.1). */
export function merge(scores: Float32Array, rows: Axis, columns: Axis, keys: number): Float32Array {
  if (rows.members.every(isOne) && columns.members.every(isOne)) return scores;
  const merged = new Float32Array(rows.labels.length * columns.labels.length);
  rows.members.forEach((attending, row) => {
    columns.members.forEach((attended, column) => {
      let sum = 0;
      for (const query of attending) for (const key of attended) sum += scores[query * keys + key];
      merged[row * columns.labels.length + column] = sum / attending.length;
    });
  });
  return merged;
}

function isOne(members: number[], place: number): boolean {
  return members.length === 1 && members[0] === place;
}
