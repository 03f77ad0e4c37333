// One head of the model view, large: its lines, its numbers, its statistics.
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { headName } from "../../data/content";
import { seenIn } from "../../data/telling";
import { number } from "../../drawing/canvas";
import { frameGrows } from "../../shell/frame";
import { useViewed } from "../../shell/viewed";
import { TakeOut } from "../../shell/without";
import { Picture } from "../head/Picture";

interface Props {
  place: number; // of the head; 0 for all heads together
  joint: boolean;
  close: () => void;
}

export function Enlarged({ place, joint, close }: Props) {
  const { content, attention, change } = useViewed();
  const places = useMemo(() => [place], [place]);
  const panel = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    // In a frame that is as high as the page nothing scrolls, so nothing sticks: the panel stands beside its head.
    const cell = document.querySelector(".model-cell[aria-pressed=true]");
    const main = panel.current?.previousElementSibling;
    if (!frameGrows() || !panel.current || !cell || !main) return;
    const [from, to] = [main.getBoundingClientRect(), cell.getBoundingClientRect()];
    const lowest = Math.max(0, from.height - panel.current.offsetHeight);
    const isBeside = from.right <= panel.current.getBoundingClientRect().left;
    panel.current.style.marginTop = isBeside ? `${Math.min(Math.max(0, to.top - from.top - 60), lowest)}px` : "";
  }, [place, attention]);
  const head = attention.heads[place];
  const label = joint ? `layer ${attention.layer}, all heads together` : `head ${attention.layer}.${head}`;
  const known = content.statistics.flatMap((statistic) => {
    const value = joint ? undefined : statistic.values[headName(attention, head)];
    return value === undefined ? [] : [{ statistic, value }];
  });
  return (
    <section class="enlarged" ref={panel} aria-label={label} data-head={joint ? attention.layer : `${attention.layer}.${head}`}>
      <header>
        <h2>{label}</h2>
        {!joint && <TakeOut heads={[headName(attention, head)]} what={`${attention.layer}.${head}`} />}
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
      <Picture places={places} preview={null} said={joint ? "" : seenIn(content, attention, [head])} onDrawn={() => undefined} />
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
    </section>
  );
}
