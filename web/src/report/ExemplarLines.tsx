// A text that excites a head, as lines between its tokens: the part around the pair, which is marked.
import { useMemo } from "preact/hooks";
import { sinksOf, usualSinks } from "../data/sinks";
import { percent } from "../drawing/canvas";
import type { DrawnExemplar } from "../schema";
import { linesOf, shareLeftOut, type Window, windowsOf } from "./exemplar";
import { useExemplar } from "./useExemplar";

const ROW = 20; // pixels
const WIDTH = 150; // of the lines

interface Props {
  exemplar: DrawnExemplar;
  open?: () => void; // shows the whole text in the views
}

export function ExemplarLines({ exemplar, open }: Props) {
  const { content, keep } = exemplar;
  const { scores } = useExemplar(exemplar);
  const [attention] = content.attentions;
  const [queries, keys] = [content.sides[attention.query].tokens, content.sides[attention.key].tokens];
  const [row, key] = keep.map((name) => Number(name.slice(1)));
  const within = attention.query === attention.key;
  const windows = useMemo(() => windowsOf([row, key], [queries.length, keys.length], within), [exemplar]);
  const sinks = sinksOf(content, attention);
  const hides = usualSinks(content, attention, { level: "token", keep }) === "hidden"; // as the view that it opens in
  const isLeftOut = (place: number) => hides && sinks[place];
  const lines = scores ? linesOf(scores, keys.length, windows, isLeftOut) : [];
  const most = lines.length ? lines[lines.length - 1].score : 1;
  const hidden = scores ? shareLeftOut(scores, keys.length, windows[0], isLeftOut) : 0;
  const [left, right] = windows;
  const height = ROW * Math.max(left[1] - left[0], right[1] - right[0]);
  const pair = scores ? scores[row * keys.length + key] : 0;
  return (
    <figure class="exemplar-lines" data-drawn={scores !== null}>
      <figcaption>
        <b>{exemplar.rank === 1 ? "In the text that excites it most" : "In a text that excites it"}</b>, <bdi>{queries[row]}</bdi> looks at <bdi>{keys[key]}</bdi>
        {scores && `: ${percent(pair)}`}
      </figcaption>
      <div class="exemplar-sheet" style={{ height: `${height}px` }}>
        <Tokens tokens={queries} window={left} marked={row} mark="attending" isLeftOut={() => false} />
        <svg viewBox={`0 0 ${WIDTH} ${height}`} width={WIDTH} height={height} preserveAspectRatio="none" aria-hidden="true">
          {lines.map(({ from, to, score }) => (
            <line
              key={`${from} ${to}`}
              class={from === row && to === key ? "pair" : undefined}
              x1={0}
              x2={WIDTH}
              y1={(from - left[0] + 0.5) * ROW}
              y2={(to - right[0] + 0.5) * ROW}
              stroke-opacity={0.06 + 0.94 * (score / most)}
              stroke-width={0.6 + 2.4 * (score / most)}
              data-from={from}
              data-to={to}
              data-score={score}
            />
          ))}
        </svg>
        <Tokens tokens={keys} window={right} marked={key} mark="attended" isLeftOut={isLeftOut} />
      </div>
      <p>
        Left looks at right.
        {hidden > 0.005 && ` ${percent(hidden)} of what these tokens give goes to sinks, and is not drawn.`}
        {open && (
          <button type="button" class="open-view" name="open-exemplar" onClick={open}>
            Open in the view
          </button>
        )}
      </p>
    </figure>
  );
}

interface TokensProps {
  tokens: string[];
  window: Window;
  marked: number;
  mark: "attending" | "attended";
  isLeftOut: (place: number) => boolean;
}

function Tokens({ tokens, window: [start, stop], marked, mark, isLeftOut }: TokensProps) {
  return (
    <ol class={mark} aria-label={mark === "attending" ? "Tokens that look" : "Tokens that are looked at"}>
      {tokens.slice(start, stop).map((token, at) => {
        const place = start + at;
        const kind = place === marked ? undefined : isLeftOut(place) ? "left-out" : "plain";
        return (
          <li key={place} class={kind} style={{ height: `${ROW}px` }} title={token}>
            {place === marked ? <mark class={mark}>{token}</mark> : <bdi>{token}</bdi>}
          </li>
        );
      })}
    </ol>
  );
}
