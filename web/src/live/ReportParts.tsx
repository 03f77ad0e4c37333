// The parts of the run's report, as `headscope report` writes them.
import "../report/report.css";
import { useMemo } from "preact/hooks";
import { Chunks } from "../data/chunks";
import type { Report } from "../report/data";
import { Part } from "../report/Part";
import type { ChangeLive, LiveState } from "./address";
import { Problem } from "./Problem";

interface Props {
  report: Report | null;
  problem: Error | null;
  again: () => void;
  part: LiveState["part"];
  state: LiveState;
  change: ChangeLive;
  dark: boolean;
}

export function ReportParts({ report, problem, again, part, state, change, dark }: Props) {
  const chunks = useMemo(() => new Chunks(() => ""), []); // the server's report has everything in it
  if (problem) return <Problem problem={problem} again={again} />;
  if (!report) return <p class="live-aside">Reading the run …</p>;
  return (
    <div class="report part" data-part={part}>
      <Part report={report} chunks={chunks} part={part} state={state} change={change} dark={dark} />
    </div>
  );
}

/** Name and title of each part that there is; the heads at once, the others when the report is here. */
export function partsOf(report: Report | null): [LiveState["part"], string][] {
  const parts: [LiveState["part"], string][] = [["heads", "heads of the run"]];
  if (report?.tables.length) parts.push(["tables", "tables"]);
  if (report?.figures.length) parts.push(["figures", "figures"]);
  if (report) parts.push(["run", "the run"]);
  return parts;
}
