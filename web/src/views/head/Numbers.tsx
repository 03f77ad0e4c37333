// The numbers of the isolated tokens: what they attend to, what attends to them, for every head that is shown.
import { number, signed } from "../../drawing/canvas";
import { useViewed } from "../../shell/viewed";
import { type Isolated, numberOf, sideOf, sumFrom, sumTo, type Target, targets } from "./isolated";
import type { HeadMaps } from "./maps";

const LISTED = 12;

interface Props {
  maps: HeadMaps;
  isolated: Isolated | null;
  measure: string; // its title
  /** A row under the pointer: its pairs with the kept tokens are read out. */
  point: (token: string | null) => void;
  /** A row that is clicked: its token is scrolled to. */
  reveal: (token: string) => void;
}

export function Numbers({ maps, isolated, measure, point, reveal }: Props) {
  return (
    <div class="numbers" role="group" aria-label="Numbers">
      <p class="reading" role="status" aria-live="polite">
        {maps.maps.length ? reading(maps, isolated, measure) : "No head is chosen: click a number above, or “all”."}
      </p>
      {isolated && maps.maps.length > 0 && (
        <>
          {isolated.rows.length > 0 && <TargetTable {...{ maps, isolated, measure, point, reveal }} attended={true} />}
          {isolated.columns.length > 0 && <TargetTable {...{ maps, isolated, measure, point, reveal }} attended={false} />}
        </>
      )}
    </div>
  );
}

interface TableProps extends Props {
  isolated: Isolated;
  attended: boolean; // what the isolated tokens attend to, else what attends to them
}

function TargetTable({ maps, isolated, measure, point, reveal, attended }: TableProps) {
  const { content } = useViewed(); // two texts beside each other have a table each
  const found = targets(maps, isolated, attended);
  const met = isolated.met !== null && (sideOf(isolated.met) === "k") === attended ? numberOf(isolated.met) : null;
  const first = found.slice(0, LISTED);
  const shown = [...first, ...found.slice(LISTED).filter((target) => target.token === met)];
  const others = found.filter((target) => !shown.includes(target));
  const axis = attended ? maps.columns : maps.rows;
  return (
    <div class="targets" data-direction={attended ? "attended" : "attending"}>
      <h2>{heading(maps, isolated, attended)}</h2>
      {found.length === 0 ? (
        <p class="nothing">{aloneIn(maps, isolated, attended) ?? "nothing that is drawn"}</p>
      ) : (
        <div class="targets-scroll" role="region" aria-label={`Attended to${attended ? "" : " by"}, ${content.title}`} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">{measure}</th>
                {maps.maps.length > 1 && <th scope="col">mean</th>}
                {maps.maps.map((map) => (
                  <th scope="col" key={map.place}>
                    {map.colour === map.below && <i class="swatch" style={{ backgroundColor: map.colour }} />}
                    {map.label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody
              onPointerOver={(event) => event.pointerType !== "touch" && point(nameAt(event, attended))}
              onPointerLeave={() => point(null)}
              onClick={(event) => {
                const name = nameAt(event, attended);
                if (name) reveal(name);
              }}
            >
              {shown.map((target) => (
                <TargetRow
                  key={target.token}
                  maps={maps}
                  target={target}
                  label={axis.labels[target.token]}
                  met={target.token === met}
                />
              ))}
            </tbody>
            {others.length > 0 && (
              <tfoot>
                <TargetRow maps={maps} target={sumOf(others)} label={`${others.length} more`} met={false} />
              </tfoot>
            )}
          </table>
        </div>
      )}
    </div>
  );
}

/** A sentence for tokens whose attention only one of two texts has, in a picture of the difference. */
function aloneIn(maps: HeadMaps, isolated: Isolated, attended: boolean): string | null {
  const changes = attended ? isolated.rows.map((row) => maps.rows.joint?.changes[row]) : [];
  const only = changes.every((change) => change === "put in") ? "B" : changes.every((change) => change === "left out") ? "A" : null;
  return changes.length && only ? `only ${only} has it, so there is nothing to compare: show ${only} to see it` : null;
}

/** The token of the row under an event. */
function nameAt(event: Event, attended: boolean): string | null {
  const token = (event.target as HTMLElement).closest<HTMLElement>("[data-target]")?.dataset.target;
  return token === undefined ? null : `${attended ? "k" : "q"}${token}`;
}

function TargetRow({ maps, target, label, met }: { maps: HeadMaps; target: Target; label: string; met: boolean }) {
  const mean = target.scores.reduce((sum, score) => sum + score, 0) / target.scores.length;
  const largest = Math.max(...target.scores.map(Math.abs));
  return (
    <tr class={met ? "met" : ""} data-target={target.token}>
      <th scope="row" title={label}>
        <bdi>{label}</bdi>
      </th>
      {maps.maps.length > 1 && <td class="mean">{aligned(mean, maps.most)}</td>}
      {target.scores.map((score, map) => (
        <td
          key={maps.maps[map].place}
          data-head={maps.maps[map].label}
          data-score={score}
          class={score < 0 ? "negative" : Math.abs(score) === largest && maps.maps.length > 1 ? "largest" : ""}
        >
          {aligned(score, maps.most)}
        </td>
      ))}
    </tr>
  );
}

/** As many decimals in all rows, so that the eye can run down a column. */
function aligned(score: number, most: number): string {
  if (score === 0) return "0";
  const decimals = most >= 100 ? 1 : most >= 10 ? 2 : most >= 0.1 ? 3 : most >= 0.01 ? 4 : 5;
  return score.toFixed(decimals);
}

function sumOf(many: Target[]): Target {
  const scores = many[0].scores.map((_, map) => many.reduce((sum, target) => sum + target.scores[map], 0));
  return { token: -1, scores, total: 0 };
}

function heading(maps: HeadMaps, isolated: Isolated, attended: boolean) {
  const tokens = attended ? isolated.rows : isolated.columns;
  const labels = (attended ? maps.rows : maps.columns).labels;
  const names = tokens.map((token, i) => (
    <>
      {i > 0 && ", "}
      <bdi class="named">{labels[token]}</bdi>
    </>
  ));
  if (tokens.length === 1) return <>{names} {attended ? "attends to" : "is attended to by"}</>;
  return <>sum of {tokens.length} tokens: {names} {attended ? "attend to" : "are attended to by"}</>;
}

/** The exact number: of the pair that is pointed at, else of the strongest pair. */
function reading(maps: HeadMaps, isolated: Isolated | null, measure: string) {
  if (isolated?.met) return metReading(maps, isolated, isolated.met, measure);
  const top = strongest(maps, isolated);
  if (!top) return "Nothing is drawn: every score is below the threshold, or its token is hidden.";
  return (
    <>
      {isolated ? "most: " : "strongest: "}
      <bdi class="named">{maps.rows.labels[top.row]}</bdi> → <bdi class="named">{maps.columns.labels[top.column]}</bdi>
      {`: ${measure} `}
      <b data-score={top.score}>{said(top.score, maps)}</b> ({headWord(maps.maps[top.map].label)})
    </>
  );
}

function metReading(maps: HeadMaps, isolated: Isolated, met: string, measure: string) {
  const width = maps.columns.labels.length;
  const attended = sideOf(met) === "k";
  const token = numberOf(met);
  const sums = maps.maps.map((map) =>
    attended ? sumTo(map, width, isolated.rows, token) : sumFrom(map, width, token, isolated.columns),
  );
  const largest = sums.reduce((best, sum, map) => (Math.abs(sum) > Math.abs(sums[best]) ? map : best), 0);
  const kept = attended ? isolated.rows : isolated.columns;
  const keptLabels = (attended ? maps.rows : maps.columns).labels;
  const keptName = kept.length === 1 ? <bdi class="named">{keptLabels[kept[0]]}</bdi> : `sum of ${kept.length} tokens`;
  const metName = <bdi class="named">{(attended ? maps.columns : maps.rows).labels[token]}</bdi>;
  return (
    <>
      {attended ? keptName : metName} → {attended ? metName : keptName}
      {`: ${measure} `}
      <b data-score={sums[largest]}>{said(sums[largest], maps)}</b> ({headWord(maps.maps[largest].label)}
      {sums.length > 1 && `, the most of ${sums.length} heads`})
    </>
  );
}

function said(score: number, { difference }: HeadMaps): string {
  return difference ? signed(score) : number(score);
}

function headWord(label: string): string {
  return label.includes(".") ? `head ${label}` : label;
}

function strongest(maps: HeadMaps, isolated: Isolated | null) {
  const width = maps.columns.labels.length;
  let best: { map: number; row: number; column: number; score: number } | null = null;
  maps.maps.forEach(({ scores }, map) => {
    for (const row of maps.rowPlaces) {
      const columns = !isolated || isolated.rows.includes(row) ? maps.columnPlaces : isolated.columns;
      for (const column of columns) {
        const score = scores[row * width + column];
        if (score !== 0 && Math.abs(score) > Math.abs(best?.score ?? 0)) best = { map, row, column, score };
      }
    }
  });
  return best as { map: number; row: number; column: number; score: number } | null;
}
