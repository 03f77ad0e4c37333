// The four views of one content, with what they share: tabs, choices, keys, what is hidden and how exact it is.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Chunks } from "../data/chunks";
import { groupOf, groupsOf } from "../data/content";
import { usualSinks } from "../data/sinks";
import { opening, seenIn } from "../data/telling";
import { percent } from "../drawing/canvas";
import { type Attention, type Content, type Measure, View } from "../schema";
import { type Change, format, type State } from "../state";
import { VIEWS } from "../views/list";
import { Footer } from "./Footer";
import { Keys } from "./Keys";
import { Tabs } from "./Tabs";
import { Toolbar } from "./Toolbar";
import { ViewedContext } from "./viewed";

interface Props {
  content: Content;
  chunks: Chunks;
  state: State;
  change: Change;
  dark: boolean;
  more?: Pick<Measure, "name" | "title">[]; // measures that this content may not have yet, and that can be chosen all the same
  link?: (state: State) => string; // the fragment of a link to what is shown
  keys?: [string, string][]; // that the page around this has, and what they do
  beside?: boolean; // the second of two texts: the first one's tabs, choices and keys are for both
}

export function Viewer({ content, chunks, state, change: changed, dark, more, link = format, keys, beside = false }: Props) {
  const [hidden, setHidden] = useState<number | null>(null);
  const group = useMemo(() => groupShown(content, state), [content, state.attention]);
  const { attention, shown } = useMemo(() => shownOf(content, group, state), [content, group, state]);
  // Who chooses heads has chosen their layer too: the page opens nowhere else any more.
  const change = useCallback<Change>(
    (changes) => changed("heads" in changes && !("layer" in changes) ? { layer: attention.layer, ...changes } : changes),
    [changed, attention],
  );
  const Drawn = VIEWS[shown.view];
  const onHidden = useCallback((share: number | null) => setHidden(share), []);
  const at = useRef(attention); // a key may be pressed again before the page is drawn anew
  at.current = attention;
  const moveLayer = useCallback(
    (step: number) => {
      const next = group[group.indexOf(at.current) + step];
      if (!next) return;
      at.current = next;
      change({ layer: next.layer });
    },
    [group, change],
  );
  useEffect(() => setHidden(null), [shown.view]);
  const stage = (
    <div class="stage" role="tabpanel" aria-label={`${shown.view} view`}>
      <Drawn onHidden={onHidden} />
    </div>
  );
  const whole = beside ? (
    <section class="viewer" data-view={shown.view} data-ready="true" aria-label="The second text">
      {stage}
      {hidden !== null && <p class="beside-hidden">{percent(hidden)} hidden</p>}
    </section>
  ) : (
    <div class="viewer" data-view={shown.view} data-ready="true">
      <Tabs label="Views" tabs={View.map((name) => [name, name])} chosen={shown.view} choose={(view) => change({ view })} />
      <Toolbar hidden={hidden} more={more} link={link} />
      {content.compared?.notes.map((note) => (
        <p key={note} class="compared-note">
          {note}
        </p>
      ))}
      {stage}
      {/* The model view says it beside the head, which a grid of many layers may stand far above the end of. */}
      {shown.view !== "model" && <p class="seen">{seenIn(content, attention, shown.heads)}</p>}
      <Footer />
      <Keys moveLayer={moveLayer} more={keys} />
    </div>
  );
  const viewed = { content, chunks, state: shown, change, dark, group, attention };
  return <ViewedContext.Provider value={viewed}>{whole}</ViewedContext.Provider>;
}

/** The state with nothing left open: its layer and heads are those that the page shows of this content. */
export function shownIn(content: Content, state: State): State {
  return shownOf(content, groupShown(content, state), state).shown;
}

function shownOf(content: Content, group: Attention[], state: State): { attention: Attention; shown: State } {
  const opened = opening(content, groupOf(group[0]), state.view);
  const attention = group.find((one) => one.layer === (state.layer ?? opened?.layer)) ?? group[0];
  return { attention, shown: fitted(state, content, attention, opened?.heads ?? null) };
}

function groupShown(content: Content, state: State): Attention[] {
  const groups = groupsOf(content);
  const usual = groups.find((name) => name.endsWith("cross")) ?? groups[0];
  const chosen = groups.includes(state.attention) ? state.attention : usual;
  return content.attentions.filter((one) => groupOf(one) === chosen);
}

/** The state without what this content does not have: an address may come from another page. */
function fitted(state: State, content: Content, attention: Attention, opened: number[] | null): State {
  const measures = Object.keys(attention.scores);
  const isPair = [attention.query, attention.key].some((side) => content.sides[side].segments.includes(1));
  const asked = state.layer === null && state.heads === null ? opened : state.heads;
  const heads = asked?.filter((head) => attention.heads.includes(head)) ?? null;
  return {
    ...state,
    attention: groupOf(attention),
    layer: attention.layer,
    heads: heads?.length === 0 && asked?.length !== 0 ? null : heads,
    measure: measures.includes(state.measure) ? state.measure : measures[0],
    compare: measures.includes(state.compare) && !content.compared ? state.compare : "",
    of: content.compared ? state.of : "",
    pairs: isPair ? state.pairs : "all",
    least: Math.min(1, state.least),
    top: Math.floor(state.top),
    sinks: state.sinks || usualSinks(content, attention, state),
    sort: content.statistics.some((statistic) => statistic.name === state.sort) ? state.sort : "",
  };
}
