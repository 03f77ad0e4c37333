// One text: where it is typed, what the server says to it, and its picture.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { Content, HeadStatistic, ModelInfo } from "../schema";
import { shownIn, Viewer } from "../shell/Viewer";
import { WithoutContext } from "../shell/without";
import type { Change, State } from "../state";
import type { LiveState, Texts } from "./address";
import { askedOf, moreMeasures, sameText } from "./asked";
import { Notice } from "./Notice";
import type { Out } from "./out";
import { PredictedWithout, Predictions } from "./Predictions";
import { TextForm } from "./TextForm";
import { TextLine } from "./TextLine";
import { type Answer, useReading } from "./useReading";

interface Props {
  place: "first" | "second";
  model: ModelInfo;
  texts: Texts;
  submit: (texts: Texts, changes?: Partial<LiveState>) => void;
  isEditing: boolean; // a text that was read is to be another one
  setEditing: (wanted: boolean) => void;
  truncate: boolean;
  setTruncate: (wanted: boolean) => void;
  statistics: HeadStatistic[]; // of the run, where it is of this model
  roles: Record<string, string>; // and by `encoder self 3.1` what it says that heads do
  state: State;
  change: Change;
  link: (state: State) => string;
  dark: boolean;
  beside: boolean; // the first column has the tabs and choices
  isLarge: boolean; // as lectures have it: the picture is drawn anew
  out: Out; // heads that are taken out
  setOut: (heads: string[], isOut: boolean) => void;
  isOutDrawn: boolean; // in the picture too
  outBar?: ComponentChildren;
  other: string; // the text of the other column, where there is one
  buttons?: ComponentChildren;
  empty?: ComponentChildren; // what is shown before the first text
  below?: (shown: State) => ComponentChildren;
}

export function Column(props: Props) {
  const { place, model, texts, submit, isEditing, setEditing, truncate, setTruncate } = props;
  const { statistics, roles, state, change, link, dark, beside, isLarge, other, buttons, empty, below } = props;
  const { out, setOut, isOutDrawn, outBar } = props;
  const asked = askedOf(texts, model, truncate, state, isOutDrawn ? out : undefined);
  const [reading, again] = useReading(asked, model);
  const { answer, waiting, problem } = reading;
  const content = useMemo(() => answer && { ...answer.content, statistics, roles }, [answer, statistics, roles]);
  const read = (next: Texts, changes?: Partial<LiveState>) => {
    if (problem) again();
    submit(next, changes);
  };
  const without = useMemo(() => ({ out: new Set(out.heads), set: setOut, hasKey: place === "first" }), [out.heads.join(), setOut, place]);
  const isRead = answer !== null && asked !== null && sameText(asked, answer.asked);
  const predicts = { texts, model, truncate, beside: other, isRead };
  const [box, label] = place === "first" ? ["text", "text"] : ["beside", "other text"];
  const hasText = texts.text.trim() !== "";
  return (
    <div class={`live-column ${place}`} data-answer={answer?.number} data-stale={waiting || problem !== null}>
      <div class="live-text">
        {hasText && (
          <TextLine texts={texts} model={model} edit={() => setEditing(true)}>
            {buttons}
          </TextLine>
        )}
        <TextForm
          texts={texts}
          model={model}
          name={box}
          label={model.encoder_decoder ? label.replace("text", "source") : label}
          submit={read}
          isOver={hasText}
          isEditing={isEditing}
          setEditing={setEditing}
        >
          {!hasText && buttons}
        </TextForm>
        <Notice reading={reading} truncated={answer ? cutOff(answer, model) : ""} truncate={setTruncate} again={again} />
        {hasText && !problem && (
          <>
            <Predictions {...predicts} read={read} />
            {out.heads.length > 0 && (
              <>
                <PredictedWithout {...predicts} out={out} />
                {outBar}
              </>
            )}
          </>
        )}
      </div>
      {content && answer && <p class="live-caption" dir="auto">{content.title}</p>}
      {content && answer ? (
        <WithoutContext.Provider value={without}>
          <Viewer
            key={String(isLarge)}
            content={content}
            chunks={answer.chunks}
            state={state}
            change={change}
            dark={dark}
            more={moreMeasures(model)}
            link={link}
            keys={KEYS}
            beside={beside}
          />
        </WithoutContext.Provider>
      ) : (
        empty
      )}
      {content && below?.(shownIn(content, state))}
    </div>
  );
}

const KEYS: [string, string][] = [
  ["/", "another text"],
  ["l", "lecture: large type, full screen"],
  ["x", "take the head under the pointer, or those shown, out of the model; or put them back"],
];

/** A sentence where only the beginning of a text was read. */
function cutOff(answer: Answer, model: ModelInfo): string {
  if (!answer.asked.truncate) return "";
  const cut = Object.values(answer.content.sides).some((side) => isFull(side, model));
  return cut ? `Only the beginning was read: this server reads at most ${model.max_tokens} tokens of ${model.name}.` : "";
}

function isFull(side: Content["sides"][string], model: ModelInfo): boolean {
  return side.tokens.length >= model.max_tokens;
}
