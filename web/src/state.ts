// Every choice that a reader can make, and the same as the fragment of an address (src/headscope/views/state.py).

export interface State {
  view: string;
  attention: string;
  layer: number | null;
  heads: number[] | null; // the model's own numbers; null: all in the head view, the first elsewhere
  measure: string;
  unit: string;
  pairs: string;
  least: number;
  top: number;
  special: boolean;
  keep: string[];
  compare: string;
  sort: string;
  above: number | null; // the model view: only heads whose statistic is at least this
  theme: string;
}

export const USUAL: State = {
  view: "head",
  attention: "",
  layer: null,
  heads: null,
  measure: "weight",
  unit: "pieces",
  pairs: "all",
  least: 0,
  top: 0,
  special: true,
  keep: [],
  compare: "",
  sort: "",
  above: null,
  theme: "",
};

export type Change = (changes: Partial<State>) => void;

export function parse(fragment: string, usual: State = USUAL): State {
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const read: Record<string, unknown> = { ...usual };
  for (const [name, text] of given) {
    if (!(name in USUAL)) continue;
    const number = Number(text);
    if (name === "layer" || name === "least" || name === "top") {
      if (Number.isFinite(number) && number >= 0) read[name] = number;
    } else if (name === "above") {
      if (text !== "" && Number.isFinite(number)) read[name] = number;
    } else if (name === "special") {
      read[name] = text !== "0";
    } else if (name === "heads") {
      read[name] = text === "" ? [] : text.split(",").map(Number).filter(Number.isInteger);
    } else if (name === "keep") {
      read[name] = text.split(",").filter((token) => /^[qk]\d+$/.test(token));
    } else {
      read[name] = text;
    }
  }
  return read as unknown as State;
}

export function format(state: State): string {
  const parts: string[] = [];
  for (const name of Object.keys(USUAL) as (keyof State)[]) {
    const value = state[name];
    if (String(value) === String(USUAL[name]) && (value === null) === (USUAL[name] === null)) continue;
    const text = typeof value === "boolean" ? String(Number(value)) : String(value ?? "");
    parts.push(`${name}=${Array.isArray(value) ? text : encodeURIComponent(text)}`);
  }
  return parts.join("&");
}
