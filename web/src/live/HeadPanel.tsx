// The card of a head, with texts of the run's corpus that excite it: a click reads one, with that head chosen.
import { CardPanel, coversPage } from "../report/CardPanel";
import { headAt } from "../report/heads";
import { useReport } from "../report/shown";
import type { ExemplarsAnswer, Head, RunAnswer, ServedExemplar } from "../schema";
import type { ChangeLive, LiveState } from "./address";
import { exemplars } from "./api";
import { ExcitingTexts, opening } from "./ExcitingTexts";
import { changed, inAddress } from "./out";
import { useAsked } from "./useServer";

interface Props {
  head: Head;
  run: RunAnswer;
  state: LiveState;
  change: ChangeLive;
}

export function HeadPanel({ head, run, state, change }: Props) {
  const { report } = useReport();
  const { served } = run.model;
  const show = (changes: Partial<LiveState>) =>
    change({
      part: "text",
      attention: head.group,
      layer: head.layer,
      heads: [head.head],
      keep: [],
      ...(served && { model: served }),
      ...(coversPage() && { head: "" }),
      ...changes,
    });
  const name = inAddress([head.name])[0];
  const isOut = state.out.includes(name);
  const turn = () => change({ ...(served && { model: served }), part: "text", out: changed(state.out, [name], !isOut), ...(coversPage() && { head: "" }) });
  const opens = useDrawn(head, served !== null)?.opens;
  return (
    <div class="report">
      <CardPanel at={headAt(report, head.label)} open={opens ? () => show(opening(opens)) : undefined}>
        <p class="live-aside">
          Of {run.model.name}, by the run {run.name}.
          {!served && " This model is not served here: no text can be read with this head."}
        </p>
        {state.text && served && (
          <p class="live-show">
            <button type="button" name="show-head" class="quiet" onClick={() => show({})}>
              Show {head.label} on the text that was read
            </button>{" "}
            <button type="button" name="take-out-head" class="quiet" onClick={turn}>
              {isOut ? `Put ${head.label} back` : `Take ${head.label} out`}
            </button>
          </p>
        )}
        <ExcitingTexts head={head} open={show} />
      </CardPanel>
    </div>
  );
}

/** The exemplar that the card draws, with what is read to see it; null until the server has said. */
function useDrawn(head: Head, served: boolean): ServedExemplar | null {
  const drawn = head.picture?.exemplar;
  const asks = served && drawn ? (signal: AbortSignal) => exemplars(head.group, head.layer, head.head, "weight", signal) : null;
  const [found] = useAsked<ExemplarsAnswer>(asks, `drawn ${head.name}`);
  return (drawn && found?.exemplars[drawn.rank - 1]) ?? null;
}
