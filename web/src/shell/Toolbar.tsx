// The choices that all views share. Whatever a content does not offer (pairs, kinds of attention, words) is not shown.
import { useState } from "preact/hooks";
import { type Attention, type Content, groupsOf, type Measure } from "../data/page";
import { percent } from "../drawing/canvas";
import type { Change, State } from "../state";

interface Props {
  content: Content;
  group: Attention[];
  attention: Attention;
  state: State;
  change: Change;
  hidden: number | null;
  dark: boolean;
  more?: Pick<Measure, "name" | "title">[];
  link: (state: State) => string;
}

const PAIRS: [string, string][] = [
  ["all", "all"],
  ["aa", "A → A"],
  ["ab", "A → B"],
  ["ba", "B → A"],
  ["bb", "B → B"],
];

export function Toolbar({ content, group, attention, state, change, hidden, dark, more = [], link }: Props) {
  const groups = groupsOf(content);
  const sides = [content.sides[attention.query], content.sides[attention.key]];
  const here = content.measures.filter((measure) => measure.name in attention.scores);
  const measures = [...here, ...more.filter((measure) => !content.measures.some((one) => one.name === measure.name))];
  const hasPairs = sides.some((side) => side.segments.includes(1));
  const hasWords = sides.some((side) => side.words.length < side.tokens.length);
  const hasSpecial = sides.some((side) => side.special.includes(true));
  const inModel = state.view === "model";
  return (
    <form class="toolbar" aria-label="What is shown" onSubmit={(event) => event.preventDefault()}>
      {groups.length > 1 && (
        <Choice
          label="attention"
          value={state.attention}
          options={groups.map((name) => [name, name])}
          set={(attention) => change({ attention, layer: null, heads: null, keep: [] })}
        />
      )}
      {!inModel && group.length > 1 && (
        <Choice
          label="layer"
          value={String(attention.layer)}
          options={group.map((one) => [String(one.layer), String(one.layer)])}
          set={(layer) => change({ layer: Number(layer) })}
        />
      )}
      <Choice
        label="measure"
        value={state.measure}
        options={measures.map((measure) => [measure.name, measure.title])}
        set={(measure) => change({ measure })}
      />
      {hasWords && state.view !== "neuron" && (
        <Choice
          label="unit"
          value={state.unit}
          options={[["pieces", "pieces"], ["words", "words"]]}
          set={(unit) => change({ unit, keep: [] })}
        />
      )}
      {hasPairs && <Choice label="pairs" value={state.pairs} options={PAIRS} set={(pairs) => change({ pairs })} />}
      <label class="choice">
        <span>at least</span>
        <input
          type="range"
          name="least"
          min="0"
          max="1"
          step="0.01"
          value={state.least}
          aria-valuetext={`${percent(state.least)} of the largest`}
          onInput={(event) => change({ least: Number(event.currentTarget.value) })}
        />
        <output>{percent(state.least)}</output>
      </label>
      <label class="choice">
        <span>top</span>
        <input
          type="range"
          name="top"
          min="0"
          max="20"
          step="1"
          value={state.top}
          aria-valuetext={state.top ? `the ${state.top} largest of each token` : "all"}
          onInput={(event) => change({ top: Number(event.currentTarget.value) })}
        />
        <output>{state.top || "all"}</output>
      </label>
      {hasSpecial && (
        <label class="choice check">
          <input
            type="checkbox"
            name="special"
            checked={!state.special}
            onChange={(event) => change({ special: !event.currentTarget.checked })}
          />
          <span>hide special tokens</span>
          {!state.special && hidden !== null && (
            <em class="hidden-share" role="status">
              {percent(hidden)} hidden
            </em>
          )}
        </label>
      )}
      <span class="toolbar-end" style={{ display: "flex", gap: "16px", marginLeft: "auto" }}>
        <CopyLink address={link(state)} />
        <button
          type="button"
          name="theme"
          class="quiet"
          title={dark ? "A light page" : "A dark page"}
          onClick={() => change({ theme: dark ? "light" : "dark" })}
        >
          {dark ? "light" : "dark"}
        </button>
      </span>
    </form>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  options: [string, string][];
  set: (value: string) => void;
}

export function Choice({ label, value, options, set }: ChoiceProps) {
  return (
    <label class="choice">
      <span>{label}</span>
      <select name={label} value={value} onChange={(event) => set(event.currentTarget.value)}>
        {options.map(([name, title]) => (
          <option key={name} value={name}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

function CopyLink({ address }: { address: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(`${location.href.split("#")[0]}#${address}`);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button type="button" name="copy" class="quiet" title="Copy a link to just this picture" onClick={() => void copy()}>
      {copied ? "copied" : "copy link"}
    </button>
  );
}

/** The clipboard of a file or of a frame in a notebook is not open to scripts; selecting and copying is. */
export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
}
