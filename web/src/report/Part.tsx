// One part of a report: the heads, the league, the tables, the figures, or what was run.
import { LeaguePart } from "../league/LeaguePart";
import { Atlas } from "./Atlas";
import type { ReportState } from "./address";
import { ExemplarPart } from "./ExemplarPart";
import { Figures } from "./Figures";
import { Findings, FirstRun } from "./Findings";
import { RunFacts } from "./RunFacts";
import { Scatter } from "./Scatter";
import { Tables } from "./Tables";

export function Part({ part }: { part: ReportState["part"] }) {
  switch (part) {
    case "league":
      return <LeaguePart />;
    case "text":
      return <ExemplarPart />;
    case "tables":
      return <Tables />;
    case "figures":
      return <Figures />;
    case "run":
      return <RunFacts />;
    default:
      return (
        <>
          <Findings />
          <div class="beside">
            <Atlas />
            <Scatter />
          </div>
          <FirstRun />
        </>
      );
  }
}
