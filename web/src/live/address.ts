// What the live page shows, in its address: the choices of the views, the texts, and what of the run is open.
import { type Fields, flag, list, oneOf, parse as read, text, format as written } from "../fields";
import { PARTS, FIELDS as REPORT_FIELDS, ONE_BY_ONE as REPORT_ONE_BY_ONE, PASSING as REPORT_PASSING, type ReportState } from "../report/address";
import { Instead } from "../schema";
import { type Address, useFragment } from "../shell/address";
import { type State, TOKENS, FIELDS as VIEW_FIELDS, ONE_BY_ONE as VIEW_ONE_BY_ONE, PASSING as VIEW_PASSING } from "../state";
import { IN_ADDRESS } from "./out";

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
  out: string[]; // heads that are taken out: `decoder-self-17.3`
  instead: Instead; // what takes their place
  outDrawn: boolean; // the pictures too are of the model without them
  lecture: boolean; // large, and nothing but the text and its picture
}

export type LiveState = State & ReportState & OwnState; // views and report share attention, sort and theme
export type ChangeLive = (changes: Partial<LiveState>) => void;

const OWN: Fields<OwnState> = {
  part: oneOf(PARTS, "text"),
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
  out: list<string, string[]>([], IN_ADDRESS),
  instead: oneOf(Instead, "zero"),
  outDrawn: flag(false),
  lecture: flag(false),
};
const FIELDS: Fields<LiveState> = { ...OWN, ...VIEW_FIELDS, ...REPORT_FIELDS, part: OWN.part };

export const parse = (fragment: string): LiveState => read(FIELDS, fragment);
export const format = (state: LiveState): string => written(FIELDS, state);

export function textsOf(state: LiveState): Texts {
  return { text: state.text, pair: state.pair, target: state.target };
}

export function besideOf(state: LiveState): Texts {
  return { text: state.besideText, pair: state.besidePair, target: state.besideTarget };
}

const ADDRESS: Address<LiveState> = {
  read: parse,
  write: format,
  passing: [...VIEW_PASSING, ...REPORT_PASSING, "besideKeep"],
  oneByOne: [...VIEW_ONE_BY_ONE, ...REPORT_ONE_BY_ONE],
};

export function useLiveAddress(): [LiveState, ChangeLive] {
  return useFragment(ADDRESS);
}
