// The choices that all views share. Whatever a content does not offer (pairs, kinds of attention, words) is not shown.
import { groupsOf } from "../data/content";
import { hasSinks, sinksNamed } from "../data/sinks";
import { percent } from "../drawing/canvas";
import type { Compared, Measure, Of, Pairs, ReadText, Small } from "../schema";
import type { State } from "../state";
import { CopyButton } from "./CopyButton";
import { Choice, Slider } from "./choices";
import { ThemeButton } from "./ThemeButton";
import { useViewed } from "./viewed";

interface Props {
  hidden: number | null; // the share that lies on sinks which are not shown
  more?: Pick<Measure, "name" | "title">[];
  link: (state: State) => string;
}

/** What of a difference is shown, each with the text or the model that it is of. */
function ofOptions({ a, b }: Compared): [Of, string][] {
  const name = (one: ReadText) => (a.model === b.model ? one.title : one.model);
  return [["", "B − A"], ["a", `A: ${name(a)}`], ["b", `B: ${name(b)}`]];
}

const PAIRS: [Pairs, string][] = [
  ["all", "all"],
  ["aa", "A → A"],
  ["ab", "A → B"],
  ["ba", "B → A"],
  ["bb", "B → B"],
];

const SMALL: [Small, string][] = [
  ["", "lines or maps"],
  ["lines", "lines"],
  ["maps", "maps"],
];

const SINKS: [State["sinks"], string][] = [
  ["shown", "shown"],
  ["hidden", "left out"],
  ["renormalised", "rest to 100%"],
];

export function Toolbar({ hidden, more = [], link }: Props) {
  const { content, group, attention, state, change, dark } = useViewed();
  const groups = groupsOf(content);
  const sides = [content.sides[attention.query], content.sides[attention.key]];
  const here = content.measures.filter((measure) => measure.name in attention.scores);
  const measures = [...here, ...more.filter((measure) => !content.measures.some((one) => one.name === measure.name))];
  const hasPairs = sides.some((side) => side.segments.includes(1));
  const hasWords = sides.some((side) => side.words.length < side.tokens.length);
  const inModel = state.view === "model";
  return (
    <form class="toolbar" aria-label="What is shown" onSubmit={(event) => event.preventDefault()}>
      {content.compared && <Choice label="show" value={state.of} options={ofOptions(content.compared)} set={(of) => change({ of })} />}
      {groups.length > 1 && (
        <Choice
          label="attention"
          value={state.attention}
          options={groups.map((name) => [name, name])}
          set={(attention) => change({ attention, layer: null, heads: null, keep: [] })}
        />
      )}
      {group.length > 1 && (
        <Choice
          label="layer"
          value={inModel ? "all" : String(attention.layer)}
          options={[...(inModel ? ["all"] : []), ...group.map((one) => String(one.layer))].map((one) => [one, one])}
          disabled={inModel}
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
          label="level"
          value={state.level}
          options={[["token", "tokens"], ["word", "words"]]}
          set={(level) => change({ level, keep: [] })}
        />
      )}
      {hasPairs && <Choice label="pairs" value={state.pairs} options={PAIRS} set={(pairs) => change({ pairs })} />}
      <Slider
        name="least"
        label="at least"
        range={[0, 1]}
        step={0.01}
        value={state.least}
        shown={percent(state.least)}
        said={`${percent(state.least)} of the largest`}
        set={(least) => change({ least })}
      />
      <Slider
        name="top"
        range={[0, 20]}
        step={1}
        value={state.top}
        shown={state.top ? String(state.top) : "all"}
        said={state.top ? `the ${state.top} largest of each token` : "all"}
        set={(top) => change({ top })}
      />
      {hasSinks(content, attention) && (
        <span class="sinks-choice">
          <Choice label="sinks" value={state.sinks} options={SINKS} set={(sinks) => change({ sinks })} />
          {hidden !== null && (
            <em class="hidden-share" role="status" title={`Of what is shown, ${percent(hidden)} goes to sinks: ${sinksNamed(content, attention).join(", ")}`}>
              {percent(hidden)} hidden
            </em>
          )}
        </span>
      )}
      {inModel && <Choice label="heads as" value={state.small} options={SMALL} set={(small) => change({ small })} />}
      <span class="toolbar-end">
        <CopyButton fragment={link(state)} />
        <ThemeButton dark={dark} change={change} />
      </span>
    </form>
  );
}
