// The texts of one reading: Enter reads them, Shift+Enter begins a new line.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ModelInfo } from "../schema";
import type { Texts } from "./address";

interface Props {
  texts: Texts; // those that were read last
  model: ModelInfo;
  name: string; // of the first box; the key "/" goes to "text"
  label: string;
  submit: (texts: Texts) => void;
  isOver: boolean; // a text that was read stands in a line: the form waits, and comes over it
  isEditing: boolean; // it is asked for
  setEditing: (wanted: boolean) => void;
  children?: ComponentChildren; // more buttons
}

export function TextForm({ texts, model, name, label, submit, isOver, isEditing, setEditing, children }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const [draft, setDraft] = useState(texts);
  const [wantsPair, setWantsPair] = useState(texts.pair !== "");
  useEffect(() => {
    setDraft(texts);
    setWantsPair((wanted) => wanted || texts.pair !== "");
  }, [texts.text, texts.pair, texts.target]);
  const isOpen = isEditing || !isOver;
  useLayoutEffect(() => {
    const box = form.current?.querySelector("textarea");
    const isTouch = window.matchMedia("(pointer: coarse)").matches; // where a keyboard would cover half of the page
    if (!isOpen || !box || (isTouch && !isEditing)) return;
    box.focus();
    box.select();
  }, [isOpen, isEditing]);
  const canPair = readsPairs(model);
  const asksPair = canPair && wantsPair;
  const send = () => {
    if (!draft.text.trim()) return;
    submit(asksPair ? draft : { ...draft, pair: "" });
    setEditing(false);
  };
  const leave = () => {
    if (isOver) setDraft(texts);
    setEditing(false);
  };
  return (
    <form
      class={isOver ? "live-form over" : "live-form"}
      ref={form}
      hidden={!isOpen}
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
        leave={leave}
      />
      {asksPair && (
        <Box
          label="pair"
          name={`${name}-pair`}
          value={draft.pair}
          placeholder="A second text, which the model reads together with the first"
          set={(pair) => setDraft({ ...draft, pair })}
          send={send}
          leave={leave}
        />
      )}
      {model.encoder_decoder && (
        <Box
          label="target"
          name={`${name}-target`}
          value={draft.target}
          placeholder="Its translation; without one, the model can write it"
          set={(target) => setDraft({ ...draft, target })}
          send={send}
          leave={leave}
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
        {isOver && (
          <button type="button" name={`${name}-close`} class="quiet" onClick={leave}>
            cancel
          </button>
        )}
      </div>
    </form>
  );
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
  leave: () => void;
}

function Box({ label, name, value, placeholder, set, send, leave }: BoxProps) {
  const press = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      (event.currentTarget as HTMLElement).blur();
      leave();
    }
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
