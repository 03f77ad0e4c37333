// The texts that excite a head most, with both tokens marked. Texts are text, whatever stands in them.
import type { Exemplar, Mark, Marked } from "../schema";

const AROUND = 90; // characters that are shown on either side of a mark
const AT_FIRST = 3;
const CLASSES: Record<Mark, string> = { attending: "attending", attended: "attended", both: "attending attended" };

export function Exemplars({ exemplars }: { exemplars: Exemplar[] }) {
  if (exemplars.length === 0) return null;
  const [first, others] = [exemplars.slice(0, AT_FIRST), exemplars.slice(AT_FIRST)];
  return (
    <section>
      <h3>
        Texts that excite it most: <mark class="attending">this token</mark> looks at <mark class="attended">this one</mark>
      </h3>
      <List exemplars={first} />
      {others.length > 0 && (
        <details>
          <summary>{others.length} more texts</summary>
          <List exemplars={others} />
        </details>
      )}
    </section>
  );
}

function List({ exemplars }: { exemplars: Exemplar[] }) {
  return (
    <ol class="exemplars">
      {exemplars.map((exemplar, place) => (
        <li key={place}>
          <ExemplarText exemplar={exemplar} />
        </li>
      ))}
    </ol>
  );
}

/** Who looks at what, how strongly, and the text around them. */
export function ExemplarText({ exemplar }: { exemplar: Exemplar }) {
  return (
    <>
      <span class="score">
        <bdi>{exemplar.attending}</bdi> → <bdi>{exemplar.attended}</bdi>: {exemplar.score.toFixed(2)}
        {exemplar.source && <bdi> · {exemplar.source}</bdi>}
      </span>
      <span dir="auto">
        <Text runs={exemplar.runs} />
        {exemplar.attended_runs.length > 0 && " ← "}
        <Text runs={exemplar.attended_runs} />
      </span>
    </>
  );
}

function Text({ runs }: { runs: Marked[] }) {
  return (
    <>
      {shortened(runs).map(({ text, mark }, run) =>
        mark ? (
          <mark key={run} class={CLASSES[mark]}>
            {text}
          </mark>
        ) : (
          text
        ),
      )}
    </>
  );
}

/** A text without what is far from its marks. */
function shortened(runs: Marked[]): Marked[] {
  return runs.map((run, place) => {
    if (run.mark) return run;
    const [before, after] = [place > 0, place < runs.length - 1]; // whether a mark stands before it, behind it
    if (run.text.length <= AROUND * (Number(before) + Number(after))) return run;
    const start = before ? run.text.slice(0, AROUND).replace(/\S*$/, "") : "";
    const end = after ? run.text.slice(-AROUND).replace(/^\S*/, "") : "";
    return { text: `${start}…${end}`, mark: null };
  });
}
