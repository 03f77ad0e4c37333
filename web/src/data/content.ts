// What the parts of a content are called, and what is known of them.
import type { Attention, Content, State } from "../schema";

export function groupOf(attention: Attention): string {
  return `${attention.stack} ${attention.kind}`;
}

export function groupsOf(content: Content): string[] {
  return [...new Set(content.attentions.map(groupOf))];
}

/** `encoder self 3.1`: how a head is named in statistics. */
export function headName(attention: Attention, head: number): string {
  return `${groupOf(attention)} ${attention.layer}.${head}`;
}

/** "12 layers"; "6 + 6 layers (encoder, decoder)": self and cross attention of one layer are no two layers. */
export function layersSaid(attentions: { stack: string; layers: number[] }[]): string {
  const stacks = [...new Set(attentions.map((one) => one.stack))];
  const counts = stacks.map((stack) => new Set(attentions.filter((one) => one.stack === stack).flatMap((one) => one.layers)).size);
  const said = `${counts.join(" + ")} ${counts.length === 1 && counts[0] === 1 ? "layer" : "layers"}`;
  return stacks.length > 1 ? `${said} (${stacks.join(", ")})` : said;
}

/** Whether a measure has one map for all heads of this attention together. */
export function isJoint(content: Content, attention: Attention, measure: string): boolean {
  if (content.measures.find((one) => one.name === measure)?.joint) return true;
  const encoded = (attention.parts?.[0] ?? attention).scores[measure];
  const maps = encoded && "at" in encoded ? encoded.at.shape[0] : attention.heads.length;
  return maps < attention.heads.length;
}

/** Whether what is shown is the difference of two, with signs. */
export function isDifference(content: Content, state: Pick<State, "of">): boolean {
  return content.compared !== null && state.of === "";
}

/** What scores of a measure are called: renormalised, they are shares of what is left of their row. */
export function scoreTitle(content: Content, { sinks }: Pick<State, "sinks">, measure: string): string {
  const title = content.measures.find((one) => one.name === measure)?.title ?? measure;
  return sinks === "renormalised" ? `${title} share` : title;
}

/** The measure as it is written before a number. */
export function measureTitle(content: Content, state: Pick<State, "measure" | "of" | "sinks">): string {
  const title = scoreTitle(content, state, state.measure);
  return isDifference(content, state) ? `${title} B − A` : title;
}
