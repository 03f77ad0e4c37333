// Every choice that a reader of a report can make, kept in the address: a link to it opens the same page.
import { useFragment } from "../shell/hooks";

export interface ReportState {
  part: string; // heads, tables, figures, run
  head: string; // whose card is open; empty for none
  attention: string;
  by: string; // the statistic that the atlas shows; "role"
  run: string; // with two runs: one, other, difference
  order: string; // of the heads in a layer: by number, or by value
  colour: string; // of the map of heads: role, layer, or as the atlas
  table: string;
  sort: string; // a column of the table; with a minus, the largest first
  find: string;
  bounds: string; // "1" shows the ends of intervals
  theme: string;
}

const USUAL: ReportState = {
  part: "heads",
  head: "",
  attention: "",
  by: "role",
  run: "",
  order: "",
  colour: "role",
  table: "",
  sort: "",
  find: "",
  bounds: "",
  theme: "",
};

export type ChangeReport = (changes: Partial<ReportState>) => void;

export function parse(fragment: string): ReportState {
  const read = { ...USUAL };
  for (const [name, text] of new URLSearchParams(fragment.replace(/^#/, ""))) {
    if (name in USUAL) read[name as keyof ReportState] = text;
  }
  return read;
}

export function format(state: ReportState): string {
  const names = Object.keys(USUAL) as (keyof ReportState)[];
  const changed = names.filter((name) => state[name] !== USUAL[name]);
  return changed.map((name) => `${name}=${encodeURIComponent(state[name])}`).join("&");
}

export function useReportAddress(): [ReportState, ChangeReport] {
  return useFragment(parse, format);
}
