// The neuron view: how one token's weights come about, neuron by neuron (vig2019, section 4.3), and what they multiply.
import "./neuron.css";
import { useEffect, useMemo, useState } from "preact/hooks";
import { scoreTitle } from "../../data/content";
import type { Scores } from "../../data/scores";
import { number, percent } from "../../drawing/canvas";
import type { Attention, Neurons } from "../../schema";
import { useScores, useWidth } from "../../shell/hooks";
import { useViewed } from "../../shell/viewed";
import { HeadChoice, headShown } from "../HeadChoice";
import type { ViewProps } from "../list";
import { KeyRows, type Pointed } from "./KeyRows";
import { QueryChoice } from "./QueryChoice";
import { Reading } from "./Reading";
import { keptPieces, queriesShown, queryChosen, stepsOf } from "./steps";

const NARROW = 760;

export function NeuronView({ onHidden }: ViewProps) {
  const { state, attention } = useViewed();
  const scores = useScores();
  const neurons = attention.neurons;
  useEffect(() => {
    if (!neurons) onHidden(null);
  }, [neurons, onHidden]);
  if (!neurons) return <NoNeurons />;
  return (
    <div class="neuron-view">
      <div class="neuron-choices">
        <HeadChoice measures={["weight"]} />
        <p>{whatIsBetween(neurons, attention, headShown(state, attention), state.sinks === "renormalised")}</p>
      </div>
      {scores && <Loaded scores={scores} neurons={neurons} onHidden={onHidden} />}
    </div>
  );
}

function Loaded({ onHidden, scores, neurons }: ViewProps & { scores: Scores; neurons: Neurons }) {
  const { content, state, change, attention } = useViewed();
  const [ref, width] = useWidth<HTMLDivElement>();
  const [tried, setTried] = useState<number | null>(null); // a query that the pointer is on
  const [pointed, setPointed] = useState<Pointed>({ key: null, neuron: null });
  const side = content.sides[attention.query];
  const place = Math.max(0, attention.heads.indexOf(headShown(state, attention)));
  const attending = useMemo(() => keptPieces(state, "q", side), [state.keep, state.level, side]);
  const attended = useMemo(
    () => new Set(keptPieces(state, "k", content.sides[attention.key])),
    [state.keep, state.level, content, attention.key],
  );
  const can = useMemo(() => queriesShown(content, attention, state), [content, attention, state.sinks, state.pairs]);
  const row = tried !== null && can[tried] ? tried : queryChosen(attending, can, side.special);
  const { measure, pairs, least, top, sinks } = state;
  const steps = useMemo(
    () => (row < 0 ? null : stepsOf(content, scores, neurons, state, place, row)),
    [content, scores, neurons, place, row, measure, pairs, least, top, sinks],
  );
  useEffect(() => onHidden(steps?.hidden ?? null), [steps, onHidden]);
  useEffect(() => setPointed((before) => ({ ...before, key: null })), [steps?.shown.length]);
  // What is kept here are pieces, so from here on the page counts in pieces.
  const keep = (queries: number[], keys: number[]) =>
    change({ level: "token", keep: [...queries.map((query) => `q${query}`), ...keys.map((key) => `k${key}`)] });
  const toggle = (key: number) =>
    keep(attending, attended.has(key) ? [...attended].filter((one) => one !== key) : [...attended, key]);
  const title = scoreTitle(content, state, measure);
  return (
    <div ref={ref}>
      <QueryChoice side={side} can={can} chosen={row} onChoose={(query) => keep([query], [...attended])} onPoint={setTried} />
      {!steps || steps.shown.length === 0 ? (
        <p class="view-empty">No token is left to show: show sinks, choose other pairs of texts, or lower the threshold.</p>
      ) : (
        width > 0 && (
          <>
            <Reading steps={steps} query={side.tokens[row]} scaling={neurons.scaling} pointed={pointed} />
            <KeyRows
              steps={steps}
              query={side.tokens[row]}
              scaling={neurons.scaling}
              measure={measure === "weight" || measure === "norm" ? "" : title}
              narrow={width < NARROW}
              pointed={pointed}
              kept={attended}
              onPoint={setPointed}
              onKeep={toggle}
            />
            <p class="neuron-note">
              {steps.size} neurons; blue is above zero, orange below, each column to its own largest.
              {steps.hidden !== null && ` ${percent(steps.hidden)} of what this token gives goes to sinks, which are not shown.`}
              {steps.left > 0 && ` ${steps.left} keys are below the threshold.`}
            </p>
          </>
        )
      )}
    </div>
  );
}

/** One line about what makes weights of the products, and who shares the keys. */
function whatIsBetween(neurons: Neurons, attention: Attention, head: number, renormalised: boolean): string {
  const softmax = `softmax(${number(neurons.scaling)} q · k)`;
  const how = neurons.exact
    ? `The weights are ${softmax} over the keys that the token sees${renormalised ? " and that are no sinks" : ""}.`
    : `The weights are not ${softmax} alone: ${neurons.why || "something else stands between"}.`;
  const shared = attention.heads.length / neurons.keys.at.shape[0];
  if (shared <= 1) return how;
  const first = Math.floor(attention.heads.indexOf(head) / shared) * shared;
  const group = attention.heads.slice(first, first + shared).map((one) => `${attention.layer}.${one}`);
  return `${how} Heads ${group.join(", ")} share their keys.`;
}

function NoNeurons() {
  const { content, attention } = useViewed();
  if (content.compared) {
    return <p class="view-empty">Queries and keys are not compared: the neuron view is one of a single text, read by one model.</p>;
  }
  if (content.attentions.some((one) => one.neurons)) {
    return (
      <p class="view-empty">
        Layer {attention.layer} of the {attention.stack} {attention.kind} attention shows no queries and keys: choose another layer, or
        another view.
      </p>
    );
  }
  return (
    <p class="view-empty">
      This page was made without queries and keys, which the neuron view draws. To have them, write the page with{" "}
      <code>headscope view MODEL TEXT --view neuron -o view.html</code>, or in Python with <code>neuron_view(reading)</code>.
    </p>
  );
}
