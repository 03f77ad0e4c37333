// Contents to test with: scores of a few tokens, as bytes of a chunk like those that Python writes.
import { deflateSync } from "node:zlib";
import { Chunks } from "../src/data/chunks";
import { groupOf } from "../src/data/content";
import { Scores } from "../src/data/scores";
import type { Attention, Content, Encoded, Place, Side } from "../src/schema";

/** A side of plain tokens: those in brackets are special, ##pieces belong to the word before, and | begins a second text. */
export function sideOf(text: string): Side {
  const side: Side = { tokens: [], raw: [], special: [], words: [], word_of: [], segments: [], joint: null };
  text.split(" | ").forEach((part, segment) => {
    for (const token of part.split(" ")) {
      if (token.startsWith("##")) side.words[side.words.length - 1] += token.slice(2);
      else side.words.push(token);
      side.tokens.push(token.replace("##", ""));
      side.raw.push(token);
      side.special.push(token.startsWith("["));
      side.word_of.push(side.words.length - 1);
      side.segments.push(segment);
    }
  });
  return side;
}

/** Arrays one after another, as a chunk has them. */
export class Writer {
  private bytes: number[] = [];

  floats(values: number[], shape: number[]): Place {
    return this.add(new Uint8Array(Float32Array.from(values).buffer), "f4", shape);
  }

  levels(values: number[], shape: number[], type: "u1" | "i1" = "u1"): Place {
    return this.add(Uint8Array.from(values), type, shape);
  }

  get chunks(): Chunks {
    const packed = deflateSync(Uint8Array.from(this.bytes)).toString("base64");
    return new Chunks(() => packed);
  }

  private add(bytes: Uint8Array, type: Place["type"], shape: number[]): Place {
    while (type === "f4" && this.bytes.length % 4) this.bytes.push(0);
    const place = { chunk: 0, offset: this.bytes.length, type, shape };
    this.bytes.push(...bytes);
    return place;
  }
}

export function attentionOf(scores: Record<string, Encoded>, heads: number, more: Partial<Attention> = {}): Attention {
  return {
    stack: "encoder",
    kind: "self",
    layer: 0,
    heads: Array.from({ length: heads }, (_, head) => head),
    query: "source",
    key: "source",
    scores,
    value_norm: null,
    neurons: null,
    parts: null,
    ...more,
  };
}

export function contentOf(side: Side, attentions: Attention[], more: Partial<Content> = {}): Content {
  const names = [...new Set(attentions.flatMap((attention) => Object.keys(attention.scores)))];
  return {
    format: 1,
    title: "a title",
    model: "a model",
    sides: { source: side },
    sinks: Object.fromEntries(attentions.map((one) => [groupOf(one), side.special])),
    telling: {},
    roles: {},
    attentions,
    measures: names.map((name) => ({ name, title: name, about: "", joint: name === "joint_norm", signed: name === "effective" })),
    statistics: [],
    error: 0,
    exact: true,
    compared: null,
    ...more,
  };
}

/** A text whose heads have these scores (query, key), and the scores. */
export async function textOf(side: Side, ...heads: number[][]): Promise<{ content: Content; scores: Scores }> {
  const [writer, count] = [new Writer(), side.tokens.length];
  const attention = attentionOf({ weight: { form: "floats", at: writer.floats(heads.flat(), [heads.length, count, count]) } }, heads.length);
  return { content: contentOf(side, [attention]), scores: await Scores.load(attention, writer.chunks, count, count) };
}
