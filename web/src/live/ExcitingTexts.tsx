// Texts of the run's corpus that excite a head most; each can be read with a click. The server knows the whole texts, as
// long as the corpus is where it was; the report has those that were kept with the run.
import { useState } from "preact/hooks";
import { ExemplarText } from "../report/Exemplars";
import type { Exemplar, ExemplarsAnswer, Head } from "../schema";
import { Choice } from "../shell/choices";
import type { Texts } from "./address";
import { exemplars, Refusal } from "./api";
import { useAsked } from "./useServer";

const MEASURES: [string, string][] = [["weight", "weight"], ["norm", "norm"]];

interface Props {
  head: Head;
  read: (texts: Texts) => void;
}

export function ExcitingTexts({ head, read }: Props) {
  const [measure, setMeasure] = useState("weight");
  const [found, problem, again] = useAsked<ExemplarsAnswer>(
    (signal) => exemplars(head.group, head.layer, head.head, measure, signal),
    `${head.name} ${measure}`,
  );
  const kept = problem && measure === "weight" ? head.exemplars : [];
  const shown = found?.exemplars ?? kept;
  return (
    <section class="live-exciting">
      <h3>
        Texts that excite it: <mark class="attending">this token</mark> looks at <mark class="attended">this one</mark>
      </h3>
      <Choice label="by" value={measure} options={MEASURES} set={setMeasure} />
      {problem && (
        <p class="live-aside" role={kept.length ? undefined : "alert"}>
          {problem.message} {kept.length > 0 && "These were kept with the run:"}
          {kept.length === 0 && !(problem instanceof Refusal && problem.status === 404) && (
            <button type="button" name="again" class="quiet" onClick={again}>
              Try again
            </button>
          )}
        </p>
      )}
      {!found && !problem && <p class="live-aside">Looking through the corpus …</p>}
      {found && <p class="live-aside">{whence(found)}</p>}
      {shown.length > 0 && (
        <ol class="exemplars">
          {shown.map((exemplar, place) => (
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
      <ExemplarText exemplar={exemplar} />
    </button>
  );
}

function whence({ computed, documents, exemplars }: ExemplarsAnswer): string {
  if (exemplars.length === 0) return `None of the ${documents} texts that were looked at is at hand.`;
  return computed ? `The strongest among the corpus's first ${documents} texts, read just now.` : `The strongest of all ${documents} texts.`;
}

/** The texts as they can be typed: without the signs that something was left out. */
function textsOf({ runs, attended_runs }: Exemplar): Texts {
  const [looking, looked] = [runs, attended_runs].map((some) => some.filter((run) => !run.sign).map((run) => run.text).join("").trim());
  return looked ? { text: looked, pair: "", target: looking } : { text: looking, pair: "", target: "" };
}
