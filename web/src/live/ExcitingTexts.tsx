// Texts of the run's corpus that excite a head most, asked of the server; each can be read with a click.
import { useState } from "preact/hooks";
import type { Head } from "../report/data";
import { shortened } from "../report/Exemplars";
import { Choice } from "../shell/Toolbar";
import type { Texts } from "./address";
import { type Exemplar, type Exemplars, exemplars } from "./api";
import { useAsked } from "./useServer";

const MARKS = { attending: "attending", attended: "attended", both: "attending attended" };
const BETWEEN = " ← "; // stands between the target and the source of a cross attention
const MEASURES: [string, string][] = [["weight", "weight"], ["norm", "norm"]];

interface Props {
  head: Head;
  read: (texts: Texts) => void;
}

export function ExcitingTexts({ head, read }: Props) {
  const [measure, setMeasure] = useState("weight");
  const [found, problem, again] = useAsked<Exemplars>(
    (signal) => exemplars(head.group, head.layer, head.head, measure, signal),
    `${head.name} ${measure}`,
  );
  return (
    <section class="live-exciting">
      <h3>
        Texts that excite it: <mark class="attending">this token</mark> looks at <mark class="attended">this one</mark>
      </h3>
      <Choice label="by" value={measure} options={MEASURES} set={setMeasure} />
      {problem && (
        <p class="live-aside" role="alert">
          {problem.message}{" "}
          <button type="button" name="again" class="quiet" onClick={again}>
            Try again
          </button>
        </p>
      )}
      {!found && !problem && <p class="live-aside">Looking through the corpus …</p>}
      {found && <p class="live-aside">{whence(found)}</p>}
      {found && (
        <ol class="exemplars">
          {found.exemplars.map((exemplar, place) => (
            <li key={place}>
              <One exemplar={exemplar} read={read} />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function One({ exemplar, read }: { exemplar: Exemplar; read: (texts: Texts) => void }) {
  return (
    <button type="button" class="live-exemplar" title="Read this text, and show this head" onClick={() => read(textsOf(exemplar))}>
      <span class="score">
        <bdi>{exemplar.attending}</bdi> → <bdi>{exemplar.attended}</bdi>: {exemplar.score.toFixed(2)}
        {exemplar.source && <bdi> · {exemplar.source}</bdi>}
      </span>
      <span dir="auto">
        {shortened(exemplar.runs).map(({ text, mark }, run) =>
          mark ? (
            <mark key={run} class={MARKS[mark as keyof typeof MARKS]}>
              {text}
            </mark>
          ) : (
            text
          ),
        )}
      </span>
    </button>
  );
}

function whence({ computed, documents, exemplars }: Exemplars): string {
  if (exemplars.length === 0) return `None of the ${documents} texts that were looked at is at hand.`;
  return computed ? `The strongest among the corpus's first ${documents} texts, read just now.` : `The strongest of all ${documents} texts.`;
}

/** The text as it can be typed: without the signs that something was left out. */
function textsOf({ runs }: Exemplar): Texts {
  const whole = (some: Exemplar["runs"]) =>
    some.map((run) => run.text).join("").replace(/^… /, "").replace(/ …$/, "").trim();
  const between = runs.findIndex((run) => run.mark === null && run.text === BETWEEN);
  if (between < 0) return { text: whole(runs), pair: "", target: "" };
  return { text: whole(runs.slice(between + 1)), pair: "", target: whole(runs.slice(0, between)) };
}
