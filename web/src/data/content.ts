// What the parts of a content are called, and what is known of them.
import type { Attention, Content } from "../schema";

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

/** Whether a measure has one map for all heads of this attention together. */
export function isJoint(content: Content, attention: Attention, measure: string): boolean {
  if (content.measures.find((one) => one.name === measure)?.joint) return true;
  const encoded = attention.scores[measure];
  const maps = encoded && "at" in encoded ? encoded.at.shape[0] : attention.heads.length;
  return maps < attention.heads.length;
}
