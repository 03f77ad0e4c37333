// Keys that work everywhere, and the card that lists them.
import { useEffect, useState } from "preact/hooks";
import { Of, View } from "../schema";
import { useViewed } from "./viewed";

const LIST: [string, string][] = [
  [View.map((_, place) => place + 1).join(" "), View.join(", ")],
  ["[ ]", "the layer before, the next"],
  ["m", "the next measure"],
  ["w", "words or tokens"],
  ["b", "of two that are compared: B − A, A, B"],
  ["s", "leave out sinks, or show them"],
  ["r", "without sinks, what is left of each row to 100%, or as it is"],
  ["d", "dark or light"],
  ["↑ ↓", "another token, where tokens are listed"],
  ["Enter", "keep a token"],
  ["Esc", "let all tokens go, close this card"],
  ["?", "this card"],
];

interface Props {
  moveLayer: (step: number) => void;
  more?: [string, string][]; // keys that the page around this has
}

export function Keys({ moveLayer, more = [] }: Props) {
  const { content, attention, state, change, dark } = useViewed();
  const [open, setOpen] = useState(false);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input:not([type=checkbox]), select, textarea")) return;
      const measures = content.measures.map((one) => one.name).filter((name) => name in attention.scores);
      const sides = [content.sides[attention.query], content.sides[attention.key]];
      // As in the toolbar: vectors belong to tokens, and a text may have no others.
      const hasWords = state.view !== "neuron" && sides.some((side) => side.words.length < side.tokens.length);
      const view = View[Number(event.key) - 1];
      const actions: Record<string, () => unknown> = {
        "[": () => moveLayer(-1),
        "]": () => moveLayer(1),
        m: () => change({ measure: measures[(measures.indexOf(state.measure) + 1) % measures.length] }),
        w: () => hasWords && change({ level: state.level === "word" ? "token" : "word", keep: [] }),
        b: () => content.compared && change({ of: Of[(Of.indexOf(state.of) + 1) % Of.length] }),
        s: () => change({ sinks: state.sinks === "shown" ? "hidden" : "shown" }),
        r: () => change({ sinks: state.sinks === "renormalised" ? "hidden" : "renormalised" }),
        d: () => change({ theme: dark ? "light" : "dark" }),
        "?": () => setOpen((before) => !before),
        Escape: () => (open ? setOpen(false) : change({ keep: [] })),
      };
      const action = actions[event.key] ?? (view && (() => change({ view })));
      if (!action) return;
      event.preventDefault();
      action();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, [content, attention, state, change, moveLayer, dark, open]);
  return (
    <>
      <button type="button" name="keys" class="quiet keys-button" title="Keys" aria-label="Keys" aria-expanded={open} onClick={() => setOpen(!open)}>
        ?
      </button>
      {open && (
        <div class="keys" role="dialog" aria-label="Keys">
          <dl>
            {[...more, ...LIST].map(([key, what]) => (
              <div key={key}>
                <dt>{key}</dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </div>
      )}
    </>
  );
}
