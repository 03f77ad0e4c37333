// A logit's parts: all heads as an atlas in two colours, and the chosen head's parts over the tokens that it looks at.
import { useEffect, useRef } from "preact/hooks";
import "./logits.css";
import { signed } from "../drawing/canvas";
import { css, diverging, inkOn } from "../drawing/colours";
import { drawn } from "../drawing/drawn";
import type { LogitGroup, LogitParts as Parts } from "../schema";
import { brief, HeadGrid, HeadRow } from "../shell/HeadGrid";
import type { Change, State } from "../state";

const MOST = 40; // tokens that are drawn of a longer text
const TEXTS = 26; // a narrower square has no number in it

interface Props {
  logits: Parts;
  state: State;
  change: Change;
  dark: boolean;
}

export function LogitParts({ logits, state, change, dark }: Props) {
  const root = useRef<HTMLElement>(null);
  const group = logits.groups.find((one) => one.name === state.attention) ?? logits.groups[0];
  const layer = state.layer !== null && group.layers.includes(state.layer) ? state.layer : group.layers[0];
  const head = state.heads?.[0] ?? 0;
  useEffect(() => drawn(root.current), [logits, dark, group, layer, head]);
  const largest = Math.max(...logits.groups.flatMap((one) => one.parts.flat().map((parts) => Math.abs(sum(parts)))), 1e-9);
  return (
    <section class="logits" ref={root} aria-label="Parts of the logit" data-first>
      <p class="logit-sums">
        <span>
          at <b>{logits.at}</b>, position {logits.position}:
        </span>
        {logits.sums.map(({ name, part }) => (
          <span key={name}>
            {name} <b>{signed(part)}</b>
          </span>
        ))}
        <span class="faint">left over {logits.remainder.toExponential(0).replace("-", "−")}</span>
      </p>
      <div class="logit-columns">
        <div>
          {logits.groups.map((one) => (
            <GroupAtlas
              key={one.name}
              group={one}
              several={logits.groups.length > 1}
              largest={largest}
              dark={dark}
              chosen={one === group ? [layer, head] : null}
              choose={(at, which) => change({ attention: one.name, layer: at, heads: [which] })}
            />
          ))}
          <p class="logit-legend">
            <i style={{ background: css(diverging(-0.7, dark)) }} /> speaks against it <i style={{ background: css(diverging(0.7, dark)) }} /> speaks for
            it
          </p>
        </div>
        <Tokens group={group} layer={layer} head={head} dark={dark} />
      </div>
      <h2 class="logit-everywhere">The same at every position</h2>
    </section>
  );
}

interface AtlasProps {
  group: LogitGroup;
  several: boolean;
  largest: number;
  dark: boolean;
  chosen: [number, number] | null;
  choose: (layer: number, head: number) => void;
}

function GroupAtlas({ group, several, largest, dark, chosen, choose }: AtlasProps) {
  const widest = Math.max(...group.parts.map((layer) => layer.length));
  return (
    <>
      <h2>Part of each head{several && `, ${group.name}`}</h2>
      <HeadGrid label={`Heads by layer, ${group.name}: part of the logit`} widest={widest} size="small" texts={TEXTS}>
        {group.layers.map((layer, row) => (
          <HeadRow key={layer} layer={layer}>
            {group.parts[row].map((parts, head) => {
              const part = sum(parts);
              const colour = diverging(part / largest, dark);
              const selected = chosen !== null && chosen[0] === layer && chosen[1] === head;
              return (
                <button
                  key={head}
                  type="button"
                  role="gridcell"
                  class="square"
                  aria-selected={selected}
                  aria-label={`${layer}.${head}: ${signed(part)}`}
                  title={`${layer}.${head}: ${signed(part)}`}
                  tabIndex={selected || (chosen === null && row === 0 && head === 0) ? 0 : -1}
                  data-head={`${layer}.${head}`}
                  data-part={part}
                  data-place={head}
                  style={{ background: css(colour), color: inkOn(colour) }}
                  onClick={() => choose(layer, head)}
                >
                  <span>{Math.abs(part) < largest / 20 ? "" : brief(part, largest)}</span>
                </button>
              );
            })}
          </HeadRow>
        ))}
      </HeadGrid>
    </>
  );
}

/** The tokens that a head looks at, in the order of the text, each with its part. */
function Tokens({ group, layer, head, dark }: { group: LogitGroup; layer: number; head: number; dark: boolean }) {
  const parts = group.parts[group.layers.indexOf(layer)][head] ?? [];
  const kept = strongest(parts, MOST);
  const low = Math.min(0, ...parts);
  const span = Math.max(0, ...parts) - low || 1;
  return (
    <div class="logit-tokens" data-shown={`${layer}.${head}`}>
      <h2>
        {layer}.{head} by the token that it looks at: {signed(sum(parts))}
      </h2>
      <ol>
        {kept.map((place) => {
          const part = parts[place];
          const left = (100 * (Math.min(part, 0) - low)) / span;
          return (
            <li key={place} data-part={part}>
              <bdi>{group.tokens[place]}</bdi>
              <span class="track" aria-hidden="true">
                <i style={{ left: `${left}%`, width: `${(100 * Math.abs(part)) / span}%`, background: css(diverging(part < 0 ? -0.7 : 0.7, dark)) }} />
                <b style={{ left: `${(-100 * low) / span}%` }} />
              </span>
              <span class="number">{Math.abs(part) < 0.0005 ? "0" : `${part < 0 ? "−" : "+"}${Math.abs(part).toFixed(3)}`}</span>
            </li>
          );
        })}
      </ol>
      {kept.length < parts.length && (
        <p class="faint">
          The {kept.length} largest of {parts.length} tokens.
        </p>
      )}
    </div>
  );
}

/** The places of the largest, whatever their sign, in their own order. */
export function strongest(parts: number[], most: number): number[] {
  const places = parts.map((_, place) => place);
  if (parts.length <= most) return places;
  return places
    .sort((a, b) => Math.abs(parts[b]) - Math.abs(parts[a]) || a - b)
    .slice(0, most)
    .sort((a, b) => a - b);
}

function sum(parts: number[]): number {
  return parts.reduce((total, part) => total + part, 0);
}
