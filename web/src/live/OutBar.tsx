// The heads that are out, struck, each with a way back; what takes their place, and whose pictures are drawn.
import type { Instead, ModelInfo } from "../schema";
import { Choice } from "../shell/choices";
import { type Out, piecesOf } from "./out";

interface Props {
  out: Out;
  model: ModelInfo;
  put: (back: string[]) => void;
  setHow: (how: Instead) => void;
  isDrawn: boolean; // whether the pictures are of the model without them
  setDrawn: (wanted: boolean) => void;
}

const HOW: [Instead, string][] = [
  ["zero", "nothing"],
  ["mean", "its mean"],
];

const DRAWN: ["whole" | "without", string][] = [
  ["whole", "of the whole model"],
  ["without", "without these heads"],
];

export function OutBar({ out, model, put, setHow, isDrawn, setDrawn }: Props) {
  return (
    <section class="live-out" aria-label="Heads that are taken out">
      <span class="live-gap">out</span>
      <ul>
        {piecesOf(out.heads, model).map(({ name, heads }) => (
          <li key={name}>
            <button type="button" class="live-out-head" data-out={heads.join()} title={`Put ${name} back`} aria-label={`${name}: put it back`} onClick={() => put(heads)}>
              <s>{name}</s> <span aria-hidden="true">×</span>
            </button>
          </li>
        ))}
      </ul>
      <button type="button" name="put-back" class="quiet" onClick={() => put(out.heads)}>
        put all back
      </button>
      {model.means && <Choice label="in its place" value={out.how} options={HOW} set={setHow} />}
      <Choice label="pictures" value={isDrawn ? "without" : "whole"} options={DRAWN} set={(of) => setDrawn(of === "without")} />
    </section>
  );
}
