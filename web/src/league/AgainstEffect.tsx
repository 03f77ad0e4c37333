// A number of the heads against what happens without them: a point a head, which opens its card.
import { useState } from "preact/hooks";
import { number } from "../drawing/canvas";
import { css, sequential } from "../drawing/colours";
import { scaleOf } from "../drawing/scale";
import { HeadPoint, PointLabel } from "../report/HeadPoint";
import { useReport } from "../report/shown";
import type { League } from "../schema";
import { Choice } from "../shell/choices";
import { Axes } from "./Axes";
import { numberIn, ofHeads, type Row, type Shown } from "./records";
import { correlation, titleOf } from "./said";

interface Point {
  at: number; // which of the report's heads
  x: number;
  y: number;
}

export function AgainstEffect({ league, rows, shown }: { league: League; rows: Row[]; shown: Shown }) {
  const { report, state, change, dark } = useReport();
  const [pointed, setPointed] = useState<number | null>(null);
  const [across, upward] = [ofHeads(report, shown.number, shown.how), ofHeads(report, shown.effect, shown.how)];
  if (!across || !upward) return null;
  const points: Point[] = report.heads
    .flatMap((head, at) => {
      const [x, y] = [across.values[at], upward.values[at]];
      return x === null || y === null || (shown.scope !== "all" && head.group !== shown.scope) ? [] : [{ at, x, y }];
    })
    .sort((a, b) => a.x - b.x); // arrow keys go from left to right
  const layers = [...new Set(points.map(({ at }) => report.heads[at].layer))].sort((a, b) => a - b);
  const colour = (layer: number) => css(sequential(0.28 + (0.72 * layers.indexOf(layer)) / Math.max(1, layers.length - 1), dark));
  const [x, y] = [scaleOf(points.map((point) => point.x), 5), scaleOf(points.map((point) => point.y), 5)];
  const chosen = points.find(({ at }) => report.heads[at].label === state.head);
  const named = points.find(({ at }) => at === pointed) ?? chosen;
  const radius = points.length > 200 ? 4.5 : 6;
  const said = ({ at, x, y }: Point) =>
    `${titleOf(league.numbers, shown.number)} ${number(x)}, ${titleOf(league.effects, shown.effect)} ${number(y)}, layer ${report.heads[at].layer}`;
  const rho = numberIn(rows.find((row) => row.number === shown.number) ?? {}, "rho");
  const titles: [string, string] = [along(titleOf(league.numbers, shown.number), x.log), along(titleOf(league.effects, shown.effect), y.log)];
  return (
    <section class="against" aria-labelledby="against-title">
      <h2 id="against-title">Each head: a number against what happens without it</h2>
      <form class="toolbar" aria-label="Which number" onSubmit={(event) => event.preventDefault()}>
        <Choice label="number" value={shown.number} options={rows.map((row) => [String(row.number), titleOf(league.numbers, String(row.number))])} set={(chosen) => change({ number: chosen })} />
        {rho !== null && <span class="faint">ρ = {correlation(rho)}</span>}
      </form>
      <div onKeyDown={moveFocus}>
        <Axes label={`${titles[0]} against ${titles[1]}, a point a head`} across={x} upward={y} titles={titles} leave={() => setPointed(null)}>
          {({ x: right, y: up, width }) => (
            <>
              {points.map((point, place) => {
                const head = report.heads[point.at];
                return (
                  <HeadPoint
                    key={head.name}
                    head={head}
                    at={[right(point.x), up(point.y)]}
                    radius={point === named ? radius + 2 : radius}
                    fill={colour(head.layer)}
                    said={said(point)}
                    chosen={point === chosen}
                    reachable={chosen ? point === chosen : place === 0}
                    point={() => setPointed(point.at)}
                    open={() => change({ head: head.label })}
                  />
                );
              })}
              {named && <PointLabel text={report.heads[named.at].label} at={[right(named.x), up(named.y)]} width={width} />}
            </>
          )}
        </Axes>
      </div>
      <p class="reading" aria-live="polite">
        {named ? (
          <>
            <b>{report.heads[named.at].label}</b> <span class="faint">{said(named)} · {report.heads[named.at].role}</span>
          </>
        ) : (
          <span class="layers">
            layer {layers[0]}
            {layers.map((layer) => (
              <i key={layer} style={{ background: colour(layer), width: `${Math.min(12, 150 / layers.length)}px` }} />
            ))}
            {layers.at(-1)}
            <span class="faint"> · click a head to open its card</span>
          </span>
        )}
      </p>
    </section>
  );
}

function along(title: string, log: boolean): string {
  return log ? `${title} (log)` : title;
}

/** Arrow keys go from a point to the next one. */
function moveFocus(event: KeyboardEvent): void {
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  const points = [...(event.currentTarget as HTMLElement).querySelectorAll<SVGElement>(".point")];
  const place = points.indexOf(event.target as SVGElement);
  if (!step || place < 0) return;
  event.preventDefault();
  points[place + step]?.focus();
}
