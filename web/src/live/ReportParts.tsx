// The parts of the run's report, as `headscope report` writes them.
import "../report/report.css";
import { Part } from "../report/Part";
import type { Report } from "../schema";
import type { LiveState } from "./address";
import { Problem } from "./Problem";

interface Props {
  report: Report | null;
  problem: Error | null;
  again: () => void;
  part: LiveState["part"];
}

export function ReportParts({ report, problem, again, part }: Props) {
  if (problem) return <Problem problem={problem} again={again} />;
  if (!report) return <p class="live-aside">Reading the run …</p>;
  return (
    <div class="report part" data-part={part}>
      <Part part={part} />
    </div>
  );
}

/** Name and title of each part that there is; the heads at once, the others when the report is here. */
export function partsOf(report: Report | null): [LiveState["part"], string][] {
  const parts: [LiveState["part"], string][] = [["heads", "heads of the run"]];
  if (report?.league) parts.push(["league", "league"]);
  if (report?.tables.length) parts.push(["tables", "tables"]);
  if (report?.figures.length) parts.push(["figures", "figures"]);
  if (report) parts.push(["run", "the run"]);
  return parts;
}
