// The tokens of one side, from top to bottom: one stop of the Tab key, arrows inside.
import type { Axis } from "../../data/axis";
import { percent } from "../../drawing/canvas";

interface Props {
  side: "q" | "k";
  axis: Axis;
  places: number[];
  keep: string[];
  stop: number; // the token that Tab goes to, by its place in the list
  rowHeight: number;
  width: number;
  hidden?: Float32Array; // of what each gives, the share on sinks that are not shown
}

export function Tokens({ side, axis, places, keep, stop, rowHeight, width, hidden }: Props) {
  const label = side === "q" ? "Tokens that attend" : "Tokens that are attended to";
  return (
    <ol
      class={`tokens ${side === "q" ? "attending" : "attended"}`}
      role="listbox"
      aria-multiselectable="true"
      aria-label={label}
      style={{ width: `${width}px` }}
    >
      {places.map((token, place) => {
        const name = `${side}${token}`;
        return (
          <li
            key={name}
            role="option"
            data-token={name}
            data-place={place}
            class={axis.special[token] ? "token special" : "token"}
            data-change={axis.joint?.changes[token] || undefined}
            data-hidden={hidden && percent(hidden[token])}
            aria-selected={keep.includes(name)}
            tabIndex={place === stop ? 0 : -1}
            title={titleOf(axis, token) + (hidden ? `: ${percent(hidden[token])} of what it gives goes to sinks` : "")}
            style={{ height: `${rowHeight}px`, lineHeight: `${rowHeight - 4}px` }}
          >
            <bdi>{axis.labels[token]}</bdi>
          </li>
        );
      })}
    </ol>
  );
}

const WHAT = { "put in": "only in B", "left out": "only in A", exchanged: "one in A, the other in B" };

/** The label, whole, and what the tokenizer wrote where that is something else. */
function titleOf(axis: Axis, token: number): string {
  const [label, raw] = [axis.labels[token], axis.titles[token]];
  const whole = raw === label ? label : `${label}  (${raw})`;
  const change = axis.joint?.changes[token];
  return change ? `${whole}: ${WHAT[change]}` : whole;
}
