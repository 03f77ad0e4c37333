// From numbers to places along an axis, and the numbers that are written beside it.
import { number } from "./canvas";

export interface Scale {
  place: (value: number) => number; // 0 to 1
  ticks: number[];
  written: (tick: number) => string;
  log: boolean;
}

const SPREAD = 30; // times the least: positive numbers that spread more are on a logarithmic axis

const ROOM = 0.04; // of the axis, at either end

/** An axis for some numbers, with a little room at its ends; `ticks` is about how many can be written. */
export function scaleOf(values: number[], ticks: number): Scale {
  if (values.length === 0) return linear(0, 1, ticks);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (least === most) return linear(least - 0.5, most + 0.5, ticks);
  if (least > 0 && most / least > SPREAD) return logarithmic(least * (least / most) ** ROOM, most * (most / least) ** ROOM, ticks);
  return linear(least - ROOM * (most - least), most + ROOM * (most - least), ticks);
}

/** An axis with these ends exactly. */
export function linear(least: number, most: number, ticks: number): Scale {
  const step = stepOf((most - least) / Math.max(1, ticks));
  const first = Math.ceil(least / step - 1e-9);
  const count = Math.floor(most / step + 1e-9) - first + 1;
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  return {
    place: (value) => (value - least) / (most - least),
    ticks: Array.from({ length: Math.max(0, count) }, (_, place) => (first + place) * step),
    written: (tick) => (decimals > 4 ? number(tick) : tick.toFixed(decimals)).replace("-", "−"),
    log: false,
  };
}

function logarithmic(least: number, most: number, ticks: number): Scale {
  const [from, to] = [Math.log10(least), Math.log10(most)];
  const every = Math.max(1, Math.ceil((to - from) / Math.max(1, ticks)));
  const powers = Array.from({ length: Math.floor(to) - Math.ceil(from) + 1 }, (_, place) => Math.ceil(from) + place);
  return {
    place: (value) => (Math.log10(value) - from) / (to - from),
    ticks: powers.filter((power) => power % every === 0).map((power) => 10 ** power),
    written: power,
    log: true,
  };
}

/** 1, 2 or 5 times a power of ten, not below what is asked for. */
function stepOf(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((times) => times * power >= least * (1 - 1e-9)) ?? 10);
}

function power(tick: number): string {
  const of = Math.round(Math.log10(tick));
  return of >= -4 && of <= 4 ? String(Number(tick.toPrecision(1))) : `10${[...String(of)].map((sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]).join("")}`;
}
