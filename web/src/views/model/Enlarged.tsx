// One head of the model view, large: its lines, its numbers, its statistics.
import { useMemo } from "preact/hooks";
import type { Chunks } from "../../data/chunks";
import { headName } from "../../data/content";
import type { Attention, Content } from "../../schema";
import { number } from "../../drawing/canvas";
import { useScores } from "../../shell/hooks";
import type { Change, State } from "../../state";
import { Picture } from "../head/Picture";

interface Props {
  content: Content;
  chunks: Chunks;
  attention: Attention;
  place: number; // of the head; 0 for all heads together
  joint: boolean;
  state: State;
  change: Change;
  dark: boolean;
  close: () => void;
}

export function Enlarged({ content, chunks, attention, place, joint, state, change, dark, close }: Props) {
  const scores = useScores(content, chunks, attention);
  const places = useMemo(() => [place], [place]);
  const head = attention.heads[place];
  const label = joint ? `layer ${attention.layer}, all heads together` : `head ${attention.layer}.${head}`;
  const known = content.statistics.flatMap((statistic) => {
    const value = joint ? undefined : statistic.values[headName(attention, head)];
    return value === undefined ? [] : [{ statistic, value }];
  });
  return (
    <aside class="enlarged" aria-label={label} data-head={joint ? attention.layer : `${attention.layer}.${head}`}>
      <header>
        <h2>{label}</h2>
        <button
          type="button"
          name="open"
          class="quiet"
          onClick={() => change({ view: "head", layer: attention.layer, heads: joint ? null : [head] })}
        >
          open in head view
        </button>
        <button type="button" name="close" class="quiet" aria-label="close" onClick={close}>
          ×
        </button>
      </header>
      <Picture
        content={content}
        attention={attention}
        scores={scores}
        state={state}
        change={change}
        dark={dark}
        places={places}
        preview={null}
        onDrawn={() => undefined}
      />
      {known.length > 0 && (
        <dl class="head-statistics" aria-label="Statistics of this head">
          {known.map(({ statistic, value }) => (
            <div key={statistic.name} data-statistic={statistic.name} title={statistic.about}>
              <dt>{statistic.title}</dt>
              <dd>{number(value)}</dd>
            </div>
          ))}
        </dl>
      )}
    </aside>
  );
}
