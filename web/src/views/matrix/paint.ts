// A part of a map as pixels: only what is in sight is looked at, so zooming and moving cost the same at every size.
import { diverging, type Rgb, sequential } from "../../drawing/colours";
import type { Panel } from "./panels";
import type { Pyramid } from "./pyramid";

/** Which part of a map is in sight: the cell at the upper left corner, and how many pixels a cell has. */
export interface Sight {
  left: number; // cells
  top: number;
  cellWidth: number; // pixels
  cellHeight: number;
}

const HALF = 255;

/** Colours for scores from -most to most: 511 of them, 0 in the middle. */
export function colourTable(signed: boolean, dark: boolean): Uint32Array {
  return Uint32Array.from({ length: 2 * HALF + 1 }, (_, i) => {
    const share = (i - HALF) / HALF;
    return packed(signed ? diverging(share, dark) : sequential(share, dark));
  });
}

export function paint(canvas: HTMLCanvasElement, { drawn, full, signed }: Panel, sight: Sight, dark: boolean): void {
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  const image = context.createImageData(canvas.width, canvas.height);
  fill(new Uint32Array(image.data.buffer), canvas.width, canvas.height, drawn, full, sight, colourTable(signed, dark));
  context.putImageData(image, 0, 0);
}

function fill(
  pixels: Uint32Array,
  width: number,
  height: number,
  map: Pyramid,
  full: number,
  { left, top, cellWidth, cellHeight }: Sight,
  colours: Uint32Array,
): void {
  const depth = Math.max(0, Math.floor(Math.log2(Math.min(1 / cellWidth, 1 / cellHeight))));
  const { scores, rows, columns } = map.level(depth);
  const block = 2 ** depth;
  const across = spans(width, left, cellWidth, block, columns);
  const down = spans(height, top, cellHeight, block, rows);
  const scale = full > 0 ? HALF / full : 0;
  for (let y = 0; y < height; y++) {
    const [from, to] = [down[2 * y], down[2 * y + 1]];
    if (y > 0 && from === down[2 * y - 2] && to === down[2 * y - 1]) {
      pixels.copyWithin(y * width, (y - 1) * width, y * width);
      continue;
    }
    for (let x = 0; x < width; x++) {
      let largest = 0;
      for (let row = from; row <= to; row++) {
        for (let i = row * columns + across[2 * x]; i <= row * columns + across[2 * x + 1]; i++) {
          if (Math.abs(scores[i]) > Math.abs(largest)) largest = scores[i];
        }
      }
      pixels[y * width + x] = colours[HALF + Math.round(largest * scale)];
    }
  }
}

/** The first and the last score that each pixel along one side stands for. */
function spans(pixels: number, start: number, cell: number, block: number, count: number): Int32Array {
  const found = new Int32Array(2 * pixels);
  const within = (place: number) => Math.min(count - 1, Math.max(0, place));
  for (let pixel = 0; pixel < pixels; pixel++) {
    if (cell >= 1) {
      found[2 * pixel] = found[2 * pixel + 1] = within(Math.floor(start + (pixel + 0.5) / cell));
    } else {
      found[2 * pixel] = within(Math.floor((start + pixel / cell) / block));
      found[2 * pixel + 1] = within(Math.ceil((start + (pixel + 1) / cell) / block - 1e-6) - 1);
    }
  }
  return found;
}

function packed([red, green, blue]: Rgb): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
