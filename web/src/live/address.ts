// What the live page shows, in its address: the choices of the views, the texts, and what of the run is open.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type Fields, flag, list, oneOf, parse as read, text, format as written } from "../fields";
import { PARTS, FIELDS as REPORT_FIELDS, type ReportState } from "../report/address";
import { type State, TOKENS, FIELDS as VIEW_FIELDS } from "../state";

/** The texts of one reading; empty where there is none. */
export interface Texts {
  text: string;
  pair: string;
  target: string;
}

interface OwnState extends Texts {
  part: ReportState["part"];
  model: string; // empty: the first
  truncate: boolean; // long texts are cut off
  beside: boolean; // a second text stands beside the first
  besideText: string;
  besidePair: string;
  besideTarget: string;
  besideKeep: string[]; // tokens kept in the second text
}

export type LiveState = State & ReportState & OwnState; // views and report share attention, sort and theme
export type ChangeLive = (changes: Partial<LiveState>) => void;

const OWN: Fields<OwnState> = {
  part: oneOf(["text", ...PARTS], "text"),
  model: text(),
  text: text(),
  pair: text(),
  target: text(),
  truncate: flag(false),
  beside: flag(false),
  besideText: text(),
  besidePair: text(),
  besideTarget: text(),
  besideKeep: list<string, string[]>([], TOKENS),
};
const FIELDS: Fields<LiveState> = { ...OWN, ...VIEW_FIELDS, ...REPORT_FIELDS, part: OWN.part };

// With one of these changed it is another page, to which the browser's Back returns.
const PLACES = ["part", "model", "text", "pair", "target", "truncate", "besideText", "besidePair", "besideTarget"] as const;

export const parse = (fragment: string): LiveState => read(FIELDS, fragment);
export const format = (state: LiveState): string => written(FIELDS, state);

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
