// Under a text: what the model predicts from it. A click on a guess reads the text with it; on a translation, reads it as the target.
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { percent } from "../drawing/canvas";
import type { Gap, ModelInfo, Predicted, PredictRequest } from "../schema";
import type { LiveState, Texts } from "./address";
import { predict } from "./api";
import { Changed } from "./Changed";
import type { Out } from "./out";
import { patiently } from "./patience";
import { predictionOf, withGuess, withMask } from "./predicting";
import { type Asking, useAsked } from "./useServer";

interface Props {
  texts: Texts;
  model: ModelInfo;
  truncate: boolean;
  beside: string; // the other text, where two are compared
  isRead: boolean; // not before the picture is there: the server does one thing at a time
  read: (texts: Texts, changes?: Partial<LiveState>) => void;
}

/** What the server predicts; nothing is asked where `asked` is null. */
function usePredicted(asked: PredictRequest | null): Asking<Predicted> {
  const ask = asked && ((signal: AbortSignal) => patiently(() => predict(asked, signal), signal, () => undefined));
  return useAsked<Predicted>(ask, JSON.stringify(asked));
}

export function Predictions({ texts, model, truncate, beside, isRead, read }: Props) {
  const [found, problem] = usePredicted(isRead ? predictionOf(texts, model, truncate, beside) : null);
  return (
    <div
      class="live-predictions"
      role="region" // of its own name: there are two where two texts are compared
      aria-label={`What the model predicts from “${texts.text}”`}
      aria-live="polite"
      tabIndex={found?.gaps.length ? 0 : undefined} // guesses scroll where there is no room
      data-predicted={found !== null}
    >
      {problem && <p>Nothing is predicted: {problem.message}</p>}
      {!found && !problem && <p class="live-later">{model.predicts === "target" ? "writing …" : "predicting …"}</p>}
      {found && <Found found={found} texts={texts} model={model} read={read} />}
    </div>
  );
}

/** The same without the heads that are out, in a line of its own; the last answer stays until the next is there. */
export function PredictedWithout({ texts, model, truncate, beside, isRead, out }: Omit<Props, "read"> & { out: Out }) {
  const [answer, problem] = usePredicted(isRead ? predictionOf(texts, model, truncate, beside, out) : null);
  const last = useRef<{ of: string; answer: Predicted } | null>(null);
  const of = JSON.stringify([texts, model.name]);
  if (answer) last.current = { of, answer };
  const found = answer ?? (last.current?.of === of ? last.current.answer : null);
  return (
    <div
      class="live-predictions live-changed"
      role="region"
      aria-label={`What the model predicts from “${texts.text}” without the heads that are out`}
      aria-live="polite"
      tabIndex={found?.gaps.length ? 0 : undefined}
      data-changed={answer ? answer.without?.heads.join() : ""}
    >
      {problem && <p>Nothing is predicted without them: {problem.message}</p>}
      {!found && !problem && <p class="live-later">without them …</p>}
      {found && !problem && <Changed found={found} model={model} />}
    </div>
  );
}

type FoundProps = Pick<Props, "texts" | "model" | "read"> & { found: Predicted };

function Found({ found, texts, model, read }: FoundProps) {
  if (found.written) return <Written found={found} texts={texts} read={read} />;
  const { mask } = model;
  return (
    <>
      {found.similarity === null ? (
        <p>
          {found.says}
          {model.compares && " Of two texts, it says how alike they are."}
        </p>
      ) : (
        <p class="live-alike" title={`The cosine of the two texts' mean vectors, each read by itself. ${found.says}`}>
          the two texts are alike by <b>{found.similarity.toFixed(2)}</b> (cosine); the model predicts no words
        </p>
      )}
      {found.task === "masked" && found.gaps.length === 0 && mask && (
        <button type="button" name="hide-word" class="quiet" onClick={() => read({ ...texts, text: withMask(texts.text, mask) })}>
          hide a word
        </button>
      )}
      {found.gaps.map((gap, place) => (
        <Guesses
          key={gap.position}
          gap={gap}
          label={found.task === "next" ? "next token" : found.gaps.length > 1 ? `${mask} ${place + 1}` : (mask ?? "")}
          choose={(guess) => read(withGuess(texts, gap.segment, guess))}
        />
      ))}
      {found.left_out > 0 && <p>and {found.left_out} more</p>}
    </>
  );
}

interface GuessesProps {
  gap: Gap;
  label: string;
  choose: (guess: Gap["guesses"][number]) => void;
}

function Guesses({ gap, label, choose }: GuessesProps) {
  return (
    <ol class="live-guesses" aria-label={label} data-position={gap.position}>
      <li class="live-gap" aria-hidden="true">
        {label}
      </li>
      {gap.guesses.map((guess) => (
        <li key={guess.token}>
          <Chip share={guess.probability} choose={guess.reads ? () => choose(guess) : null}>
            <bdi>{guess.token}</bdi> <b>{percent(guess.probability)}</b>
          </Chip>
        </li>
      ))}
    </ol>
  );
}

interface ChipProps {
  share: number;
  choose: (() => void) | null; // null where the token is no text
  children: ComponentChildren;
}

function Chip({ share, choose, children }: ChipProps) {
  const filled = { "--share": `${100 * share}%` };
  if (!choose) {
    return (
      <span class="live-guess" style={filled}>
        {children}
      </span>
    );
  }
  return (
    <button type="button" class="live-guess" style={filled} title="Read the text with this" onClick={choose}>
      {children}
    </button>
  );
}

/** The model's own translation, and a click that makes it the target: then cross attention can be seen. */
function Written({ found, texts, read }: Omit<FoundProps, "model">) {
  const isTarget = texts.target.trim() === found.written;
  const show = () => read({ ...texts, target: found.written }, { attention: "decoder cross", layer: null, heads: null });
  return (
    <>
      <p class="live-written" title={found.complete ? found.written : `${found.written} … (stopped here: it has no end, or takes too long)`}>
        <span class="live-gap">it writes</span> <bdi>{found.written}</bdi>
        {!found.complete && " …"}
      </p>
      {isTarget ? (
        <p>which is the target</p>
      ) : (
        <button type="button" name="use-target" class="quiet" title="Make it the target, and show the cross attention" onClick={show}>
          see what it looks at
        </button>
      )}
    </>
  );
}
