// Every choice that a reader of a report can make, kept in the address: a link to it opens the same page.
import { useMemo } from "preact/hooks";
import { type Fields, flag, oneOf, parse as read, text, format as written } from "../fields";
import { Theme } from "../schema";
import { type Address, useFragment } from "../shell/address";

export const PARTS = ["heads", "league", "text", "tables", "figures", "run"] as const;
const RUNS = ["one", "other", "difference"] as const; // what the atlas shows of two runs
const COLOURS = ["role", "layer", "atlas"] as const; // of the map of heads

export interface ReportState {
  part: (typeof PARTS)[number]; // "text": that of a report which excites a head; in the live page any
  head: string; // whose card is open; empty for none
  exemplar: string; // of which head a text is open in the views; empty for none
  attention: string;
  by: string; // the statistic that the atlas shows; "role"
  run: (typeof RUNS)[number];
  order: "" | "value"; // of the heads in a layer: by number, or by value
  colour: (typeof COLOURS)[number];
  number: string; // of the league: which is looked at; empty for the one that ranks heads best
  effect: string; // of taking a head away; empty for what the run says first, as all of these
  how: string; // what takes a head's place
  scope: string; // the kind of attention, or "all"
  table: string;
  sort: string; // a column of the table; with a minus, the largest first
  find: string;
  bounds: boolean; // the ends of intervals are shown
  theme: Theme;
}

export type ChangeReport = (changes: Partial<ReportState>) => void;

export const FIELDS: Fields<ReportState> = {
  part: oneOf<ReportState["part"]>(PARTS, "heads"),
  head: text(),
  exemplar: text(),
  attention: text(),
  by: text("role"),
  run: oneOf(RUNS, "one"),
  order: oneOf(["", "value"], ""),
  colour: oneOf(COLOURS, "role"),
  number: text(),
  effect: text(),
  how: text(),
  scope: text(),
  table: text(),
  sort: text(),
  find: text(),
  bounds: flag(false),
  theme: oneOf(Theme, ""),
};

export const parse = (fragment: string): ReportState => read(FIELDS, fragment);
export const format = (state: ReportState): string => written(FIELDS, state);

export const PASSING: readonly (keyof ReportState)[] = ["find", "theme"];
export const ONE_BY_ONE: readonly (keyof ReportState)[] = ["head", "number"]; // cards, one after another; the numbers of the league

/** `initial` is what a page opens with that is not given any choice. */
export function useReportAddress(initial: string): [ReportState, ChangeReport] {
  const address = useMemo<Address<ReportState>>(
    () => ({
      read: (fragment) => parse(fragment.length > 1 ? fragment : initial),
      write: (state) => format(state) || (initial && `part=${state.part}`), // without a word, it would be the initial one
      passing: PASSING,
      oneByOne: ONE_BY_ONE,
    }),
    [initial],
  );
  return useFragment(address);
}
