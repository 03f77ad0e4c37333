// The atlas: layers by heads, each coloured by its role or by a number; the one that is clicked opens its card.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { number, signed } from "../drawing/canvas";
import { inkOn, rgbOf } from "../drawing/colours";
import { drawn } from "../drawing/drawn";
import type { GivenRole, Head, Report } from "../schema";
import { Check, Choice } from "../shell/choices";
import { brief, HeadGrid, HeadRow } from "../shell/HeadGrid";
import type { ReportState } from "./address";
import { familyColour, markOf } from "./families";
import { groupsOf } from "./heads";
import { RoleLegend, ScaleLegend } from "./Legend";
import { useReport } from "./shown";
import { colourOf, cssOf, rankOf, type Shown, shownOf, statisticNamed } from "./values";

const TEXTS = 24; // a narrower square has no text in it: pointing tells

/** A cell of the atlas: which head of the report, and what it shows. */
interface Square {
  at: number;
  head: Head;
  role: GivenRole;
  value: number | null;
}

export function Atlas() {
  const { report, state, change, dark } = useReport();
  const root = useRef<HTMLElement>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const groups = groupsOf(report);
  const group = groups.includes(state.attention) ? state.attention : groups[0];
  const statistic = statisticNamed(report, state.by);
  const shown = useMemo(() => (statistic ? shownOf(statistic, state.run) : null), [statistic, state.run]);
  const layers = useMemo(() => layersOf(report, group, shown, state), [report, group, shown, state.order, state.run]);
  const widest = Math.max(...layers.map((layer) => layer.length), 1);
  useEffect(() => drawn(root.current), [layers, dark]);
  const open = (square: Square) => change({ head: square.head.label });
  const chosen = layers.flat().find((square) => square.head.label === state.head);
  const focus = chosen ?? layers[0]?.[0];
  const about = shown ? shown.about : report.roles.about;
  const read = layers.flat().find((square) => square.at === pointed) ?? chosen ?? null;
  return (
    <section class="atlas" ref={root} aria-labelledby="atlas-title">
      <h2 id="atlas-title">Atlas of heads</h2>
      <form class="toolbar" aria-label="What the atlas shows" onSubmit={(event) => event.preventDefault()}>
        <StatisticChoice />
        {report.runs.length > 1 && (!statistic || statistic.other) && (
          <Choice
            label="run"
            value={state.run === "difference" && !shown ? "one" : state.run}
            options={runOptions(report, shown !== null)}
            set={(run) => change({ run })}
          />
        )}
        {groups.length > 1 && (
          <Choice
            label="attention"
            value={group}
            options={groups.map((name) => [name, name])}
            set={(attention) => change({ attention })}
          />
        )}
        <Check
          name="order"
          label={shown ? "largest first in each layer" : "same roles side by side"}
          checked={state.order === "value"}
          set={(byValue) => change({ order: byValue ? "value" : "" })}
        />
      </form>
      {about && <p class="about">{about}</p>}
      <HeadGrid
        label={`Heads by layer: ${shown ? shown.title : "role"}`}
        widest={widest}
        size={layers.length > 16 || widest > 20 ? "small" : layers.length > 8 ? "middle" : "large"}
        texts={TEXTS}
        by={shown ? state.by : "role"}
        numbered={state.order !== "value"}
        leave={() => setPointed(null)}
      >
        {layers.map((layer) => (
          <HeadRow key={layer[0].head.layer} layer={layer[0].head.layer}>
            {layer.map((square, place) => (
              <SquareButton
                key={square.at}
                square={square}
                place={place}
                shown={shown}
                selected={square === chosen}
                reachable={square === focus}
                open={() => open(square)}
                point={() => setPointed(square.at)}
              />
            ))}
          </HeadRow>
        ))}
      </HeadGrid>
      <p class="reading" aria-live="polite">
        {read ? <Said square={read} shown={shown} /> : "Point at a head to read its number; click it to open its card."}
      </p>
      {shown ? <ScaleLegend shown={shown} /> : <RoleLegend roles={layers.flat().map((square) => square.role)} />}
      {!shown && report.runs.length > 1 && <p class="about">A dot marks a head that has another role in the other run.</p>}
    </section>
  );
}

interface SquareProps {
  square: Square;
  place: number;
  shown: Shown | null;
  selected: boolean;
  reachable: boolean;
  open: () => void;
  point: () => void;
}

function SquareButton({ square, place, shown, selected, reachable, open, point }: SquareProps) {
  const { report, state, dark } = useReport();
  const { head, role, value } = square;
  const family = familyColour(report, role.family, dark);
  const background = shown ? cssOf(shown, value, dark) : family;
  const color = shown
    ? value === null
      ? undefined
      : inkOn(colourOf(shown, value, dark))
    : inkOn(rgbOf(family));
  const text = shown ? (value === null ? "" : brief(value, Math.max(Math.abs(shown.least), Math.abs(shown.most)))) : markOf(report, role.role);
  return (
    <button
      type="button"
      role="gridcell"
      class={`square${value === null && shown ? " missing" : ""}${!shown && hasOtherRole(head) ? " changed" : ""}`}
      aria-selected={selected}
      aria-label={`${head.label} ${text}: ${shown ? (value === null ? "no number" : number(value)) : role.rule}`}
      tabIndex={reachable ? 0 : -1}
      data-head={head.label}
      data-value={value ?? undefined}
      data-family={role.family}
      style={{ background, color }}
      data-place={place}
      onClick={open}
      onMouseEnter={point}
      onFocus={point}
    >
      {state.order === "value" && <small>{head.label} </small>}
      <span>{text}</span>
    </button>
  );
}

/** Whether the two runs give a head two names. */
function hasOtherRole(head: Head): boolean {
  return Boolean(head.other) && head.other?.role !== head.role;
}

function Said({ square, shown }: { square: Square; shown: Shown | null }) {
  const { report } = useReport();
  const { head, role, value } = square;
  const others = shown ? report.heads.map((one, at) => (one.group === head.group ? shown.values[at] : null)) : [];
  const counted = others.filter((one) => one !== null).length;
  const size = (one: number | null) => (one === null || !shown?.apart ? one : Math.abs(one)); // a difference is large in either direction
  return (
    <>
      <b>{head.label}</b>
      {shown && (
        <>
          {" "}
          {lowered(shown.title)}: <b>{value === null ? "no number" : shown.apart ? signed(value) : number(value)}</b>
          {value !== null && shown.apart && ` (A ${number(shown.apart.a[square.at] ?? 0)}, B ${number(shown.apart.b[square.at] ?? 0)})`}
          {value !== null && ` (rank ${rankOf(others.map(size), size(value) ?? 0)} of ${counted})`}
        </>
      )}
      <span class="faint"> · {role.rule}</span>
    </>
  );
}

function StatisticChoice() {
  const { report, change, state: { by } } = useReport();
  const tables = [...new Set(report.statistics.map((statistic) => statistic.table))];
  const known = statisticNamed(report, by) ? by : "role";
  return (
    <label class="choice">
      <span>colour by</span>
      <select name="by" value={known} onChange={(event) => change({ by: event.currentTarget.value })}>
        <option value="role">role</option>
        {tables.map((table) => (
          <optgroup key={table} label={table}>
            {report.statistics
              .filter((statistic) => statistic.table === table)
              .map((statistic) => (
                <option key={statistic.name} value={statistic.name}>
                  {statistic.title}
                </option>
              ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}

function runOptions(report: Report, numbers: boolean): [ReportState["run"], string][] {
  const [one, other] = report.runs.map((run) => run.name);
  const two: [ReportState["run"], string][] = [["one", `A: ${one}`], ["other", `B: ${other}`]];
  return numbers ? [...two, ["difference", "B − A"]] : two;
}

function layersOf(report: Report, group: string, shown: Shown | null, state: ReportState): Square[][] {
  const layers = new Map<number, Square[]>();
  report.heads.forEach((head, at) => {
    if (head.group !== group) return;
    const role = (state.run === "other" && head.other) || head;
    const layer = layers.get(head.layer) ?? [];
    layer.push({ at, head, role, value: shown ? shown.values[at] : null });
    layers.set(head.layer, layer);
  });
  const found = [...layers.values()];
  if (state.order === "value") {
    for (const layer of found) {
      layer.sort((a, b) =>
        shown
          ? sizeOf(b, shown) - sizeOf(a, shown)
          : a.role.family.localeCompare(b.role.family) || a.role.role.localeCompare(b.role.role),
      );
    }
  }
  return found;
}

/** What squares are sorted by: the number, or how large a difference is. */
function sizeOf({ value }: Square, shown: Shown): number {
  return value === null ? -Infinity : shown.apart ? Math.abs(value) : value;
}

/** A title inside a sentence; B − A stays as it is. */
function lowered(title: string): string {
  return title.replace(/B − A$/, "").toLowerCase() + (title.endsWith("B − A") ? "B − A" : "");
}
