// A text that was read, in one line: a click on it opens the form again.
import type { ComponentChildren } from "preact";
import type { ModelInfo } from "../schema";
import type { Texts } from "./address";

interface Props {
  texts: Texts;
  model: ModelInfo;
  edit: () => void;
  children?: ComponentChildren; // buttons
}

export function TextLine({ texts, model, edit, children }: Props) {
  const second = model.encoder_decoder ? texts.target.trim() : texts.pair.trim();
  return (
    <div class="live-line">
      <button type="button" name="edit" class="live-read-text" title="Another text (the key / does it too)" onClick={edit}>
        <span class="live-words">
          <bdi>{texts.text}</bdi>
          {second && (
            <>
              <span class="live-between">{model.encoder_decoder ? "→" : "+"}</span>
              <bdi>{second}</bdi>
            </>
          )}
        </span>
        <span class="live-edit">edit</span>
      </button>
      {children}
    </div>
  );
}
