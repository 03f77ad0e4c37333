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

/** The state, kept in the address. It is written there at once: later, Back might already have gone to another entry. */
export function useLiveAddress(): [LiveState, ChangeLive] {
  const [state, setState] = useState<LiveState>(() => parse(location.hash));
  const current = useRef(state);
  useEffect(() => {
    const listen = () => {
      current.current = parse(location.hash);
      setState(current.current);
    };
    window.addEventListener("popstate", listen);
    return () => window.removeEventListener("popstate", listen);
  }, []);
  const change = useCallback<ChangeLive>((changes) => {
    const before = current.current;
    current.current = { ...before, ...changes };
    keepInAddress(before, current.current);
    setState(current.current);
  }, []);
  return [state, change];
}

function keepInAddress(before: LiveState, state: LiveState): void {
  const fragment = format(state);
  if (fragment === format(before)) return;
  const address = `${location.pathname}${fragment && `#${fragment}`}`;
  try {
    if (PLACES.some((name) => state[name] !== before[name])) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
  } catch {
    // Some browsers take only so many changes in a minute, and a slider makes many; the next one takes its place.
  }
}
