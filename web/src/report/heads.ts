// The heads of a report, and where they are.
import type { Report } from "../schema";

export function groupsOf(report: Report): string[] {
  return [...new Set(report.heads.map((head) => head.group))];
}

/** Where a head with this label is among all; -1 for none. */
export function headAt(report: Report, label: string): number {
  return report.heads.findIndex((head) => head.label === label);
}
