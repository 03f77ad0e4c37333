// Heads that numbers call idle: how many numbers do, and whether the model agrees.
import { number } from "../drawing/canvas";
import { headAt } from "../report/heads";
import { headColumns, labelOf } from "../report/rows";
import { useReport } from "../report/shown";
import { numberIn, useRecords } from "./records";

const SHOWN = 10;

export function Idle() {
  const { report, change } = useReport();
  const rows = useRecords("league_idle") ?? [];
  const table = report.tables.find((one) => one.name === "league_idle");
  const places = table && headColumns(table);
  const effect = report.league?.effect ?? "";
  if (rows.length === 0 || !table || !places) return null;
  const label = (row: (typeof rows)[number]) => labelOf(report, places, table.columns.map((column) => row[column.name])) ?? "";
  return (
    <section class="idle" aria-labelledby="idle-title">
      <h2 id="idle-title">Heads that most numbers call idle</h2>
      <p class="about">Of each number, the fifth of the heads at the end where heads should be idle; then what happens without the head.</p>
      <div class="table-scroll" role="region" aria-label="Heads that are called idle" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">head</th>
              <th scope="col">role</th>
              <th scope="col" class="numeric">
                called idle by
              </th>
              <th scope="col" class="numeric">
                without it
              </th>
              <th scope="col" class="numeric">
                place from the least
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, SHOWN).map((row) => (
              <tr key={label(row)}>
                <th scope="row">
                  <button type="button" class="head-link" onClick={() => change({ head: label(row) })}>
                    {label(row)}
                  </button>
                </th>
                <td>{report.heads[headAt(report, label(row))]?.role}</td>
                <td class="numeric" title={String(row.by)}>
                  {String(row.idle_by)} of {String(row.numbers)} numbers
                </td>
                <td class="numeric">{number(numberIn(row, effect) ?? 0)}</td>
                <td class="numeric">{String(row.rank_from_below)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
