// Source tokens: how well scores rank the tokens of a row by what happens without one token's vector.
import { Interval, IntervalScale } from "./Interval";
import { inOrder, numberIn, type Row, useRecords } from "./records";
import { correlation } from "./said";

const TITLES: Record<string, string> = { head: "from one head", layer: "from all heads of the layer" };

export function Tokens() {
  const rows = useRecords("league_tokens") ?? [];
  if (rows.length === 0) return null;
  const kinds = [...new Set(rows.map(kindOf))];
  return (
    <section class="tokens-league" aria-labelledby="tokens-title">
      <h2 id="tokens-title">How well scores rank the tokens of a row</h2>
      <p class="about">One token’s vector is taken away from a row; ρ of each score with what that changes, its mean over rows.</p>
      <div class="table-scroll" role="region" aria-label="Scores of tokens" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">score</th>
              <th scope="col">taken away</th>
              <th scope="col" class="interval-cell">
                <span class="visually-hidden">from −1 to 1</span>
                <IntervalScale />
              </th>
              <th scope="col" class="numeric">
                ρ
              </th>
              <th scope="col" class="numeric">
                least and most of layers
              </th>
              <th scope="col" class="numeric">
                rows
              </th>
            </tr>
          </thead>
          <tbody>
            {kinds.flatMap((kind) =>
              inOrder(rows.filter((row) => kindOf(row) === kind && row.layer === null), "rho").map((row) => (
                <tr key={`${kind} ${row.measure}`}>
                  <th scope="row">{String(row.measure).replaceAll("_", " ")}</th>
                  <td>
                    {TITLES[String(row.of)]}
                    {new Set(rows.map((one) => `${one.stack} ${one.kind}`)).size > 1 && `, ${row.stack} ${row.kind}`}
                  </td>
                  <td class="interval-cell">
                    <Interval row={row} />
                  </td>
                  <td class="numeric rho">{correlation(numberIn(row, "rho") ?? 0)}</td>
                  <td class="numeric">{range(rows.filter((one) => kindOf(one) === kind && one.layer !== null && one.measure === row.measure))}</td>
                  <td class="numeric">{String(row.rows)}</td>
                </tr>
              )),
            )}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function kindOf(row: Row): string {
  return `${row.stack} ${row.kind} ${row.of}`;
}

function range(rows: Row[]): string {
  const found = rows.map((row) => numberIn(row, "rho")).filter((rho): rho is number => rho !== null);
  return found.length === 0 ? "–" : `${correlation(Math.min(...found))} to ${correlation(Math.max(...found))}`;
}
