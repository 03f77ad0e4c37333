// Rows of the run's tables by the names of their columns, and the head numbers that stand behind a name of the league.
import { useMemo } from "preact/hooks";
import type { ReportState } from "../report/address";
import { useReport } from "../report/shown";
import { useUnpacked } from "../report/unpack";
import { statisticNamed } from "../report/values";
import type { Cell, Report, Statistic, Table } from "../schema";

export type Row = Record<string, Cell>;

/** The rows of a table; none of one that the run does not have, null until they are unpacked. */
export function useRecords(name: string): Row[] | null {
  const { report } = useReport();
  const table = report.tables.find((one) => one.name === name);
  const rows = useUnpacked<Cell[][]>(table?.rows ?? null, table?.chunk);
  return useMemo(() => (table ? rows && recordsOf(table, rows) : []), [table, rows]);
}

export function recordsOf(table: Table, rows: Cell[][]): Row[] {
  return rows.map((row) => Object.fromEntries(table.columns.map(({ name }, at) => [name, row[at]])));
}

/** A cell as a number; null for what is none. */
export function numberIn(row: Row, column: string): number | null {
  const cell = row[column];
  return typeof cell === "number" ? cell : null;
}

/** A number or an effect of every head, by what takes a head's place where it depends on that. */
export function ofHeads(report: Report, name: string, how: string): Statistic | undefined {
  return statisticNamed(report, `league_effects_${how}.${name}`) ?? statisticNamed(report, `league_numbers.${name}`);
}

/** What of the league is shown. */
export type Shown = Pick<ReportState, "how" | "effect" | "scope" | "number">;

/** Of a reader's choices those that this run has, else what it says first: the number that ranks heads best. */
export function shownOf({ league }: Report, standings: Row[], chosen: Shown): Shown {
  const known = (column: string, ...wanted: string[]) =>
    wanted.find((one) => standings.some((row) => row[column] === one)) ?? String(standings[0]?.[column] ?? "");
  const how = known("how", chosen.how, league?.way ?? "");
  const effect = known("effect", chosen.effect, league?.effect ?? "");
  const scope = known("scope", chosen.scope, "all");
  const here = inOrder(standings.filter((row) => row.how === how && row.effect === effect && row.scope === scope), "rho");
  const number = here.some((row) => row.number === chosen.number) ? chosen.number : String(here[0]?.number ?? "");
  return { how, effect, scope, number };
}

/** The largest first; what is no number last. */
export function inOrder(rows: Row[], column: string): Row[] {
  return [...rows].sort((a, b) => (numberIn(b, column) ?? -Infinity) - (numberIn(a, column) ?? -Infinity));
}
