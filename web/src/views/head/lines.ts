// Which lines are drawn, and drawing them. A long text has millions of pairs: the strongest are drawn, and it is said.
import type { Isolated } from "./isolated";
import type { HeadMaps } from "./maps";

export const MOST_LINES = 6000;
const FAINTEST = 1 / 255; // of the largest: nothing to see, and no byte tells it from zero
const BINS = 1024;
const LEVELS = 24; // of strength: lines of one head and one level are one path, which is many times faster

/** Lines by their places in the lists of tokens that are shown, not by the numbers on the axes. */
export interface Lines {
  from: Uint16Array;
  to: Uint16Array;
  map: Uint8Array;
  score: Float32Array;
  all: number; // how many there would be
}

/** Where lines begin and end. */
export interface Ends {
  left: number;
  right: number;
  rowHeight: number;
  top: number; // how far the list is scrolled
  height: number; // of the part that is seen
  pinned: Isolated | null; // tokens that stay at the edge when they are scrolled out of sight
}

/** The middle of a token's row in the part that is seen; `pinned` are those that never leave it. */
export function middleOf(place: number, token: number, pinned: number[], { rowHeight, top, height }: Ends): number {
  const middle = (place + 0.5) * rowHeight - top;
  return pinned.includes(token) ? Math.max(rowHeight / 2, Math.min(height - rowHeight / 2, middle)) : middle;
}

export function chooseLines(maps: HeadMaps, isolated: Isolated | null, only: number | null, limit = MOST_LINES): Lines {
  const bins = new Uint32Array(BINS + 1);
  let all = 0;
  eachPair(maps, isolated, only, (_map, _from, _to, score) => {
    bins[binOf(score, maps.most)]++;
    all++;
  });
  let last = BINS; // bins above this one are drawn whole
  let whole = 0;
  while (last > 0 && whole + bins[last] <= limit) whole += bins[last--];
  // Of the bin that does not fit any more, evenly as many as do: where all scores are alike, no corner is preferred.
  const room = limit - whole;
  const every = room > 0 ? Math.ceil(bins[last] / room) : 1;
  const size = Math.min(all, limit);
  const lines = {
    from: new Uint16Array(size),
    to: new Uint16Array(size),
    map: new Uint8Array(size),
    score: new Float32Array(size),
  };
  let count = 0;
  let seen = 0;
  eachPair(maps, isolated, only, (map, from, to, score) => {
    const bin = binOf(score, maps.most);
    if (bin < last || (bin === last && (room === 0 || seen++ % every)) || count >= size) return;
    lines.from[count] = from;
    lines.to[count] = to;
    lines.map[count] = map;
    lines.score[count++] = score;
  });
  return {
    from: lines.from.subarray(0, count),
    to: lines.to.subarray(0, count),
    map: lines.map.subarray(0, count),
    score: lines.score.subarray(0, count),
    all,
  };
}

function binOf(score: number, most: number): number {
  return Math.min(BINS, Math.floor((Math.abs(score) / most) * BINS));
}

type Visit = (map: number, from: number, to: number, score: number) => void;

function eachPair(maps: HeadMaps, isolated: Isolated | null, only: number | null, visit: Visit): void {
  const { rowPlaces, columnPlaces } = maps;
  const width = maps.columns.labels.length;
  const least = maps.most * FAINTEST;
  const everyColumn = columnPlaces.map((_, to) => to);
  const someColumns = isolated ? everyColumn.filter((to) => isolated.columns.includes(columnPlaces[to])) : everyColumn;
  maps.maps.forEach(({ scores }, map) => {
    if (only !== null && only !== map) return;
    rowPlaces.forEach((row, from) => {
      for (const to of isolated?.rows.includes(row) ? everyColumn : someColumns) {
        const score = scores[row * width + columnPlaces[to]];
        if (Math.abs(score) >= least && score !== 0) visit(map, from, to, score);
      }
    });
  });
}

type Context = CanvasRenderingContext2D;

/** Weak lines first, so that strong ones lie on top; heads side by side, so that none covers another; negatives dashed. */
export function drawLines(context: Context, lines: Lines, maps: HeadMaps, ends: Ends, met: Met | null): void {
  const heads = maps.maps.length;
  const apart = heads > 1 ? Math.min(2, (0.72 * ends.rowHeight) / heads) : 0;
  const widest = heads > 1 ? Math.max(1.2, Math.min(2.6, apart * 1.6)) : 3;
  const batches = new Map<number, number[]>();
  for (let i = 0; i < lines.score.length; i++) {
    const share = Math.abs(lines.score[i]) / maps.most;
    const level = Math.min(LEVELS, Math.max(1, Math.ceil(share * LEVELS)));
    const negative = lines.score[i] < 0 ? 1 : 0;
    const inFront = met && !meets(lines, i, met) ? 0 : 1;
    const key = ((level * 2 + negative) * 2 + inFront) * 256 + lines.map[i];
    const batch = batches.get(key);
    if (batch) batch.push(i);
    else batches.set(key, [i]);
  }
  context.lineCap = "butt";
  for (const key of [...batches.keys()].sort((one, other) => one - other)) {
    const map = key % 256;
    const rest = Math.floor(key / 256);
    const level = Math.floor(rest / 4);
    const share = level / LEVELS;
    const negative = Math.floor(rest / 2) % 2 === 1;
    context.strokeStyle = negative ? maps.maps[map].below : maps.maps[map].colour;
    context.globalAlpha = opacity(share, heads) * (rest % 2 ? 1 : 0.35);
    context.lineWidth = 0.5 + (widest - 0.5) * share;
    context.setLineDash(negative ? [4, 3] : []);
    context.beginPath();
    const shift = (map - (heads - 1) / 2) * apart;
    for (const i of batches.get(key) ?? []) {
      const from = shift + middleOf(lines.from[i], maps.rowPlaces[lines.from[i]], ends.pinned?.rows ?? [], ends);
      const to = shift + middleOf(lines.to[i], maps.columnPlaces[lines.to[i]], ends.pinned?.columns ?? [], ends);
      if (isOut(from, ends.height) && isOut(to, ends.height)) continue; // a line between two tokens that nobody sees
      context.moveTo(ends.left, from);
      context.lineTo(ends.right, to);
    }
    context.stroke();
  }
  context.globalAlpha = 1;
  context.setLineDash([]);
}

function isOut(y: number, height: number): boolean {
  return y < 0 || y > height;
}

/** The more heads there are, the more weak lines there are: they step back, so that they do not add up to a fog. */
function opacity(share: number, heads: number): number {
  return heads === 1 ? 0.04 + 0.96 * share : share ** (1 + 0.5 * (1 - 1 / heads));
}

/** The place of a token that is met by the isolated ones: other lines step back. */
export interface Met {
  side: "q" | "k";
  place: number;
}

function meets(lines: Lines, i: number, met: Met): boolean {
  return (met.side === "q" ? lines.from[i] : lines.to[i]) === met.place;
}
