// The card of a head, with texts of the run's corpus that excite it: a click reads one, with that head chosen.
import { CardPanel } from "../report/CardPanel";
import { headAt } from "../report/heads";
import { useReport } from "../report/shown";
import type { Head, RunAnswer } from "../schema";
import type { ChangeLive, LiveState, Texts } from "./address";
import { ExcitingTexts } from "./ExcitingTexts";

interface Props {
  head: Head;
  run: RunAnswer;
  state: LiveState;
  change: ChangeLive;
}

export function HeadPanel({ head, run, state, change }: Props) {
  const { report } = useReport();
  const show = (texts: Partial<Texts>) =>
    change({
      part: "text",
      view: state.view,
      attention: head.group,
      layer: head.layer,
      heads: [head.head],
      keep: [],
      ...(run.model.served && { model: run.model.served }),
      ...texts,
    });
  return (
    <div class="report">
      <CardPanel at={headAt(report, head.label)}>
        {state.text && (
          <p class="live-show">
            <button type="button" name="show-head" class="quiet" onClick={() => show({})}>
              Show {head.label} on the text that was read
            </button>
          </p>
        )}
        <ExcitingTexts head={head} read={show} />
      </CardPanel>
    </div>
  );
}
