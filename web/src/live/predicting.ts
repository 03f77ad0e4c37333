// What is asked about a text beside its attention, and what can be done with the answer.
import type { Guess, ModelInfo, PredictRequest } from "../schema";
import type { Texts } from "./address";
import { inRequest, NOBODY, type Out } from "./out";

/** Null where there is nothing to ask. A target changes nothing about what the model would write. */
export function predictionOf(texts: Texts, model: ModelInfo, truncate: boolean, beside: string, out: Out = NOBODY): PredictRequest | null {
  if (!texts.text.trim()) return null;
  return {
    model: model.name,
    text: texts.text,
    ...(!model.encoder_decoder && texts.pair.trim() && { pair: texts.pair }),
    ...(model.compares && beside.trim() && { beside }),
    ...(truncate && { truncate: true }),
    ...inRequest(out),
  };
}

/** The texts with a guess in its place. */
export function withGuess(texts: Texts, segment: "text" | "pair", guess: Guess): Texts {
  return { ...texts, [segment]: guess.reads };
}

/** The text without one of its longest words, the middle one, and the mask in its place. */
export function withMask(text: string, mask: string): string {
  const words = [...text.matchAll(/[\p{L}\p{N}]+/gu)];
  const longest = Math.max(...words.map(([word]) => word.length));
  const among = words.filter(([word]) => word.length === longest);
  const chosen = among[Math.floor((among.length - 1) / 2)];
  return chosen ? text.slice(0, chosen.index) + mask + text.slice(chosen.index + chosen[0].length) : text;
}
