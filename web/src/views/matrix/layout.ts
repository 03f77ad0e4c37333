// How large the maps are, and how much room the tokens beside them have.

export interface Layout {
  width: number; // of a map, in CSS pixels
  height: number;
  cellWidth: number; // before any zoom
  cellHeight: number;
  rowLabels: number; // room for the labels left of a map
  columnLabels: number; // and above it
  stacked: boolean; // maps stand below each other
}

export const PITCH = 14; // pixels that a label needs
const LARGEST_CELL = 36;
const GAP = 18;
const NARROW = 760;

export function layoutOf(room: number, screen: number, rows: string[], columns: string[], panels: number): Layout {
  const stacked = panels > 1 && room < NARROW;
  const most = room < NARROW ? 84 : 128;
  const rowLabels = Math.min(most, widest(rows)) + 8;
  const columnLabels = Math.min(most, widest(columns)) + 8;
  const abreast = stacked ? 1 : panels;
  const width = Math.max(60, (room - rowLabels - GAP * (abreast - 1) - 2) / abreast);
  const height = Math.max(300, screen - 330 - columnLabels);
  let cellWidth = Math.min(LARGEST_CELL, width / Math.max(1, columns.length));
  let cellHeight = Math.min(LARGEST_CELL, height / Math.max(1, rows.length));
  // Square where that is possible: only maps that are much longer on one side are stretched.
  const square = Math.min(cellWidth, cellHeight);
  cellWidth = Math.min(cellWidth, Math.max(square, Math.min(PITCH, 3 * square)));
  cellHeight = Math.min(cellHeight, Math.max(square, Math.min(PITCH, 3 * square)));
  return {
    width: Math.max(1, Math.floor(cellWidth * columns.length)),
    height: Math.max(1, Math.floor(cellHeight * rows.length)),
    cellWidth: Math.max(1, Math.floor(cellWidth * columns.length)) / Math.max(1, columns.length),
    cellHeight: Math.max(1, Math.floor(cellHeight * rows.length)) / Math.max(1, rows.length),
    rowLabels,
    columnLabels,
    stacked,
  };
}

function widest(labels: string[]): number {
  const context = document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D;
  context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  return labels.reduce((most, label) => Math.max(most, context.measureText(label.slice(0, 60)).width), 12);
}
