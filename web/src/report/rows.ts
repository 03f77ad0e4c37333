// Which rows and columns of a table are shown, and in which order.
import type { Cell, Column, Report, Table } from "../schema";

const HEAD = ["stack", "kind", "layer", "head"];

export interface Placed {
  column: Column;
  at: number; // in a row
}

/** Where the columns that name a head are in a row; null for a table that has none. */
export function headColumns(table: Table): number[] | null {
  const places = HEAD.map((name) => table.columns.findIndex((column) => column.name === name));
  return places.includes(-1) ? null : places;
}

/** The label of the head that a row is of; null where it is of none, or of all heads together. */
export function labelOf(report: Report, places: number[], row: Cell[]): string | null {
  const [stack, kind, layer, head] = places.map((at) => row[at]);
  if (layer === null || head === null) return null;
  return labels(report).get(`${stack} ${kind} ${layer}.${head}`) ?? null;
}

const known = new WeakMap<Report, Map<string, string>>();

function labels(report: Report): Map<string, string> {
  let found = known.get(report);
  if (!found) {
    found = new Map(report.heads.map((head) => [head.name, head.label]));
    known.set(report, found);
  }
  return found;
}

/** Without what a label says already, and without the ends of intervals unless they are asked for. */
export function columnsShown(table: Table, bounds: boolean): Placed[] {
  const named = headColumns(table) ?? [];
  return table.columns
    .map((column, at) => ({ column, at }))
    .filter(({ at }) => !named.includes(at))
    .filter(({ column }) => bounds || !isBound(table, column));
}

export function hasBounds(table: Table): boolean {
  return table.columns.some((column) => isBound(table, column));
}

function isBound(table: Table, column: Column): boolean {
  const whole = column.name.replace(/_(low|high)$/, "");
  return whole !== column.name && table.columns.some((other) => other.name === whole);
}

/** The rows that hold what is looked for, sorted; what is missing comes last in either direction. */
export function rowsShown(table: Table, rows: Cell[][], find: string, sort: string, label: (row: Cell[]) => string): Cell[][] {
  const wanted = find.trim().toLowerCase();
  const found = wanted
    ? rows.filter((row) => label(row) === wanted || row.some((cell) => typeof cell === "string" && cell.toLowerCase().includes(wanted)))
    : [...rows];
  const name = sort.replace(/^-/, "");
  const at = table.columns.findIndex((column) => column.name === name);
  if (at < 0) return sort === "-" ? found.reverse() : found;
  const down = sort.startsWith("-") ? -1 : 1;
  return found.sort((a, b) => {
    if (a[at] === null || b[at] === null) return Number(a[at] === null) - Number(b[at] === null);
    return down * compared(a[at] as NonNullable<Cell>, b[at] as NonNullable<Cell>);
  });
}

function compared(one: NonNullable<Cell>, other: NonNullable<Cell>): number {
  return typeof one === "string" || typeof other === "string" ? String(one).localeCompare(String(other)) : Number(one) - Number(other);
}

/** How many decimals the numbers of each column have, so that they stand one below the other; null for tiny ones. */
export function decimalsOf(table: Table, rows: Cell[][]): (number | null)[] {
  return table.columns.map((_, at) => {
    const numbers = rows.map((row) => row[at]).filter((cell): cell is number => typeof cell === "number");
    if (numbers.every(Number.isInteger)) return 0;
    const size = numbers.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
    return size < 0.01 ? null : size < 10 ? 3 : size < 100 ? 2 : 1;
  });
}
