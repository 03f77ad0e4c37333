// The card of a head, with texts of the run's corpus that excite it: a click reads one, with that head chosen.
import { CardPanel } from "../report/CardPanel";
import { headAt } from "../report/heads";
import { useReport } from "../report/shown";
import type { Head, RunAnswer } from "../schema";
import type { ChangeLive, LiveState } from "./address";
import { ExcitingTexts } from "./ExcitingTexts";

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
  return (
    <div class="report">
      <CardPanel at={headAt(report, head.label)}>
        <p class="live-aside">
          Of {run.model.name}, by the run {run.name}.
          {!served && " This model is not served here: no text can be read with this head."}
        </p>
        {state.text && served && (
          <p class="live-show">
            <button type="button" name="show-head" class="quiet" onClick={() => show({})}>
              Show {head.label} on the text that was read
            </button>
          </p>
        )}
        <ExcitingTexts head={head} open={show} />
      </CardPanel>
    </div>
  );
}

/** Whether a card lies over the picture, as on a phone: then it makes way for the text that is opened from it. */
function coversPage(): boolean {
  const panel = document.querySelector(".card-panel");
  return panel !== null && getComputedStyle(panel).position === "fixed";
}
