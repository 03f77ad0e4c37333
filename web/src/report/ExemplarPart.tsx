// A text that excites a head in the four views, with the pair that its card speaks of kept.
import { useCallback, useEffect, useState } from "preact/hooks";
import type { DrawnExemplar, Head } from "../schema";
import { USUAL } from "../schema";
import { Viewer } from "../shell/Viewer";
import type { Change, State } from "../state";
import { format } from "./address";
import { headAt } from "./heads";
import { useReport } from "./shown";
import { useExemplar } from "./useExemplar";
import { usePicture } from "./usePicture";

export function ExemplarPart() {
  const { report, state } = useReport();
  const head = report.heads[headAt(report, state.exemplar)];
  const picture = usePicture(head);
  if (!picture?.exemplar) return null;
  return <ExemplarView key={head.name} head={head} exemplar={picture.exemplar} />;
}

function ExemplarView({ head, exemplar }: { head: Head; exemplar: DrawnExemplar }) {
  const { report, state: around, change: changeReport, dark } = useReport();
  const { chunks } = useExemplar(exemplar);
  const [state, setState] = useState<State>(() => opened(head, exemplar));
  useEffect(() => setState(opened(head, exemplar)), [head, exemplar]);
  const change = useCallback<Change>(
    ({ theme, ...changes }) => {
      if (theme !== undefined) changeReport({ theme });
      setState((before) => ({ ...before, ...changes }));
    },
    [changeReport],
  );
  const text = head.exemplars[exemplar.rank - 1];
  const most = exemplar.rank === 1 ? "The text that excites" : "A text that excites";
  return (
    <section class="exemplar-part" aria-label={`A text that excites ${head.label}`}>
      <p class="about">
        {most}{" "}
        <button type="button" class="head-link" onClick={() => changeReport({ head: head.label })}>
          {head.label}
        </button>{" "}
        ({head.role}){exemplar.rank === 1 && " most"}, as {exemplar.content.model || report.title} reads it
        {text?.source && (
          <>
            {" "}
            (<bdi>{text.source}</bdi>)
          </>
        )}
        {exemplar.left_out > 0 && `. ${exemplar.left_out} tokens far from the pair are left out`}.
      </p>
      <Viewer
        content={exemplar.content}
        chunks={chunks}
        state={state}
        change={change}
        dark={dark}
        link={() => format(around)}
      />
    </section>
  );
}

/** This head alone, its pair kept. */
function opened(head: Head, { content, keep }: DrawnExemplar): State {
  return { ...USUAL, attention: head.group, layer: head.layer, heads: [head.head], measure: content.measures[0].name, keep };
}
