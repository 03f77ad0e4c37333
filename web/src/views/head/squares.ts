// How strongly each token of the other side is meant: a square for every head beside it, and a shade behind its text.
import { type Isolated, sumFrom, sumTo } from "./isolated";
import { type Ends, middleOf } from "./lines";
import type { HeadMaps } from "./maps";

/** The width of one head's square; all of them leave most of the width to the lines. */
function squareWidth(heads: number, width: number): number {
  return Math.max(1.5, Math.min(9, Math.min(54, 0.1 * width) / heads));
}

/** Squares stand where the lines end, on the page's ground, so that lines seem to end at them. */
export function drawSquares(
  context: CanvasRenderingContext2D,
  maps: HeadMaps,
  isolated: Isolated,
  ends: Ends,
  full: number, // the width of everything
  ground: string,
): void {
  const width = maps.columns.labels.length;
  if (isolated.rows.length) {
    const place = { x: ends.right, direction: -1, text: [ends.right, full], width: full };
    const sum = (map: number, token: number) => sumTo(maps.maps[map], width, isolated.rows, token);
    drawSide(context, maps, maps.columnPlaces, isolated.columns, sum, ends, place, ground);
  }
  if (isolated.columns.length) {
    const place = { x: ends.left, direction: 1, text: [0, ends.left], width: full };
    const sum = (map: number, token: number) => sumFrom(maps.maps[map], width, token, isolated.columns);
    drawSide(context, maps, maps.rowPlaces, isolated.rows, sum, ends, place, ground);
  }
}

interface Place {
  x: number; // where lines end
  direction: number; // from there towards the lines
  text: number[]; // from and to where tokens are written
  width: number; // of everything
}

function drawSide(
  context: CanvasRenderingContext2D,
  maps: HeadMaps,
  tokens: number[],
  pinned: number[],
  score: (map: number, token: number) => number,
  ends: Ends,
  place: Place,
  ground: string,
): void {
  const heads = maps.maps.length;
  const square = squareWidth(heads, place.width);
  const first = Math.max(0, Math.floor(ends.top / ends.rowHeight));
  const last = Math.min(tokens.length, Math.ceil((ends.top + ends.height) / ends.rowHeight));
  const sums = tokens.map((token) => maps.maps.map((_, map) => score(map, token)));
  const most = Math.max(maps.most, ...sums.map((scores) => Math.max(...scores.map(Math.abs))));
  const start = place.direction < 0 ? place.x - heads * square : place.x;
  context.fillStyle = ground;
  context.fillRect(start - 2, 0, heads * square + 4, ends.height);
  const isSeen = (i: number) => (i >= first && i < last) || pinned.includes(tokens[i]);
  // What is pinned comes last: it lies over what stands there.
  const seen = tokens.map((_, i) => i).filter(isSeen).sort((one, other) => Number(pinned.includes(tokens[one])) - Number(pinned.includes(tokens[other])));
  for (const i of seen) {
    const middle = middleOf(i, tokens[i], pinned, ends);
    const top = middle - ends.rowHeight / 2 + 2;
    const height = ends.rowHeight - 4;
    if (pinned.includes(tokens[i])) {
      context.globalAlpha = 1;
      context.fillStyle = ground;
      context.fillRect(start - 2, top - 1, heads * square + 4, height + 2);
    }
    let strongest = 0;
    sums[i].forEach((sum, map) => {
      const share = Math.abs(sum) / most;
      if (share > Math.abs(sums[i][strongest]) / most) strongest = map;
      if (share === 0) return;
      context.globalAlpha = 0.08 + 0.92 * share;
      context.fillStyle = inkOf(maps, map, sum);
      const x = start + map * square;
      const inner = Math.max(1, square - (square > 3 ? 1 : 0));
      if (sum >= 0) context.fillRect(x, top, inner, height);
      else context.fillRect(x, top + height / 2 - 1.5, inner, 3); // below zero: a bar, not a square
    });
    const share = Math.abs(sums[i][strongest]) / most;
    context.globalAlpha = 0.3 * share;
    context.fillStyle = inkOf(maps, strongest, sums[i][strongest]);
    context.fillRect(place.text[0], top - 1, place.text[1] - place.text[0], height + 2);
  }
  context.globalAlpha = 1;
}

function inkOf(maps: HeadMaps, map: number, score: number): string {
  return score < 0 ? maps.maps[map].below : maps.maps[map].colour;
}
