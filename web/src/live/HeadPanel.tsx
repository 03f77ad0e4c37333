// The card of a head, with texts of the run's corpus that excite it: a click reads one, with that head chosen.
import { CardPanel } from "../report/CardPanel";
import { type Head, headAt, type Report } from "../report/data";
import type { ChangeLive, LiveState, Texts } from "./address";
import type { RunAnswer } from "../schema";
import { ExcitingTexts } from "./ExcitingTexts";

interface Props {
  report: Report;
  head: Head;
  run: RunAnswer;
  state: LiveState;
  change: ChangeLive;
  dark: boolean;
}

export function HeadPanel({ report, head, run, state, change, dark }: Props) {
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
      <CardPanel report={report} at={headAt(report, head.label)} change={change} dark={dark}>
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
