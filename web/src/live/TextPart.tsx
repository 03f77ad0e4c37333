// A text and its picture, or two side by side with one set of choices for both.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Head, ModelInfo, Report } from "../schema";
import type { Change, State } from "../state";
import { besideOf, type ChangeLive, format, type LiveState, type Texts, textsOf } from "./address";
import { Column } from "./Column";
import { examplesFor } from "./examples";
import { OutBar } from "./OutBar";
import { changed, inAddress, outOf } from "./out";
import { readsPairs } from "./TextForm";
import type { Server } from "./useServer";

interface Props {
  server: Server;
  model: ModelInfo;
  report: Report | null;
  state: LiveState;
  change: ChangeLive;
  dark: boolean;
}

export function TextPart({ server, model, report, state, change, dark }: Props) {
  const isOfRun = server.run !== null && server.run.model.served === model.name;
  const statistics = useMemo(() => (isOfRun && server.run ? server.run.statistics : []), [isOfRun, server.run]);
  const roles = useMemo(() => (isOfRun && report ? rolesOf(report) : {}), [isOfRun, report]);
  const comparing = state.beside;
  const besideState = useMemo(() => ({ ...state, keep: state.besideKeep }), [state]);
  const changeBeside = useCallback<Change>(
    ({ keep, ...changes }) => change(keep ? { ...changes, besideKeep: keep } : changes),
    [change],
  );
  const link = (shown: State) => format({ ...state, ...shown });
  const [editing, edit] = useState<"first" | "second" | "">("");
  useTextKey(() => {
    change({ part: "text" });
    edit("first");
  });
  const read = (texts: Texts, changes: Partial<LiveState> = {}) => change({ ...texts, keep: [], ...changes });
  const readBeside = ({ text, pair, target }: Texts, changes: Partial<LiveState> = {}) =>
    change({ besideText: text, besidePair: pair, besideTarget: target, besideKeep: [], ...changes });
  const editor = (place: "first" | "second") => ({
    isEditing: editing === place,
    setEditing: (wanted: boolean) => edit(wanted ? place : ""),
  });
  const out = outOf(state.out, state.instead, model);
  const outNow = useRef(out.heads); // a key may be pressed again before the page is drawn anew
  outNow.current = out.heads;
  const setOut = useCallback(
    (heads: string[], isOut: boolean) => {
      outNow.current = changed(outNow.current, heads, isOut);
      change({ out: inAddress(outNow.current) });
    },
    [change],
  );
  const shared = {
    out,
    setOut,
    isOutDrawn: state.outDrawn && out.heads.length > 0,
    model,
    statistics,
    roles,
    link,
    dark,
    isLarge: state.lecture,
    truncate: state.truncate,
    setTruncate: (truncate: boolean) => change({ truncate }),
  };
  const isEmpty = !state.text.trim();
  return (
    <>
      <div class={comparing ? "live-columns comparing" : "live-columns"}>
        <Column
          {...shared}
          {...editor("first")}
          place="first"
          texts={textsOf(state)}
          other={comparing ? state.besideText : ""}
          submit={read}
          state={state}
          change={change}
          beside={false}
          buttons={
            <button
              type="button"
              name="beside"
              class="quiet"
              title={comparing ? "Only the first text" : "A second text beside this one"}
              onClick={() => change({ beside: !comparing })}
            >
              {comparing ? "only one" : "compare"}
            </button>
          }
          outBar={
            <OutBar
              out={out}
              model={model}
              put={(heads) => setOut(heads, false)}
              setHow={(instead) => change({ instead })}
              isDrawn={state.outDrawn}
              setDrawn={(outDrawn) => change({ outDrawn })}
            />
          }
          empty={isEmpty && <Examples model={model} read={read} />}
          below={(shown) => isOfRun && report && !isEmpty && <HeadsShown report={report} state={shown} change={change} />}
        />
        {comparing && (
          <Column
            {...shared}
            {...editor("second")}
            place="second"
            texts={besideOf(state)}
            other={state.text}
            submit={readBeside}
            state={besideState}
            change={changeBeside}
            beside={!isEmpty}
          />
        )}
      </div>
    </>
  );
}

/** "/" goes to the text, as in many pages. */
function useTextKey(go: () => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || target.closest("input, select, textarea")) return;
      event.preventDefault();
      go();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  });
}

function Examples({ model, read }: { model: ModelInfo; read: (texts: Texts) => void }) {
  return (
    <section class="live-examples" aria-label="Examples">
      <p>Or begin with one of these:</p>
      <ul>
        {examplesFor(model, readsPairs(model)).map(({ why, ...texts }) => (
          <li key={texts.text}>
            <button type="button" class="live-example" onClick={() => read(texts)}>
              <span lang={model.encoder_decoder ? "fr" : "en"}>{texts.text}</span>
              {(texts.pair || texts.target) && <span>{texts.pair || texts.target}</span>}
              <small>{why}</small>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Of the heads that the run has found one for. */
function rolesOf(report: Report): Record<string, string> {
  return Object.fromEntries(report.heads.filter((head) => head.family !== "none").map((head) => [head.name, head.role]));
}

/** The heads that are chosen, in the words of the run's report; each opens its card. */
function HeadsShown({ report, state, change }: { report: Report; state: State; change: ChangeLive }) {
  const heads = headsShown(report, state);
  if (heads.length === 0) return null;
  return (
    <section class="live-heads" aria-label="What the run says of these heads">
      <ul>
        <li>The run says:</li>
        {heads.map((head) => (
          <li key={head.name}>
            <button type="button" class="head-link" data-card={head.label} onClick={() => change({ head: head.label })}>
              {head.label}
            </button>{" "}
            {head.role}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Those of one layer that the picture shows; a view of one head shows the first if none is chosen. */
function headsShown(report: Report, state: State): Head[] {
  if (state.view === "model") return [];
  const inLayer = report.heads.filter((head) => head.group === state.attention && head.layer === state.layer);
  const chosen = state.heads === null ? inLayer : inLayer.filter((head) => state.heads?.includes(head.head));
  return state.view === "head" ? chosen : chosen.slice(0, 1);
}
