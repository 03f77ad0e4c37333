// What a report carries: the description that Python wrote (src/headscope/report/description.py).

export interface Fact {
  name: string;
  value: string;
}

export interface Finding {
  text: string;
  heads: string[]; // labels
  table: string;
}

/** Some words of a text, and what is marked in them. */
export interface Marked {
  text: string;
  mark: string | null;
}

export interface Exemplar {
  score: number;
  attending: string;
  attended: string;
  runs: Marked[];
  source: string;
}

export interface Role {
  role: string;
  family: string;
  rule: string;
}

/** Roles of one kind. */
export interface Family {
  name: string;
  title: string;
  about: string;
  light: string; // its colour
  dark: string;
}

/** A head, with all that its card says; its numbers are in the statistics. */
export interface Head extends Role {
  name: string; // "encoder self 3.1"
  label: string; // "3.1", or "cross 3.1" where there are several kinds
  group: string; // "encoder self"
  layer: number;
  head: number;
  score: number | null;
  baseline: number | null;
  also: string[];
  says: string;
  special: { weight: number | null; norm: number | null };
  relation: { name: string; direction: string; accuracy: number; baseline: number | null; cases: number } | null;
  antecedents: { accuracy: number; baseline: number | null; cases: number } | null;
  exemplars: Exemplar[];
  other?: Role | null; // in the second run
}

export interface Statistic {
  name: string; // "entropy.entropy": table and column
  table: string;
  title: string;
  about: string;
  more: string; // what a larger number means
  unit: string;
  card: boolean; // whether it stands on the cards
  values: (number | null)[]; // by head
  other?: (number | null)[]; // of the second run
}

export interface Scatter {
  group: string;
  heads: number[];
  x: number[];
  y: number[];
  stress: number;
  nearest: { head: number; distance: number }[][];
}

export type Cell = string | number | boolean | null;

export interface Column {
  name: string;
  title: string;
  about: string;
  numeric: boolean;
}

export interface Table {
  name: string;
  title: string;
  about: string;
  columns: Column[];
  rows: Cell[][] | null; // null: in a chunk of the page
  chunk?: number;
  total: number;
  compared?: boolean;
}

export interface Figure {
  name: string;
  title: string;
  svg: string | null;
  chunk?: number;
}

export interface Report {
  title: string;
  runs: { name: string; facts: Fact[] }[];
  findings: Finding[];
  compared: Finding[];
  heads: Head[];
  roles: { about: string; families: Family[]; marks: Record<string, string> };
  statistics: Statistic[];
  scatters: Scatter[];
  tables: Table[];
  figures: Figure[];
  leftOut: string[];
}

export interface ReportPage extends Report {
  kind: "report";
  format: number;
}

export function groupsOf(report: Report): string[] {
  return [...new Set(report.heads.map((head) => head.group))];
}

/** Where a head with this label is among all; -1 for none. */
export function headAt(report: Report, label: string): number {
  return report.heads.findIndex((head) => head.label === label);
}
