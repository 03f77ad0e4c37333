// The parts of the run's report, as `headscope report` writes them.
import "../report/report.css";
import { useMemo } from "preact/hooks";
import { Chunks } from "../data/chunks";
import { Atlas } from "../report/Atlas";
import type { Report } from "../report/data";
import { Figures } from "../report/Figures";
import { Findings } from "../report/Findings";
import { RunFacts } from "../report/RunFacts";
import { Scatter } from "../report/Scatter";
import { Tables } from "../report/Tables";
import type { ChangeLive, LiveState } from "./address";

interface Props {
  report: Report | null;
  problem: Error | null;
  again: () => void;
  part: string;
  state: LiveState;
  change: ChangeLive;
  dark: boolean;
}

export function ReportParts({ report, problem, again, part, state, change, dark }: Props) {
  const chunks = useMemo(() => new Chunks(() => ""), []); // the server's report has everything in it
  if (problem) {
    return (
      <div class="live-notice problem" role="alert">
        <p>{problem.message}</p>
        <button type="button" name="again" class="quiet" onClick={again}>
          Try again
        </button>
      </div>
    );
  }
  if (!report) return <p class="live-aside">Reading the run …</p>;
  return (
    <div class="report part" data-part={part}>
      {part === "heads" && (
        <>
          <Findings report={report} change={change} />
          <div class="beside">
            <Atlas report={report} state={state} change={change} dark={dark} />
            <Scatter report={report} state={state} change={change} dark={dark} />
          </div>
        </>
      )}
      {part === "tables" && <Tables report={report} chunks={chunks} state={state} change={change} />}
      {part === "figures" && <Figures report={report} chunks={chunks} />}
      {part === "run" && <RunFacts report={report} />}
    </div>
  );
}

/** Name and title of each part that there is; the heads at once, the others when the report is here. */
export function partsOf(report: Report | null): [string, string][] {
  const parts: [string, string][] = [["heads", "heads of the run"]];
  if (report?.tables.length) parts.push(["tables", "tables"]);
  if (report?.figures.length) parts.push(["figures", "figures"]);
  if (report) parts.push(["run", "the run"]);
  return parts;
}
