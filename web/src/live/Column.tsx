// One text: where it is typed, what the server says to it, and its picture.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { Content, HeadStatistic, ModelInfo } from "../schema";
import { Viewer } from "../shell/Viewer";
import type { Change, State } from "../state";
import type { Texts } from "./address";
import { askedOf, moreMeasures } from "./asked";
import { Notice } from "./Notice";
import { TextForm } from "./TextForm";
import { type Answer, useReading } from "./useReading";

interface Props {
  place: "first" | "second";
  model: ModelInfo;
  texts: Texts;
  submit: (texts: Texts) => void;
  truncate: boolean;
  setTruncate: (wanted: boolean) => void;
  statistics: HeadStatistic[]; // of the run, where it is of this model
  state: State;
  change: Change;
  link: (state: State) => string;
  dark: boolean;
  beside: boolean; // the first column has the tabs and choices
  buttons?: ComponentChildren;
  empty?: ComponentChildren; // what is shown before the first text
}

export function Column(props: Props) {
  const { place, model, texts, submit, truncate, setTruncate, statistics, state, change, link, dark, beside, buttons, empty } = props;
  const [reading, again] = useReading(askedOf(texts, model, truncate, state), model);
  const { answer, waiting, problem } = reading;
  const content = useMemo(() => answer && { ...answer.content, statistics }, [answer, statistics]);
  const read = (next: Texts) => {
    if (problem) again();
    submit(next);
  };
  const [box, label] = place === "first" ? ["text", "text"] : ["beside", "other text"];
  return (
    <div class={`live-column ${place}`} data-answer={answer?.number} data-stale={waiting || problem !== null}>
      <TextForm texts={texts} model={model} name={box} label={model.encoder_decoder ? label.replace("text", "source") : label} submit={read}>
        {buttons}
      </TextForm>
      <Notice reading={reading} truncated={answer ? cutOff(answer, model) : ""} truncate={setTruncate} again={again} />
      {content && answer && <p class="live-caption" dir="auto">{content.title}</p>}
      {content && answer ? (
        <Viewer
          content={content}
          chunks={answer.chunks}
          state={state}
          change={change}
          dark={dark}
          more={moreMeasures(model)}
          link={link}
          keys={[["/", "to the text"]]}
          beside={beside}
        />
      ) : (
        empty
      )}
    </div>
  );
}

/** A sentence where only the beginning of a text was read. */
function cutOff(answer: Answer, model: ModelInfo): string {
  if (!answer.asked.truncate) return "";
  const cut = Object.values(answer.content.sides).some((side) => isFull(side, model));
  return cut ? `Only the beginning was read: this server reads at most ${model.max_tokens} tokens of ${model.name}.` : "";
}

function isFull(side: Content["sides"][string], model: ModelInfo): boolean {
  return side.tokens.length >= model.max_tokens;
}
