// One part of a report: the heads, the tables, the figures, or what was run.
import type { Chunks } from "../data/chunks";
import { Atlas } from "./Atlas";
import type { ChangeReport, ReportState } from "./address";
import type { Report } from "./data";
import { Figures } from "./Figures";
import { Findings } from "./Findings";
import { RunFacts } from "./RunFacts";
import { Scatter } from "./Scatter";
import { Tables } from "./Tables";

interface Props {
  report: Report;
  chunks: Chunks;
  part: ReportState["part"];
  state: ReportState;
  change: ChangeReport;
  dark: boolean;
}

export function Part({ report, chunks, part, state, change, dark }: Props) {
  switch (part) {
    case "tables":
      return <Tables report={report} chunks={chunks} state={state} change={change} />;
    case "figures":
      return <Figures report={report} chunks={chunks} />;
    case "run":
      return <RunFacts report={report} />;
    default:
      return (
        <>
          <Findings report={report} change={change} />
          <div class="beside">
            <Atlas report={report} state={state} change={change} dark={dark} />
            <Scatter report={report} state={state} change={change} dark={dark} />
          </div>
        </>
      );
  }
}
