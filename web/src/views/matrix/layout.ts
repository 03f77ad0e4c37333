// How large the maps are, and how much room the tokens beside them have.

export interface Layout {
  width: number; // of a map, in CSS pixels
  figure: number; // of a map with its title and legend, which a small map has no room for
  height: number;
  cellWidth: number; // before any zoom
  cellHeight: number;
  rowLabels: number; // room for the labels left of a map
  columnLabels: number; // and above it
  rowEnds: number; // and right of it, for what each row gives to sinks that are not shown
  stacked: boolean; // maps stand below each other
}

export const PITCH = 14; // pixels that a label needs
const LARGEST_CELL = 48;
const WIDER = 2.4; // times as wide as high, where a screen has room: labels above stand apart, and colours are seen from afar
const GAP = 18;
const SHARE = 40; // pixels that a percentage needs
const WRITTEN = 260; // pixels that a title and a legend need
const WHO = 68; // and the words above the rows' labels, which say that they attend
const AROUND = 330; // above a map and its labels; below it, a legend and the sentence that says what is seen
const NARROW = 760;

export function layoutOf(room: number, screen: number, rows: string[], columns: string[], panels: number, shares: boolean): Layout {
  const stacked = panels > 1 && room < NARROW;
  const most = room < NARROW ? 84 : 128;
  const rowLabels = Math.max(WHO, Math.min(most, widest(rows)) + 8);
  const columnLabels = Math.min(most, widest(columns)) + 8;
  const abreast = stacked ? 1 : panels;
  const rowEnds = shares ? SHARE : 0;
  const width = Math.max(60, (room - rowLabels - GAP * (abreast - 1) - 2) / abreast - rowEnds);
  const height = Math.max(300, screen - AROUND - columnLabels);
  const [high, wide] = [Math.max(1, rows.length), Math.max(1, columns.length)];
  const square = Math.min(LARGEST_CELL, width / wide, height / high);
  // Cells are square, except in maps that are much longer on one side: a thin strip would show nothing.
  const roomy = room >= NARROW && panels === 1 ? Math.min(WIDER * square, width / wide) : square;
  const across = high > 2 * wide ? Math.min(PITCH, width / wide) : roomy;
  const down = wide > 2 * high ? Math.min(PITCH, height / high) : square;
  const [mapWidth, mapHeight] = [size(Math.max(across, square) * wide), size(Math.max(down, square) * high)];
  return {
    width: mapWidth,
    figure: Math.max(mapWidth + rowEnds, Math.min(Math.floor(width), WRITTEN)),
    height: mapHeight,
    cellWidth: mapWidth / wide,
    cellHeight: mapHeight / high,
    rowLabels,
    columnLabels,
    rowEnds,
    stacked,
  };
}

/** Whole pixels. */
function size(pixels: number): number {
  return Math.max(1, Math.floor(pixels + 1e-6));
}

function widest(labels: string[]): number {
  const context = document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D;
  context.font = `600 12px ${getComputedStyle(document.body).fontFamily}`;
  return labels.reduce((most, label) => Math.max(most, context.measureText(label.slice(0, 60)).width), 12);
}
