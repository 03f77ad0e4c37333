// Scores of one attention as numbers, made from the bytes of its chunk when they are asked for.

import type { Attention, Encoded, Part, Place, Vectors } from "../schema";
import { arrayAt, type Chunks } from "./chunks";

export class Scores {
  private readonly made = new Map<string, Float32Array>();

  private constructor(
    readonly attention: Attention,
    private readonly part: Part, // the attention itself, or one of the two that a difference is made of
    private readonly buffer: ArrayBuffer,
    readonly queries: number,
    readonly keys: number,
    readonly parts: Scores[] = [], // of a difference: A and B, between their own tokens
  ) {}

  static async load(attention: Attention, chunks: Chunks, queries: number, keys: number): Promise<Scores> {
    const load = (part: Part) => chunks.load(placeOf(part)?.chunk ?? 0);
    if (!attention.parts) return new Scores(attention, attention, await load(attention), queries, keys);
    const parts = attention.parts.map(async (part) => {
      const [, rows, columns] = placeOf(part)?.shape ?? [0, 0, 0];
      return new Scores(attention, part, await load(part), rows, columns);
    });
    return new Scores(attention, attention, new ArrayBuffer(0), queries, keys, await Promise.all(parts));
  }

  has(measure: string): boolean {
    return measure in this.part.scores;
  }

  /** (query, key) of the head in place `index` of this attention's heads; a joint measure has one map for all. */
  head(measure: string, index: number): Float32Array {
    const encoded = this.part.scores[measure];
    if (!encoded) return new Float32Array(this.queries * this.keys);
    const key = `${measure} ${index}`;
    let found = this.made.get(key);
    if (!found) {
      found = this.decode(encoded, index);
      // Some maps are kept, not all: 144 maps of 512 tokens as floats would be 150 MB, 3 of 4,096 are 200 MB.
      const most = Math.max(3, Math.min(24, Math.floor(50e6 / (this.queries * this.keys))));
      if (this.made.size >= most) this.made.delete(this.made.keys().next().value as string);
      this.made.set(key, found);
    }
    return found;
  }

  private decode(encoded: Encoded, index: number): Float32Array {
    const { queries, keys, buffer } = this;
    const size = queries * keys;
    switch (encoded.form) {
      case "difference": // is made of both parts, between the tokens of both: see maps.ts
        return new Float32Array(size);
      case "same":
        return this.head(encoded.of, index);
      case "floats": {
        const head = Math.min(index, encoded.at.shape[0] - 1);
        return (arrayAt(buffer, encoded.at) as Float32Array).subarray(head * size, (head + 1) * size);
      }
      case "levels": {
        const head = Math.min(index, encoded.at.shape[0] - 1);
        const levels = arrayAt(buffer, encoded.at).subarray(head * size, (head + 1) * size);
        const perKey = encoded.steps.shape[1];
        const steps = arrayAt(buffer, encoded.steps).subarray(head * perKey, (head + 1) * perKey);
        const zero = arrayAt(buffer, encoded.zeros)[head];
        const scores = new Float32Array(size);
        for (let i = 0, row = 0; row < queries; row++) {
          for (let column = 0; column < keys; column++, i++) {
            scores[i] = (levels[i] - zero) * steps[perKey === 1 ? 0 : column];
          }
        }
        return scores;
      }
      case "product": {
        const weights = this.head(encoded.of, index);
        const factors = arrayAt(buffer, encoded.factor).subarray(index * keys, (index + 1) * keys);
        const scores = new Float32Array(size);
        for (let i = 0, row = 0; row < queries; row++) {
          for (let column = 0; column < keys; column++, i++) scores[i] = weights[i] * factors[column];
        }
        return scores;
      }
    }
  }

  /** How far off a head's scores for each key may be, as bytes: half a level; 0 where they are exact. */
  bounds(measure: string, index: number): Float32Array {
    const encoded = this.part.scores[measure];
    const none = new Float32Array(this.keys);
    if (encoded?.form === "same") return this.bounds(encoded.of, index);
    if (encoded?.form === "product") {
      const factors = arrayAt(this.buffer, encoded.factor).subarray(index * this.keys, (index + 1) * this.keys);
      return this.bounds(encoded.of, index).map((bound, key) => bound * factors[key]);
    }
    if (encoded?.form !== "levels") return none;
    const [heads, perKey] = encoded.steps.shape;
    const first = Math.min(index, heads - 1) * perKey; // a joint measure has one map for all
    const steps = arrayAt(this.buffer, encoded.steps);
    return none.map((_, key) => steps[first + (perKey === 1 ? 0 : key)] * 0.5001);
  }

  /** ||f(x_j)|| of every key, where it is known. */
  valueNorm(index: number): Float32Array | null {
    const place = this.part.value_norm;
    if (!place) return null;
    return (arrayAt(this.buffer, place) as Float32Array).subarray(index * this.keys, (index + 1) * this.keys);
  }

  /** The query vectors (query, d_head) of a head. */
  queryVectors(index: number): Float32Array {
    const neurons = this.attention.neurons;
    return neurons ? this.vectors(neurons.queries, index) : new Float32Array(0);
  }

  /** The key vectors (key, d_head) of a head; heads of one group share them. */
  keyVectors(index: number): Float32Array {
    const neurons = this.attention.neurons;
    if (!neurons) return new Float32Array(0);
    const shared = this.attention.heads.length / neurons.keys.at.shape[0];
    return this.vectors(neurons.keys, Math.floor(index / shared));
  }

  private vectors(vectors: Vectors, index: number): Float32Array {
    const [, tokens, size] = vectors.at.shape;
    const raw = arrayAt(this.buffer, vectors.at).subarray(index * tokens * size, (index + 1) * tokens * size);
    if (vectors.form === "floats") return raw as Float32Array;
    const step = arrayAt(this.buffer, vectors.steps)[index];
    return Float32Array.from(raw, (level) => level * step);
  }
}

/** Where the scores of a measure are that has bytes of its own. */
function placeOf(part: Part): Place | null {
  for (const encoded of Object.values(part.scores)) if (encoded.form === "levels" || encoded.form === "floats") return encoded.at;
  return null;
}
