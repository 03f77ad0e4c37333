// What a small picture of an exemplar shows: some tokens on either side, so that both of the pair are in sight.

export const MOST = 14; // tokens on either side: as many as leave the rest of the card in sight

/** From which token on, and up to which, a side shows. */
export type Window = [number, number];

/** The tokens that attend and those that are attended to. Of one text both sides show the same, unless the pair is too far apart. */
export function windowsOf(pair: [number, number], counts: [number, number], within: boolean, most = MOST): [Window, Window] {
  const [row, key] = pair;
  const [first, last] = [Math.min(row, key), Math.max(row, key)];
  if (within && last - first < most) {
    const both = windowAround(first, last, counts[0], most);
    return [both, both];
  }
  return [windowAround(row, row, counts[0], most), windowAround(key, key, counts[1], most)];
}

function windowAround(first: number, last: number, count: number, most: number): Window {
  const start = Math.max(0, Math.min(first - Math.floor((most - (last - first + 1)) / 2), count - most));
  return [start, Math.min(count, start + most)];
}

export interface Line {
  from: number; // a token that attends
  to: number;
  score: number;
}

/** All scores between the tokens of two windows that are worth a line, the strongest last, and none to a token that is left out. */
export function linesOf(scores: Float32Array, keys: number, [rows, columns]: [Window, Window], isLeftOut: (key: number) => boolean): Line[] {
  const lines: Line[] = [];
  for (let from = rows[0]; from < rows[1]; from++) {
    for (let to = columns[0]; to < columns[1]; to++) {
      const score = scores[from * keys + to];
      if (score > 0 && !isLeftOut(to)) lines.push({ from, to, score });
    }
  }
  const most = Math.max(0, ...lines.map((line) => line.score));
  return lines.filter((line) => line.score >= 0.02 * most).sort((one, other) => one.score - other.score);
}

/** The part of what the rows of a window give that goes to tokens that are left out. */
export function shareLeftOut(scores: Float32Array, keys: number, [start, stop]: Window, isLeftOut: (key: number) => boolean): number {
  let all = 0;
  let out = 0;
  for (let row = start; row < stop; row++) {
    for (let key = 0; key < keys; key++) {
      const score = scores[row * keys + key];
      all += score;
      if (isLeftOut(key)) out += score;
    }
  }
  return all > 0 ? out / all : 0;
}
