// The numbers behind what is pointed at: a neuron in q, k and their product, or a whole key.
import { number } from "../../drawing/canvas";
import { minus, type Pointed } from "./KeyRows";
import type { Steps } from "./steps";

interface Props {
  steps: Steps;
  query: string;
  scaling: number;
  pointed: Pointed;
}

export function Reading({ steps, query, scaling, pointed }: Props) {
  const step = pointed.key === null ? null : steps.shown[pointed.key];
  const neuron = pointed.neuron;
  if (!step && neuron === null) {
    return (
      <p class="neuron-reading" aria-live="polite">
        Point at a stripe for its neuron, at a row for how its weight comes about; a click keeps the row.
      </p>
    );
  }
  const q = neuron === null ? null : steps.query[neuron];
  const k = neuron === null || !step ? null : steps.keys[step.key * steps.size + neuron];
  return (
    <p
      class="neuron-reading"
      aria-live="polite"
      data-key={step?.key}
      data-neuron={neuron}
      data-q={q}
      data-k={k}
      data-product={q === null || k === null ? null : q * k}
    >
      {step && (
        <b>
          <bdi>{query}</bdi> → <bdi>{step.label}</bdi>
        </b>
      )}
      {q !== null && (
        <span>
          neuron {neuron}: q {minus(q)}
          {k !== null && ` × k ${minus(k)} = ${minus(q * k)}`}
        </span>
      )}
      {step && (
        <span>
          q · k {minus(step.dot)} × {number(scaling)} = {minus(step.scaled)}
        </span>
      )}
      {step && (
        <span>
          {step.unseen ? "it cannot be seen: weight 0" : `weight ${step.lost ? `below ${number(step.lost)}` : number(step.weight)}`}
          {step.valueNorm !== null && step.norm !== null && !step.unseen && !step.lost
            ? ` × ‖f(x)‖ ${number(step.valueNorm)} = norm ${number(step.norm)}`
            : ""}
        </span>
      )}
    </p>
  );
}
