// One head, small: lines between tokens for short texts, a heat map for longer ones. Each from nothing to its own largest.
import { placesOf, type Shown } from "../../data/shown";
import { prepare } from "../../drawing/canvas";
import { css, diverging, sequential } from "../../drawing/colours";
import type { Small } from "../../schema";

export const MOST_FOR_LINES = 32; // tokens
const ROOM_FOR_LINES = 44; // pixels
const FAINTEST = 0.03; // of the largest: below, a small line is only noise
const LEVELS = 12;

type Context = CanvasRenderingContext2D;

export function asLines(rows: number, columns: number, size: number, small: Small): boolean {
  return small === "lines" || (!small && Math.max(rows, columns) <= MOST_FOR_LINES && size >= ROOM_FOR_LINES);
}

/** `signed`: blue is more than nothing and orange less, also where no score here is below it. */
export function drawThumbnail(canvas: HTMLCanvasElement, shown: Shown, size: number, dark: boolean, small: Small, signed = false): void {
  const context = prepare(canvas, size, size);
  const rows = placesOf(shown.rowShown);
  const columns = placesOf(shown.columnShown);
  if (!rows.length || !columns.length || shown.most === 0) return;
  if (asLines(rows.length, columns.length, size, small)) drawLines(context, shown, rows, columns, size, dark);
  else drawHeat(context, shown, rows, columns, size, dark, signed);
}

function drawLines(context: Context, shown: Shown, rows: number[], columns: number[], size: number, dark: boolean): void {
  const width = shown.columns.labels.length;
  const step = (size - 4) / Math.max(rows.length, columns.length);
  const batches: Path2D[] = [];
  const negative: Path2D[] = [];
  rows.forEach((row, from) => {
    columns.forEach((column, to) => {
      const score = shown.scores[row * width + column];
      const share = Math.abs(score) / shown.most;
      if (share < FAINTEST) return;
      const level = Math.ceil(share * LEVELS);
      const of = score < 0 ? negative : batches;
      of[level] ??= new Path2D();
      of[level].moveTo(4, 2 + (from + 0.5) * step);
      of[level].lineTo(size - 4, 2 + (to + 0.5) * step);
    });
  });
  for (let level = 1; level <= LEVELS; level++) {
    const share = level / LEVELS;
    context.globalAlpha = share;
    context.lineWidth = 0.5 + share;
    for (const [paths, sign] of [[batches, 0.75], [negative, -0.6]] as const) {
      if (!paths[level]) continue;
      context.strokeStyle = css(diverging(sign, dark));
      context.setLineDash(sign < 0 ? [3, 2] : []);
      context.stroke(paths[level]);
    }
  }
}

/** The largest score of the pairs under a pixel stands for all of them, so that a thin diagonal stays visible. */
function drawHeat(
  context: Context,
  shown: Shown,
  rows: number[],
  columns: number[],
  size: number,
  dark: boolean,
  isSigned: boolean,
): void {
  const pixels = Math.max(1, Math.round(size * (window.devicePixelRatio || 1)));
  const height = Math.min(rows.length, pixels);
  const across = Math.min(columns.length, pixels);
  const pooled = new Float32Array(height * across);
  const { scores } = shown;
  const width = shown.columns.labels.length;
  const to = Uint32Array.from(columns, (_, place) => Math.floor((place * across) / columns.length));
  const from = Uint32Array.from(columns);
  let signed = isSigned;
  rows.forEach((row, place) => {
    const start = Math.floor((place * height) / rows.length) * across;
    const first = row * width;
    for (let i = 0; i < from.length; i++) {
      const score = scores[first + from[i]];
      const at = start + to[i];
      if (Math.abs(score) > Math.abs(pooled[at])) pooled[at] = score;
      if (score < 0) signed = true;
    }
  });
  const image = new ImageData(across, height);
  const colours = paletteOf(signed, dark);
  const pixelColours = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pooled.length; i++) pixelColours[i] = colours[255 + Math.round((255 * pooled[i]) / shown.most)];
  scratch.width = across;
  scratch.height = height;
  (scratch.getContext("2d") as Context).putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(scratch, 0, 0, size, size);
}

const palettes = new Map<string, Uint32Array>();

/** Colours as pixels, for -255 to 255 parts of the largest score. */
function paletteOf(signed: boolean, dark: boolean): Uint32Array {
  const key = `${signed} ${dark}`;
  let found = palettes.get(key);
  if (!found) {
    const bytes = new Uint8ClampedArray(4 * 511);
    for (let level = -255; level <= 255; level++) {
      const share = level / 255;
      bytes.set([...(signed ? diverging(share, dark) : sequential(share, dark)), 255], 4 * (level + 255));
    }
    found = new Uint32Array(bytes.buffer);
    palettes.set(key, found);
  }
  return found;
}

const scratch = document.createElement("canvas");
