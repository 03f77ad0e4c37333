// What the server is asked for one picture: the usual measures at once, the others when they are chosen.

import type { ModelInfo, ReadRequest } from "../schema";
import type { State } from "../state";
import type { Texts } from "./address";
import { inRequest, NOBODY, type Out } from "./out";

export interface Asked {
  model: string;
  text: string;
  pair: string;
  target: string;
  truncate: boolean;
  extra: string[]; // measures beyond the usual ones
  neurons: boolean;
  out: Out; // heads that the picture is without
}

/** Null where there is no text yet. */
export function askedOf(texts: Texts, model: ModelInfo, truncate: boolean, state: State, out = NOBODY): Asked | null {
  if (!texts.text.trim()) return null;
  const chosen = [state.measure, state.compare];
  return {
    model: model.name,
    text: texts.text,
    pair: model.encoder_decoder ? "" : texts.pair.trim() && texts.pair,
    target: model.encoder_decoder ? texts.target.trim() && texts.target : "",
    truncate,
    extra: moreMeasures(model).map((measure) => measure.name).filter((name) => chosen.includes(name)),
    neurons: state.view === "neuron",
    out,
  };
}

/** The measures that an answer has only if they are asked for. */
export function moreMeasures(model: ModelInfo): ModelInfo["measures"] {
  return model.measures.filter((measure) => !measure.usual);
}

/** Both, where they are of the same text: what was fetched once stays. */
export function together(asked: Asked, before: Asked | null): Asked {
  if (!before || !sameText(asked, before)) return asked;
  return {
    ...asked,
    extra: [...new Set([...before.extra, ...asked.extra])],
    neurons: before.neurons || asked.neurons,
  };
}

/** Whether an answer to `before` has all that is asked now. */
export function isAnswered(asked: Asked, before: Asked): boolean {
  return sameText(asked, before) && sameHeads(asked.out, before.out) && asked.extra.every((name) => before.extra.includes(name)) && (before.neurons || !asked.neurons);
}

export function requestOf(asked: Asked, model: ModelInfo): ReadRequest {
  const usual = model.measures.filter((measure) => measure.usual).map((measure) => measure.name);
  return {
    model: asked.model,
    text: asked.text,
    ...(asked.pair && { pair: asked.pair }),
    ...(asked.target && { target: asked.target }),
    ...(asked.extra.length > 0 && { measures: [...usual, ...asked.extra] }),
    ...(asked.neurons && { neurons: true }),
    ...(asked.truncate && { truncate: true }),
    ...inRequest(asked.out),
  };
}

/** Whether both are about the same texts, read by the same model. */
export function sameText(one: Asked, other: Asked): boolean {
  return (["model", "text", "pair", "target", "truncate"] as const).every((name) => one[name] === other[name]);
}

function sameHeads(one: Out, other: Out): boolean {
  return JSON.stringify(inRequest(one)) === JSON.stringify(inRequest(other));
}
