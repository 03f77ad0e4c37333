// The texts of one reading: Enter reads them, Shift+Enter begins a new line.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ModelInfo } from "../schema";
import type { Texts } from "./address";

interface Props {
  texts: Texts; // those that were read last
  model: ModelInfo;
  name: string; // of the first box; the key "/" goes to "text"
  label: string;
  submit: (texts: Texts) => void;
  children?: ComponentChildren; // more buttons
}

export function TextForm({ texts, model, name, label, submit, children }: Props) {
  const [draft, setDraft] = useState(texts);
  const [wantsPair, setWantsPair] = useState(texts.pair !== "");
  useEffect(() => {
    setDraft(texts);
    setWantsPair((wanted) => wanted || texts.pair !== "");
  }, [texts.text, texts.pair, texts.target]);
  const canPair = readsPairs(model);
  const asksPair = canPair && wantsPair;
  const send = () => {
    if (draft.text.trim()) submit(asksPair ? draft : { ...draft, pair: "" });
  };
  return (
    <form
      class="live-form"
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Box
        label={label}
        name={name}
        value={draft.text}
        placeholder={model.encoder_decoder ? "A text to translate from" : "Type or paste a text; Enter reads it"}
        set={(text) => setDraft({ ...draft, text })}
        send={send}
      />
      {asksPair && (
        <Box
          label="pair"
          name={`${name}-pair`}
          value={draft.pair}
          placeholder="A second text, which the model reads together with the first"
          set={(pair) => setDraft({ ...draft, pair })}
          send={send}
        />
      )}
      {model.encoder_decoder && (
        <Box
          label="target"
          name={`${name}-target`}
          value={draft.target}
          placeholder="Its translation; without one, only the encoder is shown"
          set={(target) => setDraft({ ...draft, target })}
          send={send}
        />
      )}
      <div class="live-buttons">
        <button type="submit" class="live-read" disabled={!draft.text.trim()}>
          Read
        </button>
        {canPair && (
          <button
            type="button"
            name={`${name}-wants-pair`}
            class="quiet"
            title="A second text, which the model reads together with the first"
            onClick={() => setWantsPair(!wantsPair)}
          >
            {wantsPair ? "no pair" : "+ pair"}
          </button>
        )}
        {children}
      </div>
    </form>
  );
}

/** Where the first text is typed. */
export function textBox(): HTMLTextAreaElement | null {
  return document.querySelector("textarea[name=text]");
}

/** Whether a model takes two texts at once: encoders do. */
export function readsPairs(model: ModelInfo): boolean {
  return !model.encoder_decoder && model.attentions.some((attention) => attention.stack === "encoder");
}

interface BoxProps {
  label: string;
  name: string;
  value: string;
  placeholder: string;
  set: (text: string) => void;
  send: () => void;
}

function Box({ label, name, value, placeholder, set, send }: BoxProps) {
  const press = (event: KeyboardEvent) => {
    if (event.key === "Escape") (event.currentTarget as HTMLElement).blur();
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return; // composing: Enter chooses a character
    event.preventDefault();
    send();
  };
  return (
    <label class="live-box">
      <span>{label}</span>
      <textarea
        name={name}
        rows={1}
        dir="auto"
        spellcheck={false}
        enterkeyhint="go"
        title={name === "text" ? "The key / comes here" : undefined}
        placeholder={placeholder}
        value={value}
        onInput={(event) => set(event.currentTarget.value)}
        onKeyDown={press}
      />
    </label>
  );
}
