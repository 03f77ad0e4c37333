// The heads that say most about a text, and what each does in it. Python finds them (src/headscope/lens/telling.py).
import { percent } from "../drawing/canvas";
import type { Attention, Content, State, TellingHead } from "../schema";
import { groupOf, headName } from "./content";

const OPENED = 3; // heads of one layer that a page opens with at the most
const BESIDE = 0.5; // of the best head's focus, that the others of its layer have at least

function tellingOf(content: Content, group: string): TellingHead[] {
  const here = new Set(content.attentions.filter((one) => groupOf(one) === group).flatMap((one) => one.heads.map((head) => headName(one, head))));
  return (content.telling[group] ?? []).filter((one) => here.has(`${group} ${one.layer}.${one.head}`));
}

/** Where a page opens, as in Python: the best head and others of its layer; a view of one head shows the best. */
export function opening(content: Content, group: string, view: State["view"]): { layer: number; heads: number[] } | null {
  const [first, ...others] = tellingOf(content, group);
  if (!first) return null;
  const beside = others.filter((one) => one.layer === first.layer && one.focus >= BESIDE * first.focus).map((one) => one.head);
  return { layer: first.layer, heads: view === "head" ? [first.head, ...beside.slice(0, OPENED - 1)] : [first.head] };
}

/** What a head does: as a run says, else as this text shows; empty where neither does. */
export function roleOf(content: Content, attention: Attention, head: number): string {
  return content.roles[headName(attention, head)] ?? tellingAt(content, attention, head)?.role ?? "";
}

function tellingAt(content: Content, attention: Attention, head: number): TellingHead | undefined {
  return content.telling[groupOf(attention)]?.find((one) => one.layer === attention.layer && one.head === head);
}

const LOOKS: Record<string, string> = {
  induction: "looks at what followed an earlier copy of the token, as if to say it again",
  "duplicate token": "looks at other copies of the token",
  "previous token": "looks at the token before",
  "next token": "looks at the token after",
  "same token": "looks at the token itself",
};

/** One sentence about the best of some heads of a layer; empty where nothing can be said. */
export function seenIn(content: Content, attention: Attention, heads: number[] | null): string {
  const found = heads?.flatMap((head) => tellingAt(content, attention, head) ?? []) ?? [];
  const best = (content.telling[groupOf(attention)] ?? []).find((one) => found.includes(one));
  if (!best) return "";
  const [from, to] = [content.sides[attention.query].tokens[best.query], content.sides[attention.key].tokens[best.key]];
  const link = `most of all from “${from}” to “${to}” (${percent(best.weight)})`;
  const head = `Head ${best.layer}.${best.head}`;
  if (LOOKS[best.role]) return `${head} ${LOOKS[best.role]}: ${percent(best.share)} of what goes beyond sinks, ${link}.`;
  return `${head} looks at single tokens: on average ${percent(best.focus)} of what a token gives goes to one other, ${link}.`;
}
