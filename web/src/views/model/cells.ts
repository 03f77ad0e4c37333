// The heads of a model as cells: layers down and heads across, or all of them by a statistic.
import { groupOf, headName, isJoint } from "../../data/content";
import type { Attention, Content, HeadStatistic } from "../../schema";
import type { State } from "../../state";

export interface Cell {
  key: string; // `3.1`; `3` for all heads of a layer together
  attention: Attention;
  place: number; // among the heads of its attention
  head: number | null; // the model's number; null for all heads together
}

export interface Grid {
  cells: Cell[]; // layer by layer
  layers: number[];
  heads: number[]; // every number that some layer has
  joint: boolean; // one map a layer
}

/** Where a cell stands, counted from 0, and the number it is sorted by. */
export interface Spot {
  row: number;
  column: number; // also counts those of the blocks before
  block: number; // of layers, where a deep model has several beside each other
  value: number | null;
}

export function gridOf(content: Content, group: Attention[], measure: string): Grid {
  const here = group.filter((attention) => measure in attention.scores);
  const joint = here.some((attention) => isJoint(content, attention, measure));
  const cells = here.flatMap((attention): Cell[] =>
    joint
      ? [{ key: String(attention.layer), attention, place: 0, head: null }]
      : attention.heads.map((head, place) => ({ key: `${attention.layer}.${head}`, attention, place, head })),
  );
  return {
    cells,
    layers: here.map((attention) => attention.layer),
    heads: [...new Set(here.flatMap((attention) => attention.heads))].sort((one, other) => one - other),
    joint,
  };
}

/** Layers down, heads across; heads of one number stand below each other, also where some layers lack it. */
export function byLayer(grid: Grid, blocks = 1): Map<string, Spot> {
  return new Map(
    grid.cells.map(({ key, attention, head }) => {
      const { row, block } = placeOfLayer(grid, grid.layers.indexOf(attention.layer), blocks);
      return [key, { row, column: block * grid.heads.length + grid.heads.indexOf(head ?? grid.heads[0]), block, value: null }];
    }),
  );
}

/** Where the so many-th layer stands: the first block has the first layers, one below another. */
export function placeOfLayer(grid: Grid, place: number, blocks: number): Pick<Spot, "row" | "block"> {
  const high = Math.ceil(grid.layers.length / blocks);
  return { row: place % high, block: Math.floor(place / high) };
}

/** One after another, `perRow` in a row. */
export function inOrder(cells: Cell[], perRow: number, sorted: HeadStatistic | null): Map<string, Spot> {
  return new Map(
    cells.map((cell, place) => [
      cell.key,
      { row: Math.floor(place / perRow), column: place % perRow, block: 0, value: sorted && valueIn(sorted, cell) },
    ]),
  );
}

/** By a statistic, the largest first, without those below `above`; heads that it does not know come last. */
export function byStatistic(grid: Grid, statistic: HeadStatistic, above: number | null): Cell[] {
  const size = (cell: Cell) => valueIn(statistic, cell) ?? Number.NEGATIVE_INFINITY;
  const kept = grid.cells.filter((cell) => above === null || size(cell) >= above);
  return kept.sort((one, other) => (size(one) === size(other) ? 0 : size(other) - size(one)));
}

export function valueIn(statistic: HeadStatistic, cell: Cell): number | null {
  return cell.head === null ? null : (statistic.values[headName(cell.attention, cell.head)] ?? null);
}

/** The statistic that heads are sorted by; none for all heads together, of which a run has no numbers. */
export function sortedBy(content: Content, grid: Grid, state: State): HeadStatistic | null {
  return grid.joint ? null : (content.statistics.find((statistic) => statistic.name === state.sort) ?? null);
}

/** The least and the largest of a statistic's numbers for these heads. */
export function rangeOf(statistic: HeadStatistic, grid: Grid): [number, number] | null {
  const values = grid.cells.flatMap((cell) => valueIn(statistic, cell) ?? []);
  return values.length ? [Math.min(...values), Math.max(...values)] : null;
}

/** The statistics that know some head of this kind of attention. */
export function statisticsOf(content: Content, group: Attention[]): HeadStatistic[] {
  const kind = group[0] ? groupOf(group[0]) : "";
  return content.statistics.filter((statistic) => Object.keys(statistic.values).some((name) => name.startsWith(`${kind} `)));
}
