// Several models side by side: how well each number ranks the heads of each.
import { css, diverging, inkOn } from "../drawing/colours";
import { useReport } from "../report/shown";
import type { League } from "../schema";
import { Choice } from "../shell/choices";
import { numberIn, type Row, shownOf } from "./records";
import { correlation, titleOf } from "./said";

const FIRST = ["kl", "states"]; // what heads are ranked by: each model has one of them

export function Models({ league, standings }: { league: League; standings: Row[] }) {
  const { report, state, change } = useReport();
  const { how } = shownOf(report, standings, state);
  const models = [...new Set(standings.map((row) => String(row.model)))];
  const rows = standings.filter((row) => row.how === how && row.scope === "all" && FIRST.includes(String(row.effect)));
  const cell = (number: string, model: string) => rows.find((row) => row.number === number && row.model === model);
  const mean = (number: string) => {
    const found = models.flatMap((model) => numberIn(cell(number, model) ?? {}, "rho") ?? []);
    return found.reduce((sum, rho) => sum + rho, 0) / Math.max(1, found.length);
  };
  const numbers = league.numbers.map(({ name }) => name).sort((a, b) => mean(b) - mean(a));
  return (
    <section class="models" aria-labelledby="models-title">
      <h2 id="models-title">Models side by side</h2>
      <form class="toolbar" aria-label="What the table is about" onSubmit={(event) => event.preventDefault()}>
        <Choice
          label="without a head"
          value={how}
          options={league.ways.map(({ name, title }) => [name, title])}
          set={(chosen) => change({ how: chosen })}
        />
      </form>
      <p class="about">
        Spearman’s ρ of a number with what happens without a head, over all heads, and in brackets within layers: KL, or 1 − cos of states where a model
        predicts no words. The mean over models sorts the numbers.
      </p>
      <div class="table-scroll" role="region" aria-label="Table of models" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">number</th>
              {models.map((model) => (
                <th key={model} scope="col" class="numeric">
                  <bdi>{model}</bdi>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {numbers.map((number) => (
              <tr key={number} data-number={number}>
                <th scope="row">
                  {titleOf(league.numbers, number)} <small>{number}</small>
                </th>
                {models.map((model) => (
                  <Cell key={model} row={cell(number, model)} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Cell({ row }: { row: Row | undefined }) {
  const { dark } = useReport();
  const [rho, within] = [numberIn(row ?? {}, "rho"), numberIn(row ?? {}, "within")];
  if (rho === null) return <td class="numeric faint">–</td>;
  const colour = diverging(rho, dark);
  return (
    <td class="numeric" style={{ background: css(colour), color: inkOn(colour) }}>
      {correlation(rho)}
      {within !== null && ` (${correlation(within)})`}
    </td>
  );
}
