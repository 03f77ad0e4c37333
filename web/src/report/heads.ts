// The heads of a report, and where they are.
import { layersSaid } from "../data/content";
import type { Report } from "../schema";

export function groupsOf(report: Report): string[] {
  return [...new Set(report.heads.map((head) => head.group))];
}

/** "72 heads in 6 layers": of the model that the run is of. */
export function shapeOf(report: Report): string {
  const places = report.heads.map((head) => ({ stack: head.group.split(" ")[0], layers: [head.layer] }));
  return `${report.heads.length} heads in ${layersSaid(places)}`;
}

/** Where a head with this label is among all; -1 for none. */
export function headAt(report: Report, label: string): number {
  return report.heads.findIndex((head) => head.label === label);
}
