// What a page carries: the description that Python wrote as JSON (src/headscope/views/pack.py).

/** Where an array lies: in which chunk, at which byte, of which type and shape. */
export interface Place {
  chunk: number;
  offset: number;
  type: "f4" | "u1" | "i1";
  shape: number[];
}

/** How scores (head, query, key) are written; what they are made of. */
export type Encoded =
  | { form: "levels"; at: Place; steps: Place; zeros: Place } // (level - zero) * step
  | { form: "floats"; at: Place }
  | { form: "product"; of: string; factor: Place } // of another measure and a number for each key
  | { form: "same"; as: string };

/** Vectors (head or group, token, d_head). */
export type Vectors = { form: "levels"; at: Place; steps: Place } | { form: "floats"; at: Place };

export interface Neurons {
  queries: Vectors;
  keys: Vectors; // fewer than heads where heads share them
  scaling: number;
  exact: boolean; // softmax(scaling * q.k) over the visible keys is the weight
  why: string; // where it is not: what stands between
}

export interface Side {
  tokens: string[];
  raw: string[];
  special: boolean[];
  words: string[];
  wordOf: number[];
  segments: number[];
}

export interface Attention {
  stack: string;
  kind: string;
  layer: number;
  heads: number[]; // the model's own numbers
  query: string; // the side that attends
  key: string;
  scores: Record<string, Encoded>;
  valueNorm: Place | null;
  neurons: Neurons | null;
}

export interface Measure {
  name: string;
  title: string;
  about: string;
  joint: boolean; // one map for all heads together
  signed: boolean;
}

/** A number for every head, out of a run; by `encoder self 3.1`. */
export interface HeadStatistic {
  name: string;
  title: string;
  about: string;
  values: Record<string, number>;
}

/** The views of one text. */
export interface Content {
  title: string;
  sides: Record<string, Side>;
  attentions: Attention[];
  measures: Measure[];
  statistics: HeadStatistic[];
  error: number; // the largest, as a part of the largest score of its head
  exact: boolean;
}

export interface ViewPage extends Content {
  kind: "view";
  format: number;
  state: string;
}

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
