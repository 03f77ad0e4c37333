// The page of `headscope serve`: texts to type and their pictures, and beside them what a run says of every head.
import "./live.css";
import { useEffect } from "preact/hooks";
import { Chunks } from "../data/chunks";
import { layersSaid } from "../data/content";
import { shapeOf } from "../report/heads";
import { ReportContext } from "../report/shown";
import type { LivePage, ModelInfo, Report, RunAnswer } from "../schema";
import { useDark } from "../shell/hooks";
import { ThemeButton } from "../shell/ThemeButton";
import { type ChangeLive, type LiveState, useLiveAddress } from "./address";
import { HeadPanel } from "./HeadPanel";
import { useLecture } from "./lecture";
import { Problem } from "./Problem";
import { partsOf, ReportParts } from "./ReportParts";
import { TextPart } from "./TextPart";
import { type Server, useServedReport, useServer } from "./useServer";

export function LiveApp({ page }: { page: LivePage }) {
  const [state, change] = useLiveAddress();
  const dark = useDark(state.theme);
  const [server, problem, again] = useServer(page);
  return server ? (
    <Started server={server} state={state} change={change} dark={dark} />
  ) : (
    <div class="page live">
      <header class="title">
        <h1>{page.title}</h1>
      </header>
      <main>
        {problem ? (
          <Problem problem={problem} again={again} />
        ) : (
          <p class="live-aside">Asking the server for its models …</p>
        )}
      </main>
    </div>
  );
}

const EVERYTHING = new Chunks(() => ""); // the server's report has no chunks: it is all there

interface Props {
  server: Server;
  state: LiveState;
  change: ChangeLive;
  dark: boolean;
}

function Started({ server, state, change, dark }: Props) {
  const { models, run } = server;
  const model = models.find((one) => one.name === state.model) ?? models[0];
  const [report, reportProblem, askReport] = useServedReport(run);
  const parts = run ? partsOf(report) : [];
  const part = parts.some(([name]) => name === state.part) ? state.part : "text";
  const card = report?.heads.find((head) => head.label === state.head);
  const isRead = part === "text" && state.text.trim() !== "";
  const lecturing = state.lecture && isRead;
  const lecture = useLecture(lecturing, change);
  useKeys(state, change);
  const isBeside = card && !lecturing;
  const whole = (
    <div class={["page live", isBeside && "with-card", isRead && "is-read", lecturing && "lecture"].filter(Boolean).join(" ")} data-ready="true">
      <main class="live-main">
        <header class="title">
          <h1>headscope</h1>
          {parts.length > 0 && (
            <Parts parts={[["text", "read a text"], ...parts]} part={part} change={change} isLoading={!report && !reportProblem} />
          )}
          {part !== "text" && run ? <RunName run={run} report={report} /> : <ModelChoice models={models} model={model} change={change} />}
          {isRead ? (
            <button type="button" name="lecture" class="quiet" title="Large type, full screen (the key l); Esc ends it" onClick={lecture}>
              {lecturing ? "end" : "lecture"}
            </button>
          ) : (
            <ThemeButton dark={dark} change={change} />
          )}
        </header>
        <div hidden={part !== "text"}>
          <TextPart server={server} model={model} report={report} state={state} change={change} dark={dark} />
        </div>
        {part !== "text" && (
          <ReportParts report={report} problem={reportProblem} again={askReport} part={part} />
        )}
      </main>
      {isBeside && report && run && <HeadPanel head={card} run={run} state={state} change={change} />}
    </div>
  );
  const shown = report && { report, chunks: EVERYTHING, state, change, dark };
  return <ReportContext.Provider value={shown}>{whole}</ReportContext.Provider>;
}

/** Esc closes a card, and lets go of the second text's tokens. */
function useKeys(state: LiveState, change: ChangeLive): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if ((event.target as HTMLElement).closest("input, select, textarea")) return;
      if (event.key === "Escape" && (state.head || state.besideKeep.length)) change({ head: "", besideKeep: [] });
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, [state.head, state.besideKeep, change]);
}

function ModelChoice({ models, model, change }: { models: ModelInfo[]; model: ModelInfo; change: ChangeLive }) {
  const shape = `${layersSaid(model.attentions)}, ${model.heads} heads, up to ${model.max_tokens} tokens`;
  const choose = (name: string) => change({ model: name, attention: "", layer: null, heads: null, keep: [], besideKeep: [], out: [] });
  return (
    <p class="live-model">
      {models.length > 1 ? (
        <label class="choice">
          <span>model</span>
          <select name="model" value={model.name} onChange={(event) => choose(event.currentTarget.value)}>
            {models.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      ) : (
        <b>{model.name}</b>
      )}
      <span class="live-aside live-shape">{shape}</span>
    </p>
  );
}

/** Whose heads these are: the run's own model, which need not be the one that texts are read with. */
function RunName({ run, report }: { run: RunAnswer; report: Report | null }) {
  return (
    <p class="live-model">
      <b>{run.model.name}</b>
      <span class="live-aside">
        run {run.name}
        {report && `: ${shapeOf(report)}`}
        {!run.model.served && "; this model is not served here, so no text can be read with its heads"}
      </span>
    </p>
  );
}

interface PartsProps {
  parts: [LiveState["part"], string][];
  part: LiveState["part"];
  change: ChangeLive;
  isLoading: boolean;
}

function Parts({ parts, part, change, isLoading }: PartsProps) {
  return (
    <nav class="live-parts" aria-label="Parts of the page">
      {parts.map(([name, title]) => (
        <button key={name} type="button" name={`part-${name}`} aria-current={name === part} onClick={() => change({ part: name })}>
          {title}
        </button>
      ))}
      {isLoading && <span class="live-aside">reading the run …</span>}
    </nav>
  );
}
