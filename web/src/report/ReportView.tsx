// A report: what was found, the atlas and the map of heads, the league, tables, figures, what was run; and beside it a head's card.
import "./report.css";
import { useCallback, useEffect } from "preact/hooks";
import type { Report } from "../schema";
import { CopyButton } from "../shell/CopyButton";
import { Tabs } from "../shell/Tabs";
import { ThemeButton } from "../shell/ThemeButton";
import { type ChangeReport, format, type ReportState } from "./address";
import { CardPanel, coversPage } from "./CardPanel";
import { groupsOf, headAt, shapeOf } from "./heads";
import { Part } from "./Part";
import { ReportContext, type ShownReport } from "./shown";

export function ReportView({ report, chunks, state, change: changeState, dark }: ShownReport) {
  const change = useCallback<ChangeReport>((changes) => changeState(withAttention(report, changes)), [report, changeState]);
  const at = headAt(report, state.head);
  const parts = partsOf(report, state.exemplar);
  const open = at >= 0 ? () => change({ part: "text", exemplar: report.heads[at].label, ...(coversPage() && { head: "" }) }) : undefined;
  const part = parts.some(([name]) => name === state.part) ? state.part : parts[0][0];
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key === "Escape" && state.head) change({ head: "" });
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, [state.head, change]);
  const whole = (
    <div class={at >= 0 ? "page report with-card" : "page report"} data-ready="true">
      <main>
        <header class="title">
          <h1 dir="auto">{report.title}</h1>
          <p class="brand">headscope</p>
          <CopyButton fragment={format(state)} />
          <ThemeButton dark={dark} change={change} />
        </header>
        <p class="summary">{summaryOf(report)}</p>
        <Tabs label="Parts of the report" tabs={parts} chosen={part} choose={(name) => change({ part: name })} />
        <div role="tabpanel" class="part" data-part={part}>
          <Part part={part} />
        </div>
      </main>
      {at >= 0 && <CardPanel at={at} open={open} />}
    </div>
  );
  return <ReportContext.Provider value={{ report, chunks, state, change, dark }}>{whole}</ReportContext.Provider>;
}

/** A head whose card is opened is seen in the atlas too: the kind of attention follows it. */
function withAttention(report: Report, changes: Partial<ReportState>): Partial<ReportState> {
  const at = changes.head ? headAt(report, changes.head) : -1;
  return at < 0 || groupsOf(report).length < 2 ? changes : { ...changes, attention: report.heads[at].group };
}

function partsOf(report: Report, exemplar: string): [ReportState["part"], string][] {
  const parts: [ReportState["part"], string][] = report.league ? [["league", "league"]] : [];
  if (report.heads.length || !report.league) parts.push(["heads", "heads"]);
  if (headAt(report, exemplar) >= 0) parts.push(["text", `text of ${exemplar}`]);
  if (report.tables.length) parts.push(["tables", `tables ${report.tables.length}`]);
  if (report.figures.length) parts.push(["figures", `figures ${report.figures.length}`]);
  return [...parts, ["run", report.runs.length > 1 ? "the runs" : "the run"]];
}

/** What was run, in one line; all of it is in a part of its own. */
function summaryOf(report: Report): string {
  const said = report.runs.map(({ name, facts }, place) => {
    const value = (wanted: string) => facts.find((fact) => fact.name === wanted)?.value;
    const parts = [value("Counted") ?? value("Corpus")].filter(Boolean).join(", ");
    return report.runs.length > 1 ? `${"AB"[place]} is ${name} (${value("Model")}${parts ? `; ${parts}` : ""})` : parts;
  });
  return [report.heads.length > 0 && shapeOf(report), ...said].filter(Boolean).join(" · ");
}
