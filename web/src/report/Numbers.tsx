// A head's numbers against those of all other heads. A click on one explains it.
import { useState } from "preact/hooks";
import { number, percent } from "../drawing/canvas";
import type { Statistic } from "../schema";
import { Strip } from "./Strip";
import { useReport } from "./shown";
import { rankOf } from "./values";

const AT_FIRST = 8; // those in which the head is most unlike the others

export function Numbers({ at }: { at: number }) {
  const { report } = useReport();
  const [all, setAll] = useState(false);
  const mine = report.statistics.filter((statistic) => statistic.card && statistic.values[at] !== null);
  if (mine.length === 0) return null;
  const extreme = mostUnlike(mine, at);
  const others = mine.filter((statistic) => !extreme.includes(statistic));
  return (
    <section>
      <h3>Where it differs most from other heads (each line is a head, the thick one this)</h3>
      {report.runs.length > 1 && <p class="faint second">The orange ring is the same head in run B.</p>}
      <Rows statistics={extreme} at={at} />
      {others.length > 0 && (
        <details open={all} onToggle={(event) => setAll(event.currentTarget.open)}>
          <summary>{others.length} more numbers</summary>
          {all && <Rows statistics={others} at={at} />}
        </details>
      )}
    </section>
  );
}

function Rows({ statistics, at }: { statistics: Statistic[]; at: number }) {
  const [asked, setAsked] = useState("");
  return (
    <table class="numbers">
      <tbody>
        {statistics.map((statistic) => (
          <Row
            key={statistic.name}
            statistic={statistic}
            at={at}
            explained={statistic.name === asked}
            ask={() => setAsked(statistic.name === asked ? "" : statistic.name)}
          />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  statistic: Statistic;
  at: number;
  explained: boolean;
  ask: () => void;
}

function Row({ statistic, at, explained, ask }: RowProps) {
  const value = statistic.values[at] as number;
  const counted = statistic.values.filter((one) => one !== null).length;
  const title = `title-${statistic.name}`; // of the row, which the explanation below it belongs to
  return (
    <>
      <tr data-statistic={statistic.name} data-value={value}>
        <th scope="row" id={title}>
          <button type="button" class="explained" title={statistic.about} aria-expanded={explained} onClick={ask}>
            {statistic.title}
          </button>
        </th>
        <td class="value">{inUnit(value, statistic.unit)}</td>
        <td>
          <Strip values={statistic.values} value={value} other={statistic.other?.[at]} />
        </td>
        <td class="rank">
          {rankOf(statistic.values, value)} of {counted}
        </td>
      </tr>
      {explained && (
        <tr>
          <td class="explanation" colSpan={4} headers={title}>
            {statistic.about}
            {statistic.more && ` More means: ${statistic.more}.`}
          </td>
        </tr>
      )}
    </>
  );
}

/** The numbers by which a head differs most from all heads; of one that was read by weight and by norm, the one that does more. */
function mostUnlike(statistics: Statistic[], at: number): Statistic[] {
  const chosen = new Map<string, Statistic>();
  const sorted = [...statistics].sort((a, b) => unlikeness(b, at) - unlikeness(a, at));
  for (const statistic of sorted) {
    const subject = statistic.title.replace(/, by norm.*/, "");
    if (!chosen.has(subject)) chosen.set(subject, statistic);
  }
  return [...chosen.values()].slice(0, AT_FIRST);
}

/** How many standard deviations a head is away from the mean of all heads. */
function unlikeness(statistic: Statistic, at: number): number {
  const numbers = statistic.values.filter((one): one is number => one !== null);
  const mean = numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
  const variance = numbers.reduce((sum, one) => sum + (one - mean) ** 2, 0) / numbers.length;
  return variance > 0 ? Math.abs((statistic.values[at] as number) - mean) / Math.sqrt(variance) : 0;
}

/** A number as people read it, with its unit where that is not said by its title. */
export function inUnit(value: number, unit: string): string {
  if (unit === "share" || unit === "accuracy") return percent(value);
  return unit === "tokens" || unit === "nats" ? `${number(value)} ${unit}` : number(value);
}
