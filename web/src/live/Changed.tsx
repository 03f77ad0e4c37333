// What the model predicts without the heads that are out, beside what it predicts with them: from, to, and which way.
import type { ComponentChildren } from "preact";
import { number, percent, signed } from "../drawing/canvas";
import type { Gap, Guess, ModelInfo, Predicted } from "../schema";
import { goneOf, likelyWithout, wayOf, wordsChanged } from "./changes";

interface Props {
  found: Predicted;
  model: ModelInfo;
}

export function Changed({ found, model }: Props) {
  const { without } = found;
  if (!without) return null;
  if (found.written || without.written) return <Written found={found} />;
  return (
    <>
      {found.similarity !== null && without.similarity !== null && (
        <p class="live-alike">
          without them alike by <FromTo from={found.similarity} to={without.similarity} said={(cosine) => cosine.toFixed(3)} />
        </p>
      )}
      {without.moved !== null && (
        <p class="live-alike" title="1 − cosine of the text's vector, with these heads and without">
          the text's vector moves by <b>{number(without.moved)}</b>
          {found.similarity === null && "; a second text shows what that changes (compare)"}
        </p>
      )}
      {found.gaps.map((gap, place) => (
        <Guesses key={gap.position} gap={gap} label={found.gaps.length > 1 ? `${model.mask} ${place + 1}` : ""} />
      ))}
      {found.loss !== null && without.loss !== null && (
        <p class="live-loss" title="The mean of −log p of each token of the text from those before it, in nats">
          loss <FromTo from={found.loss} to={without.loss} said={(loss) => loss.toFixed(2)} by />
        </p>
      )}
      {found.gaps.length === 0 && without.moved === null && <p>Nothing is predicted that could change.</p>}
    </>
  );
}

/** The five likeliest without them. */
function Guesses({ gap, label }: { gap: Gap; label: string }) {
  const gone = goneOf(gap);
  return (
    <ol class="live-guesses" aria-label={`${label} without these heads`} data-position={gap.position} data-kl={gap.kl}>
      <li class="live-gap" aria-hidden="true">
        without {label}
      </li>
      {likelyWithout(gap).map((guess) => (
        <li key={guess.token}>
          <span class="live-guess" style={{ "--share": `${100 * (guess.without ?? 0)}%` }} title={saidOf(gap, guess)}>
            <bdi>{guess.token}</bdi> <FromTo from={guess.probability} to={guess.without ?? 0} said={percent} />
          </span>
        </li>
      ))}
      {gone.length > 0 && (
        <li class="live-gone" title={gone.map((guess) => saidOf(gap, guess)).join("; ")}>
          gone: {gone.map((guess, place) => [place > 0 && ", ", <bdi key={guess.token}>{guess.token}</bdi>])}
        </li>
      )}
    </ol>
  );
}

function saidOf(gap: Gap, guess: Guess): string {
  const places = [guess.probability, guess.without ?? 0].map((share) => `${(100 * share).toPrecision(3)}%`);
  return `${guess.token}: ${places.join(" with all heads, ")} without these${gap.kl === null ? "" : ` (KL ${number(gap.kl)} nats over all tokens)`}`;
}

interface FromToProps {
  from: number;
  to: number;
  said: (value: number) => string;
  by?: boolean; // also the difference
}

/** 94% → 71% ↓: the way is an arrow, not a colour alone; what is said the same has none. */
function FromTo({ from, to, said, by = false }: FromToProps) {
  const way = wayOf(said(from), said(to), to - from);
  return (
    <span class="from-to" data-way={way}>
      {said(from)} → <b>{said(to)}</b>
      <Way way={way} />
      {by && ` (${signed(Number((to - from).toPrecision(3)))})`}
    </span>
  );
}

function Way({ way }: { way: "more" | "less" | "same" }): ComponentChildren {
  if (way === "same") return null;
  return (
    <i class="way" role="img" aria-label={way}>
      {way === "more" ? "▲" : "▼"}
    </i>
  );
}

/** What it writes without them, word by word: what is new is underlined, what is gone is struck. */
function Written({ found }: { found: Predicted }) {
  const { without } = found;
  if (!without) return null;
  const words = wordsChanged(found.written, without.written);
  const isSame = words.every(({ change }) => change === "");
  return (
    <p class="live-written" title={without.written}>
      <span class="live-gap">without</span>{" "}
      <bdi>
        {words.map(({ word, change }, place) => (
          <span key={place}>
            {change === "" ? word : change === "new" ? <ins>{word}</ins> : <del>{word}</del>}{" "}
          </span>
        ))}
      </bdi>
      {!without.complete && "…"}
      {isSame && <span class="live-gap">(the same)</span>}
    </p>
  );
}
