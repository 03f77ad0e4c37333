// Every choice that a reader of the views can make, in the words of their address (src/headscope/views/state.py).
import { type Fields, list, number, oneOf, parse as read, text, format as written } from "./fields";
import { Level, Of, Pairs, Scale, Sinks, Small, type State, Theme, USUAL, View } from "./schema";

export type { State };
export type Change = (changes: Partial<State>) => void;

export const TOKENS = (token: string) => (/^[qk]\d+$/.test(token) ? token : undefined);

export const FIELDS: Fields<State> = {
  view: oneOf(View, USUAL.view),
  attention: text(USUAL.attention),
  layer: number(USUAL.layer),
  heads: list(USUAL.heads, (head) => (/^\d+$/.test(head) ? Number(head) : undefined)),
  measure: text(USUAL.measure),
  level: oneOf(Level, USUAL.level),
  pairs: oneOf(Pairs, USUAL.pairs),
  least: number(USUAL.least),
  top: number(USUAL.top),
  sinks: oneOf(Sinks, USUAL.sinks),
  keep: list(USUAL.keep, TOKENS),
  compare: text(USUAL.compare),
  of: oneOf(Of, USUAL.of),
  scale: oneOf(Scale, USUAL.scale),
  small: oneOf(Small, USUAL.small),
  sort: text(USUAL.sort),
  above: number(USUAL.above, -Infinity),
  theme: oneOf(Theme, USUAL.theme),
};

export const parse = (fragment: string): State => read(FIELDS, fragment);
export const format = (state: State): string => written(FIELDS, state);

// What is moved, typed or marked on the way is no step that Back would take back; layers and heads are gone through.
export const PASSING: readonly (keyof State)[] = ["keep", "least", "top", "above", "theme"];
export const ONE_BY_ONE: readonly (keyof State)[] = ["layer", "heads"];
