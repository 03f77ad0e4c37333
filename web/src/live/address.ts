// What the live page shows, in its address: the choices of the views, the texts, and what of the run is open.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { format as formatReport, parse as parseReport, type ReportState } from "../report/address";
import { format as formatViews, parse as parseViews, type State } from "../state";

/** The texts of one reading; empty where there is none. */
export interface Texts {
  text: string;
  pair: string;
  target: string;
}

interface OwnState {
  part: string; // text, or a part of the run's report
  model: string; // empty: the first
  text: string;
  pair: string;
  target: string;
  truncate: string; // "1": long texts are cut off
  beside: string; // "1": a second text stands beside the first
  besideText: string;
  besidePair: string;
  besideTarget: string;
  besideKeep: string; // tokens kept in the second text, as "q1,k2"
}

const USUAL: OwnState = {
  part: "text",
  model: "",
  text: "",
  pair: "",
  target: "",
  truncate: "",
  beside: "",
  besideText: "",
  besidePair: "",
  besideTarget: "",
  besideKeep: "",
};
const NAMES = Object.keys(USUAL) as (keyof OwnState)[];

// With one of these changed it is another page, to which the browser's Back returns.
const PLACES = ["part", "model", "text", "pair", "target", "truncate", "besideText", "besidePair", "besideTarget"] as const;

export type LiveState = State & ReportState & OwnState; // views and report share attention, sort and theme
export type ChangeLive = (changes: Partial<LiveState>) => void;

export function parse(fragment: string): LiveState {
  const own = { ...USUAL };
  for (const [name, text] of new URLSearchParams(fragment.replace(/^#/, ""))) {
    if (name in USUAL) own[name as keyof OwnState] = text;
  }
  return { ...parseReport(fragment), ...parseViews(fragment), ...own };
}

export function format(state: LiveState): string {
  const own = NAMES.filter((name) => state[name] !== USUAL[name]).map((name) => `${name}=${encodeURIComponent(state[name])}`);
  const report = formatReport({ ...state, part: "heads", attention: "", sort: "", theme: "" });
  return [...own, formatViews(state), report].filter(Boolean).join("&");
}

export function textsOf(state: LiveState): Texts {
  return { text: state.text, pair: state.pair, target: state.target };
}

export function besideOf(state: LiveState): Texts {
  return { text: state.besideText, pair: state.besidePair, target: state.besideTarget };
}

export function useLiveAddress(): [LiveState, ChangeLive] {
  const [state, setState] = useState<LiveState>(() => parse(location.hash));
  const before = useRef(state);
  useEffect(() => {
    const listen = () => setState(parse(location.hash));
    window.addEventListener("popstate", listen);
    return () => window.removeEventListener("popstate", listen);
  }, []);
  const change = useCallback<ChangeLive>((changes) => setState((old) => ({ ...old, ...changes })), []);
  useEffect(() => {
    const fragment = format(state);
    const moved = PLACES.some((name) => state[name] !== before.current[name]);
    before.current = state;
    if (fragment === format(parse(location.hash))) return; // by Back, or by a link
    const address = `${location.pathname}${fragment && `#${fragment}`}`;
    if (moved) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
  }, [state]);
  return [state, change];
}
