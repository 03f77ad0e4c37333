// Where the small pictures stand, in pixels: the buttons in the page and the one canvas under them agree on it.
import { prepare } from "../../drawing/canvas";
import { isPrinting, SHEET } from "../../shell/printing";
import type { Grid, Spot } from "./cells";
import type { Thumbnails } from "./useThumbnails";

export const GAP = 4;
export const MARGIN = 26; // for the numbers of layers
export const headerHeight = 18; // for the numbers of heads
const LEAST_ABREAST = 48; // pixels of a head, where layers stand in several blocks
const CAPTION = 21;
const BORDER = 1;

/** The height of a row: the picture, its borders, and the caption where each has one. */
export function rowHeight(size: number, flowing: boolean): number {
  return size + 2 * BORDER + (flowing ? CAPTION : 0);
}

/** How large a cell can be where so many stand side by side; below the least, the grid scrolls inside. */
export function cellSize(width: number, columns: number, least: number, most: number, blocks = 1): number {
  const room = (width - blocks * (MARGIN + GAP)) / (blocks * columns);
  return Math.max(least, Math.min(most, Math.floor(room) - GAP - 2 * BORDER));
}

/** In how many blocks beside each other the layers of a deep model stand: one where a block is not too high, or where there is no room for two. */
export function blocksOf(width: number, grid: Grid, least: number, tallest: number): number {
  const isTooHigh = (blocks: number) => Math.ceil(grid.layers.length / blocks) * least > tallest;
  const hasRoom = (blocks: number) => cellSize(width, grid.heads.length, 0, least, blocks) >= LEAST_ABREAST;
  let blocks = 1;
  while (isTooHigh(blocks) && hasRoom(blocks + 1)) blocks++;
  return blocks;
}

/** The size at which all heads stand on one sheet of paper: the one picture under them cannot break between two. */
export function sizeOnSheet(size: number, grid: Grid, flowing: boolean): number {
  const fits = (one: number) => {
    const across = flowing ? cellsPerRow(SHEET.width, one) : grid.heads.length;
    const down = flowing ? Math.ceil(grid.cells.length / across) : grid.layers.length;
    const isWide = across * (one + 2 * BORDER + GAP) + MARGIN > SHEET.width && !flowing;
    return !isWide && down * (rowHeight(one, flowing) + GAP) <= SHEET.height - 160; // which title and captions need
  };
  let found = size;
  while (found > 4 && !fits(found)) found--;
  return found;
}

/** How many cells of this size stand side by side. */
export function cellsPerRow(width: number, size: number): number {
  return Math.max(1, Math.floor((width + GAP) / (size + 2 * BORDER + GAP)));
}

function cornerOf(spot: Spot, size: number, flowing: boolean): [number, number] {
  const left = flowing ? 0 : (spot.block + 1) * (MARGIN + GAP);
  const top = flowing ? 0 : headerHeight + GAP;
  return [
    left + spot.column * (size + 2 * BORDER + GAP) + BORDER,
    top + spot.row * (rowHeight(size, flowing) + GAP) + BORDER,
  ];
}

/** Lay out every picture that is ready. */
export function layOut(
  canvas: HTMLCanvasElement,
  thumbnails: Thumbnails,
  spots: Map<string, Spot>,
  size: number,
  flowing: boolean,
): void {
  const corners = [...spots.values()].map((spot) => cornerOf(spot, size, flowing));
  const width = Math.max(0, ...corners.map(([x]) => x + size));
  const height = Math.max(0, ...corners.map(([, y]) => y + size));
  prepare(canvas, width, height);
  lay(canvas, thumbnails, spots, size, flowing, spots.keys());
}

/** Put some of the pictures where they belong. */
export function lay(
  canvas: HTMLCanvasElement,
  thumbnails: Thumbnails,
  spots: Map<string, Spot>,
  size: number,
  flowing: boolean,
  keys: Iterable<string>,
): void {
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  context.fillStyle = "#ffffff"; // of paper: what is cleared there hides all that stands around it
  for (const key of keys) {
    const spot = spots.get(key);
    const thumbnail = thumbnails.get(key);
    if (!spot || !thumbnail) continue;
    const [x, y] = cornerOf(spot, size, flowing);
    if (isPrinting()) context.fillRect(x, y, size, size);
    else context.clearRect(x, y, size, size);
    context.drawImage(thumbnail, x, y, size, size);
  }
}
