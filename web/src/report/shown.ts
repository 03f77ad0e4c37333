// What all parts of a report draw: the report, with the choices of its reader.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Chunks } from "../data/chunks";
import type { Report } from "../schema";
import type { ChangeReport, ReportState } from "./address";

export interface ShownReport {
  report: Report;
  chunks: Chunks; // in which long tables and figures are
  state: ReportState;
  change: ChangeReport;
  dark: boolean;
}

export const ReportContext = createContext<ShownReport | null>(null);

export function useReport(): ShownReport {
  const shown = useContext(ReportContext);
  if (!shown) throw new Error("This is drawn inside a report only.");
  return shown;
}
