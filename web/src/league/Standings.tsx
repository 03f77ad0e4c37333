// The table of the league: how well each number ranks heads by what happens without them. A click looks at a number.
import { useState } from "preact/hooks";
import { percent } from "../drawing/canvas";
import { useReport } from "../report/shown";
import type { League } from "../schema";
import { Interval, IntervalScale } from "./Interval";
import { inOrder, numberIn, type Row, type Shown, useRecords } from "./records";
import { correlation, titleOf } from "./said";

interface Column {
  name: string;
  title: string;
  about: string;
  written: (value: number) => string;
}

const CORRELATIONS: Column[] = [
  { name: "within", title: "in layers", about: "The mean of ρ in each layer that has at least three heads", written: correlation },
  { name: "partial", title: "given layer", about: "Of the ranks over all heads, each less the mean rank of its layer", written: correlation },
  { name: "other_texts", title: "other texts", about: "The number of one half of the texts with the effect of the other half", written: correlation },
];
const ORDERS: Column[] = [
  { name: "can_go", title: "can go", about: "The share of heads that can go in this number's order before more is lost than is bearable", written: percent },
  { name: "area", title: "area", about: "The area under its curve, against that of random orders: below 1, less is lost than by lot", written: (value) => value.toFixed(2) },
];

export function Standings({ league, rows, shown }: { league: League; rows: Row[]; shown: Shown }) {
  const { change } = useReport();
  const [by, setBy] = useState("rho");
  const ceiling = useCeiling(shown);
  const orders = useOrders(shown.how === league.way && shown.scope === "all");
  const columns = orders.size > 0 ? [...CORRELATIONS, ...ORDERS] : CORRELATIONS;
  const sorted = inOrder(rows.map((row) => ({ ...row, ...orders.get(String(row.number)) })), by);
  const heads = Math.max(0, ...rows.map((row) => numberIn(row, "heads") ?? 0));
  return (
    <section class="standings" aria-labelledby="standings-title">
      <h2 id="standings-title">How well each number ranks {heads} heads by what happens without them</h2>
      <p class="about">
        Spearman’s ρ with the effect, and its 95% interval when texts are drawn again.
        {ceiling !== null && ` Dashes: ${ceiling.toFixed(2)}, what a number without errors of its own can be expected to reach with these texts.`}
      </p>
      <div class="table-scroll" role="region" aria-label="Standings" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">number</th>
              <th scope="col" class="interval-cell">
                <span class="visually-hidden">from −1 to 1</span>
                <IntervalScale />
              </th>
              <Sorted column={{ name: "rho", title: "ρ", about: "Over all heads" }} by={by} set={setBy} />
              {columns.map((column) => (
                <Sorted key={column.name} column={column} by={by} set={setBy} />
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.map((row) => {
              const name = String(row.number);
              return (
                <tr key={name} data-number={name} aria-current={name === shown.number ? "true" : undefined}>
                  <th scope="row">
                    <button type="button" class="number-link" aria-pressed={name === shown.number} onClick={() => change({ number: name })}>
                      {titleOf(league.numbers, name)} <small>{name}</small>
                    </button>
                  </th>
                  <td class="interval-cell">
                    <Interval row={row} ceiling={ceiling} />
                  </td>
                  <td class="numeric rho" title={interval(row)}>
                    {written(row, "rho", correlation)}
                  </td>
                  {columns.map((column) => (
                    <td key={column.name} class="numeric">
                      {written(row, column.name, column.written)}
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}

interface SortedProps {
  column: Omit<Column, "written">;
  by: string;
  set: (name: string) => void;
}

function Sorted({ column: { name, title, about }, by, set }: SortedProps) {
  return (
    <th scope="col" class="numeric" aria-sort={by === name ? "descending" : "none"}>
      <button type="button" title={about} onClick={() => set(name)}>
        {title}
        {by === name ? " ▼" : ""}
      </button>
    </th>
  );
}

/** What a number without errors of its own should reach; null where it is not known. */
function useCeiling({ how, effect, scope }: Shown): number | null {
  const rows = useRecords("league_reliability") ?? [];
  const here = rows.find((row) => row.how === how && row.effect === effect && row.scope === scope);
  return here ? numberIn(here, "ceiling") : null;
}

/** By number, what its curve says; nothing where curves are of something else. */
function useOrders(shown: boolean): Map<string, Row> {
  const rows = useRecords("league_orders") ?? [];
  return new Map(shown ? rows.map((row) => [String(row.order), { can_go: row.within, area: row.against_random ?? null }]) : []);
}

function interval(row: Row): string {
  const [low, high] = [numberIn(row, "rho_low"), numberIn(row, "rho_high")];
  return low === null || high === null ? "no interval" : `${correlation(low)} to ${correlation(high)}`;
}

function written(row: Row, name: string, how: (value: number) => string): string {
  const value = numberIn(row, name);
  return value === null ? "–" : how(value);
}
