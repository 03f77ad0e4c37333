// Heads taken away one after the other, by each number: what is lost against the share that is gone; random orders as a band.
import { useMemo, useState } from "preact/hooks";
import { percent } from "../drawing/canvas";
import { linear } from "../drawing/scale";
import { useReport } from "../report/shown";
import type { League } from "../schema";
import { Axes, type Frame } from "./Axes";
import { numberIn, type Row, type Shown, useRecords } from "./records";
import { titleOf } from "./said";

type Curve = [share: number, lost: number][];
const BY_LOT = /^random \d+$/;
const OWN = "effect "; // of the single effects: "effect kl"

export function Curves({ league, shown }: { league: League; shown: Shown }) {
  const { change } = useReport();
  const [pointed, setPointed] = useState<string | null>(null);
  const rows = useRecords("league_curves");
  const orders = useRecords("league_orders") ?? [];
  const effect = rows?.[0]?.[shown.effect] === undefined ? String(orders[0]?.effect ?? "") : shown.effect;
  const curves = useMemo(() => curvesOf(rows ?? [], effect), [rows, effect]);
  if (curves.size === 0) return null;
  const band = bandOf([...curves].filter(([name]) => BY_LOT.test(name)).map(([, curve]) => curve));
  const numbers = [...curves.keys()].filter((name) => !BY_LOT.test(name) && !name.startsWith(OWN));
  const own = [...curves.keys()].find((name) => name === `${OWN}${effect}`) ?? [...curves.keys()].find((name) => name.startsWith(OWN));
  const named = pointed ?? shown.number;
  const lost = [...curves.values()].flat().map(([, value]) => value);
  const upward = linear(Math.min(0, ...lost), Math.max(...lost) || 1, 5);
  const titles: [string, string] = ["Share of heads that are gone", titleOf(league.effects, effect)];
  const order = orders.find((row) => row.order === named);
  const bearable = orders[0]?.effect === effect ? numberIn(orders[0], "bearable") : null;
  return (
    <section class="curves" aria-labelledby="curves-title">
      <h2 id="curves-title">Heads that go one after the other</h2>
      <p class="about">
        Those first that a number calls idle; with {league.ways.find((way) => way.name === league.way)?.title ?? league.way}.
      </p>
      <Axes label={`${titles[1]} against the share of heads that are gone`} across={linear(0, 1, 5)} upward={upward} titles={titles} leave={() => setPointed(null)}>
        {({ x, y }) => (
          <>
            {band.length > 0 && <path class="band" d={area(band, { x, y })} />}
            {bearable !== null && <line class="bearable" x1={x(0)} x2={x(1)} y1={y(bearable)} y2={y(bearable)} />}
            {numbers.map((name) => (
              <path key={name} class={name === named ? "curve named" : "curve"} d={line(curves.get(name) ?? [], { x, y })} />
            ))}
            {own && <path class="curve own" d={line(curves.get(own) ?? [], { x, y })} />}
            <path class="curve named" d={line(curves.get(named) ?? [], { x, y })} />
            {numbers.map((name) => (
              <path
                key={name}
                class="curve-room"
                role="button"
                tabIndex={-1}
                aria-label={titleOf(league.numbers, name)}
                data-number={name}
                d={line(curves.get(name) ?? [], { x, y })}
                onMouseEnter={() => setPointed(name)}
                onClick={() => change({ number: name })}
              />
            ))}
          </>
        )}
      </Axes>
      <ul class="curves-legend">
        <li>
          <Swatch kind="named" /> by {lowered(titleOf(league.numbers, named))}
        </li>
        {own && (
          <li>
            <Swatch kind="own" /> by the effects themselves
          </li>
        )}
        <li>
          <Swatch kind="" /> by other numbers
        </li>
        {band.length > 0 && (
          <li>
            <i class="swatch band" /> random orders, least to most
          </li>
        )}
        {bearable !== null && (
          <li>
            <Swatch kind="bearable" /> {bearable}, called bearable
          </li>
        )}
      </ul>
      {order && <p class="reading">{saidOf(order, orders.find((row) => row.order === "random"), titleOf(league.effects, String(order.effect)))}</p>}
    </section>
  );
}

function Swatch({ kind }: { kind: string }) {
  return (
    <svg width={22} height={8} aria-hidden="true">
      <line class={kind === "bearable" ? kind : `curve ${kind}`} x1={0} x2={22} y1={4} y2={4} />
    </svg>
  );
}

function saidOf(order: Row, random: Row | undefined, effect: string): string {
  const share = numberIn(order, "within");
  const [lot, against] = [random ? numberIn(random, "within") : null, numberIn(order, "against_random")];
  const can = share === null ? "" : `${percent(share)} of the heads can go before ${lowered(effect)} is above ${order.bearable}`;
  const said = lot === null ? can : `${can} (${percent(lot)} by lot)`;
  return against === null ? `${said}.` : `${said}; the area under the curve is ${against.toFixed(2)} of that of random orders.`;
}

/** By order; nothing is lost when nothing is gone. */
export function curvesOf(rows: Row[], effect: string): Map<string, Curve> {
  const found = new Map<string, Curve>();
  for (const row of rows) {
    const [share, lost] = [numberIn(row, "share"), numberIn(row, effect)];
    if (share === null || lost === null) continue;
    const name = String(row.order);
    const curve = found.get(name) ?? [[0, 0]];
    curve.push([share, lost]);
    found.set(name, curve);
  }
  return found;
}

/** At each share the least and the most of some curves, which have the same shares. */
export function bandOf(curves: Curve[]): [share: number, least: number, most: number][] {
  if (curves.length === 0) return [];
  return curves[0].map(([share], place) => {
    const lost = curves.map((curve) => curve[place][1]);
    return [share, Math.min(...lost), Math.max(...lost)];
  });
}

type Places = Pick<Frame, "x" | "y">;

function line(curve: Curve, { x, y }: Places): string {
  return curve.map(([share, lost], place) => `${place ? "L" : "M"}${x(share).toFixed(1)} ${y(lost).toFixed(1)}`).join("");
}

function area(band: [number, number, number][], places: Places): string {
  const [up, down] = [band.map(([share, , most]): [number, number] => [share, most]), band.map(([share, least]): [number, number] => [share, least])];
  return `${line(up, places)}${line(down.reverse(), places).replace("M", "L")}Z`;
}

function lowered(title: string): string {
  return /^[A-Z]{2}/.test(title) ? title : title[0].toLowerCase() + title.slice(1);
}
