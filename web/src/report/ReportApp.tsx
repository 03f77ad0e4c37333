// The page that `headscope report` writes.
import type { Chunks } from "../data/chunks";
import type { ReportPage } from "../schema";
import { useDark } from "../shell/hooks";
import { useReportAddress } from "./address";
import { ReportView } from "./ReportView";

export function ReportApp({ page, chunks }: { page: ReportPage; chunks: Chunks }) {
  const [state, change] = useReportAddress(page.state);
  const dark = useDark(state.theme);
  return <ReportView report={page} chunks={chunks} state={state} change={change} dark={dark} />;
}
