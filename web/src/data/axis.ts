// An axis: the tokens or words of one side, and which of them are shown; and maps of scores between two axes.
import type { Change, Joint, Level, Of, Origin, Side } from "../schema";

export interface Axis {
  labels: string[];
  titles: string[]; // what the tokenizer wrote
  special: boolean[];
  segments: number[];
  left: boolean[]; // which stay where sinks are left out
  members: number[][]; // the pieces of each
  joint: JointAxis | null;
}

/** Of the tokens of two texts: what became of each, and its pieces among either text's own. */
export interface JointAxis {
  changes: Change[];
  a: number[][];
  b: number[][];
}

/** Of one side by itself, which knows of no sinks: see axesWithin. `of` is the text of two whose words are written. */
export function axisOf(side: Side, level: Level, of: Of = ""): Axis {
  const origin = of && side.joint?.[of];
  if (level === "token") {
    return {
      labels: origin ? written(origin.tokens, side.tokens) : side.tokens,
      titles: side.raw,
      special: side.special,
      segments: side.segments,
      left: side.tokens.map(() => true),
      members: side.tokens.map((_, piece) => [piece]),
      joint: side.joint && {
        changes: side.joint.tokens,
        a: side.joint.a.places.map((place) => (place === null ? [] : [place])),
        b: side.joint.b.places.map((place) => (place === null ? [] : [place])),
      },
    };
  }
  const members: number[][] = side.words.map(() => []);
  side.word_of.forEach((word, piece) => {
    members[word].push(piece);
  });
  return {
    labels: origin ? written(origin.words, side.words) : side.words,
    titles: members.map((pieces) => pieces.map((piece) => side.raw[piece]).join(" ")),
    special: members.map((pieces) => side.special[pieces[0]] ?? false),
    segments: members.map((pieces) => side.segments[pieces[0]] ?? 0),
    left: members.map(() => true),
    members,
    joint: side.joint && jointWords(side.joint, members),
  };
}

function written(own: string[], all: string[]): string[] {
  return own.map((label, place) => label || all[place]);
}

function jointWords(joint: Joint, members: number[][]): JointAxis {
  const own = ({ places }: Origin) => members.map((pieces) => pieces.flatMap((piece) => places[piece] ?? []));
  return { changes: joint.words, a: own(joint.a), b: own(joint.b) };
}

/** Pieces to words: the sum over the pieces attended to, the mean over the pieces that attend (clark2019, section 4.1). */
export function merge(scores: Float32Array, rows: number[][], columns: number[][], keys: number): Float32Array {
  if (rows.every(isOne) && columns.every(isOne) && columns.length === keys) return scores;
  const merged = new Float32Array(rows.length * columns.length);
  rows.forEach((attending, row) => {
    if (attending.length === 0) return; // of two texts this one has no such word
    columns.forEach((attended, column) => {
      let sum = 0;
      for (const query of attending) for (const key of attended) sum += scores[query * keys + key];
      merged[row * columns.length + column] = sum / attending.length;
    });
  });
  return merged;
}

function isOne(members: number[], place: number): boolean {
  return members.length === 1 && members[0] === place;
}
