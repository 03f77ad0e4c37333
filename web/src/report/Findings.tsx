// What the tables say in plain sentences. A head's label opens its card, wherever it stands.
import { useState } from "preact/hooks";
import type { Finding } from "../schema";
import { useReport } from "./shown";

const AT_FIRST = 8; // as many as leave the atlas in sight

/** Of two runs, what differs. */
export function Findings() {
  const { report } = useReport();
  const [title, findings] = report.compared.length > 0 ? ["What differs between the two runs", report.compared] : ["What was found", report.findings];
  return (
    <section class="findings" aria-labelledby="findings-title">
      <h2 id="findings-title">{title}</h2>
      <List findings={findings} atFirst={AT_FIRST} />
    </section>
  );
}

/** What was found in the first of two runs, by itself: after what differs, which is why they stand beside each other. */
export function FirstRun() {
  const { report } = useReport();
  if (report.compared.length === 0) return null;
  return (
    <section class="findings" aria-labelledby="first-run-title">
      <h2 id="first-run-title">What was found in the first run</h2>
      <List findings={report.findings} atFirst={AT_FIRST} />
    </section>
  );
}

function List({ findings, atFirst }: { findings: Finding[]; atFirst: number }) {
  const { report, change } = useReport();
  const [all, setAll] = useState(false);
  const shown = all ? findings : findings.slice(0, atFirst);
  return (
    <>
      <ul>
        {shown.map((finding) => (
          <li key={finding.text}>
            <WithHeads text={finding.text} heads={finding.heads} />
            {report.tables.some((table) => table.name === finding.table) && (
              <button
                type="button"
                class="table-link"
                title={`Open the table ${finding.table}`}
                onClick={() => change({ part: "tables", table: finding.table, sort: "", find: "" })}
              >
                table
              </button>
            )}
          </li>
        ))}
      </ul>
      {shown.length < findings.length && (
        <button type="button" class="quiet more" onClick={() => setAll(true)}>
          {findings.length - shown.length} more
        </button>
      )}
    </>
  );
}

/** A sentence in which every label of a head can be clicked; `5.3%` and `0.5.3` are no labels. */
function WithHeads({ text, heads }: { text: string; heads: string[] }) {
  const { change } = useReport();
  const labels = [...heads].sort((a, b) => b.length - a.length);
  if (labels.length === 0) return <>{text}</>;
  const pattern = new RegExp(`(?<![\\w.])(${labels.map(escaped).join("|")})(?![\\w%]|\\.\\d)`, "g");
  return (
    <>
      {text.split(pattern).map((part, place) =>
        place % 2 ? (
          <button type="button" class="head-link" key={place} data-head={part} onClick={() => change({ head: part })}>
            {part}
          </button>
        ) : (
          part
        ),
      )}
    </>
  );
}

function escaped(label: string): string {
  return label.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
