// Sinks: tokens that heads look at when they have nothing to do. Python finds them (src/headscope/lens/sinks.py).
import type { Attention, Content, Level, Of } from "../schema";
import type { State } from "../state";
import { type Axis, axisOf } from "./axis";
import { groupOf } from "./content";

/** The rows and columns of an attention's maps, and which of them are left without sinks. */
export function axesWithin(content: Content, attention: Attention, level: Level, of: Of = ""): { rows: Axis; columns: Axis } {
  const rows = axisOf(content.sides[attention.query], level, of);
  const columns = axisOf(content.sides[attention.key], level, of);
  const sinks = sinksOf(content, attention);
  const left = columns.members.map((pieces) => !pieces.some((piece) => sinks[piece])); // a word is one if a piece of it is
  const first = left.indexOf(true); // rows before it see nothing but sinks
  const before = isCausal(attention) ? (first < 0 ? left.length : first) : 0;
  return {
    rows: { ...rows, left: rows.special.map((special, place) => !special && place >= before) },
    columns: { ...columns, left },
  };
}

/** Which tokens that are attended to are sinks. */
export function sinksOf(content: Content, attention: Attention): boolean[] {
  return content.sinks[groupOf(attention)] ?? content.sides[attention.key].special;
}

/** Whether there is anything to leave out. */
export function hasSinks(content: Content, attention: Attention): boolean {
  return sinksOf(content, attention).includes(true) || content.sides[attention.query].special.includes(true);
}

/** The labels of an attention's sinks, each once, with the place of those that are not special. */
export function sinksNamed(content: Content, attention: Attention): string[] {
  const { tokens, special } = content.sides[attention.key];
  const named = sinksOf(content, attention).flatMap((sink, place) => (sink ? [special[place] ? tokens[place] : `${tokens[place]} (${place})`] : []));
  return [...new Set(named)];
}

/** Where nothing was chosen, as in Python: hidden in a causal attention, unless nothing or a kept token would not be left. */
export function usualSinks(content: Content, attention: Attention, { level, keep }: Pick<State, "level" | "keep">): State["sinks"] {
  if (!isCausal(attention)) return "shown";
  const { rows, columns } = axesWithin(content, attention, level);
  const isLeft = (name: string) => (name[0] === "q" ? rows : columns).left[Number(name.slice(1))] ?? true;
  return rows.left.includes(true) && columns.left.includes(true) && keep.every(isLeft) ? "hidden" : "shown";
}

function isCausal(attention: Attention): boolean {
  return groupOf(attention) === "decoder self";
}
