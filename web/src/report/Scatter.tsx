// Heads as points in a plane: near each other where they look alike (clark2019, figure 6).
import { useState } from "preact/hooks";
import { number } from "../drawing/canvas";
import { css, sequential } from "../drawing/colours";
import { Choice } from "../shell/choices";
import { useWidth } from "../shell/hooks";
import { familyColour } from "./families";
import { HeadPoint, PointLabel } from "./HeadPoint";
import { groupsOf } from "./heads";
import { useReport } from "./shown";
import { cssOf, shownOf, statisticNamed } from "./values";

const MARGIN = 26;

export function Scatter() {
  const { report, state, change, dark } = useReport();
  const [ref, width] = useWidth<HTMLDivElement>();
  const [pointed, setPointed] = useState<number | null>(null);
  const groups = groupsOf(report);
  const group = groups.includes(state.attention) ? state.attention : groups[0];
  const scatter = report.scatters.find((one) => one.group === group);
  if (!scatter) {
    return (
      <section class="scatter">
        <h2>Heads that look alike</h2>
        <p class="about">
          This run has not compared heads with each other. A study that counts <code>jensen_shannon</code> does, and has a map of
          heads here.
        </p>
      </section>
    );
  }
  const statistic = statisticNamed(report, state.by);
  const shown = statistic ? shownOf(statistic, state.run) : null;
  const layers = Math.max(...scatter.heads.map((at) => report.heads[at].layer), 1);
  const colour = (at: number): string => {
    const head = report.heads[at];
    if (state.colour === "layer") return css(sequential(0.15 + (0.85 * head.layer) / layers, dark));
    if (state.colour === "atlas" && shown) return cssOf(shown, shown.values[at], dark) ?? "transparent";
    return familyColour(report, ((state.run === "other" && head.other) || head).family, dark);
  };
  const height = Math.min(Math.max(width * 0.72, 260), 460);
  const place = placing(scatter.x, scatter.y, width, height);
  const chosen = scatter.heads.findIndex((at) => report.heads[at].label === state.head);
  const named = pointed ?? (chosen >= 0 ? chosen : null);
  const radius = scatter.heads.length > 200 ? 5 : 7;
  const order = [...scatter.heads.keys()].sort((a, b) => Number(a === named) - Number(b === named)); // the named one on top
  return (
    <section class="scatter" aria-labelledby="scatter-title">
      <h2 id="scatter-title">Heads that look alike</h2>
      <form class="toolbar" aria-label="What the colours are" onSubmit={(event) => event.preventDefault()}>
        <Choice
          label="colour"
          value={state.colour === "atlas" && !shown ? "role" : state.colour}
          options={[["role", "role"], ["layer", "layer"], ...(shown ? [["atlas", shown.title] as const] : [])]}
          set={(value) => change({ colour: value })}
        />
      </form>
      <p class="about">
        Two heads are close if they spread their attention alike over the same tokens (Jensen-Shannon distance).
      </p>
      <div ref={ref} class="scatter-plane">
        <svg width={width} height={height} role="group" aria-label="Map of heads" onMouseLeave={() => setPointed(null)}>
          {named !== null &&
            scatter.nearest[named].map(({ head }) => {
              const [x1, y1] = place(named);
              const [x2, y2] = place(scatter.heads.indexOf(head));
              return <line key={head} class="near" x1={x1} y1={y1} x2={x2} y2={y2} />;
            })}
          {order.map((point) => {
            const head = report.heads[scatter.heads[point]];
            return (
              <HeadPoint
                key={head.name}
                head={head}
                at={place(point)}
                radius={point === named ? radius + 2 : radius}
                fill={colour(scatter.heads[point])}
                said={head.rule}
                chosen={point === chosen}
                point={() => setPointed(point)}
                open={() => change({ head: head.label })}
              />
            );
          })}
          {named !== null && <PointLabel text={report.heads[scatter.heads[named]].label} at={place(named)} width={width} />}
        </svg>
      </div>
      <p class="reading">
        {named === null ? (
          <span class="faint">
            Stress {number(scatter.stress)}: {scatter.stress < 0.1 ? "the plane shows the distances well." : "a plane shows such distances only roughly; a card names the nearest heads."}
          </span>
        ) : (
          <>
            <b>{report.heads[scatter.heads[named]].label}</b>
            <span class="faint">
              {" "}
              nearest:{" "}
              {scatter.nearest[named]
                .map(({ head, distance }) => `${report.heads[head].label} (${number(distance)})`)
                .join(", ")}
            </span>
          </>
        )}
      </p>
    </section>
  );
}

/** From the plane of the heads to pixels, with one scale for both axes: distances are what is shown. */
function placing(xs: number[], ys: number[], width: number, height: number): (point: number) => [number, number] {
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [bottom, top] = [Math.min(...ys), Math.max(...ys)];
  const scale = Math.min(
    Math.max(width - 2 * MARGIN, 1) / Math.max(right - left, 1e-9),
    Math.max(height - 2 * MARGIN, 1) / Math.max(top - bottom, 1e-9),
  );
  return (point) => [
    width / 2 + (xs[point] - (left + right) / 2) * scale,
    height / 2 - (ys[point] - (bottom + top) / 2) * scale,
  ];
}
