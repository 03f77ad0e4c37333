// A table as CSV (RFC 4180): every row that the page has, as it stands in the run.
import type { Cell, Table } from "../schema";

export function csvOf(table: Table, rows: Cell[][]): string {
  const lines = [table.columns.map((column) => quoted(column.name)), ...rows.map((row) => row.map(quoted))];
  return lines.map((line) => `${line.join(",")}\r\n`).join("");
}

function quoted(cell: Cell): string {
  if (cell === null) return "";
  const text = cell === true ? "True" : cell === false ? "False" : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
