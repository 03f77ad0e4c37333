// Texts of the run's corpus that excite a head most; each can be read with a click. The server knows the whole texts, as
// long as the corpus is where it was; the report has those that were kept with the run.
import { useState } from "preact/hooks";
import { ExemplarText } from "../report/Exemplars";
import type { ExcitedText, Exemplar, ExemplarsAnswer, Head, ServedExemplar } from "../schema";
import { Choice } from "../shell/choices";
import type { LiveState } from "./address";
import { exemplars, Refusal } from "./api";
import { useAsked } from "./useServer";

const MEASURES: [string, string][] = [["weight", "weight"], ["norm", "norm"]];

interface Props {
  head: Head;
  open: (changes: Partial<LiveState>) => void;
}

export function ExcitingTexts({ head, open }: Props) {
  const [measure, setMeasure] = useState("weight");
  const [found, problem, again] = useAsked<ExemplarsAnswer>(
    (signal) => exemplars(head.group, head.layer, head.head, measure, signal),
    `${head.name} ${measure}`,
  );
  const kept = problem && measure === "weight" ? head.exemplars : [];
  const shown: (Exemplar & Partial<ServedExemplar>)[] = found?.exemplars ?? kept;
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
              {exemplar.opens ? (
                <button
                  type="button"
                  class="live-exemplar"
                  title="Read this text, and show this pair"
                  onClick={() => exemplar.opens && open(opening(exemplar.opens, measure))}
                >
                  <ExemplarText exemplar={exemplar} />
                </button>
              ) : (
                <ExemplarText exemplar={exemplar} />
              )}
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function whence({ computed, documents, exemplars }: ExemplarsAnswer): string {
  if (exemplars.length === 0) return `None of the ${documents} texts that were looked at is at hand.`;
  return computed ? `The strongest among the corpus's first ${documents} texts, read just now.` : `The strongest of all ${documents} texts.`;
}

/** The text with its pair kept: tokens, not words, and none of them left out. */
export function opening({ text, target, keep }: ExcitedText, measure = "weight"): Partial<LiveState> {
  return { text, pair: "", target, keep, measure, level: "token", pairs: "all", least: 0, top: 0 };
}
