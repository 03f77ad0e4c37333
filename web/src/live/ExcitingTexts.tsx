// Texts of the run's corpus that excite a head most; each can be read with a click. The server knows the whole texts, as
// long as the corpus is where it was; the report has those that were kept with the run.
import { useState } from "preact/hooks";
import type { Exemplar, Head } from "../report/data";
import { ExemplarText } from "../report/Exemplars";
import type { ExemplarsAnswer } from "../schema";
import { Choice } from "../shell/choices";
import type { Texts } from "./address";
import { exemplars, Refusal } from "./api";
import { useAsked } from "./useServer";

const BETWEEN = " ← "; // stands between the target and the source of a cross attention
const SPACE = "␣"; // is shown for a token that is nothing but space
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

/** The text as it can be typed: without the signs that something was left out. */
function textsOf({ runs }: Exemplar): Texts {
  const whole = (some: Exemplar["runs"]) =>
    some.filter((run) => !run.mark || run.text !== SPACE).map((run) => run.text).join("").replace(/^… /, "").replace(/ …$/, "").trim();
  const between = runs.findIndex((run) => run.mark === null && run.text === BETWEEN);
  if (between < 0) return { text: whole(runs), pair: "", target: "" };
  return { text: whole(runs.slice(between + 1)), pair: "", target: whole(runs.slice(0, between)) };
}
