// Lines between tokens with their numbers beside them: the head view of a layer, and of one head in the model view.
import { useEffect, useMemo, useState } from "preact/hooks";
import { isDifference, measureTitle } from "../../data/content";
import { withoutSinks } from "../../data/shown";
import { number } from "../../drawing/canvas";
import { useScores, useWidth } from "../../shell/hooks";
import { useViewed } from "../../shell/viewed";
import "./head.css";
import { Drawing } from "./Drawing";
import { isolate } from "./isolated";
import { chooseLines } from "./lines";
import { axesOf, headMaps } from "./maps";
import { Numbers } from "./Numbers";

/** What the colours of a difference mean. */
export const SIGNS =
  "Blue is more in B than in A; orange, dashed is less. A token that only one of them has gives nothing here: there is nothing to compare it with.";

interface Props {
  places: number[]; // the heads that are shown
  preview: number | null; // of these, one that is shown alone for now
  said?: string; // the sentence about what is seen, where the page has no other place for it
  onDrawn: () => void;
  onHidden?: (share: number | null) => void;
}

const BESIDE = 820; // pixels: from here on the numbers stand beside the drawing
const ROOM_FOR_NUMBERS = 300;

export function Picture({ places, preview, said, onDrawn, onHidden }: Props) {
  const { content, attention, state, dark } = useViewed();
  const scores = useScores();
  const [box, width] = useWidth<HTMLDivElement>();
  const [pointed, point] = useState<string | null>(null);
  const { level, pairs, sinks, measure, least, top, of } = state;
  const axes = useMemo(() => axesOf(content, attention, state), [content, attention, level, pairs, sinks, of]);
  const maps = useMemo(
    () => scores && headMaps(content, scores, state, axes, places, dark),
    [content, scores, axes, measure, least, top, places.join(), dark],
  );
  const isolated = useMemo(() => isolate(state.keep, pointed, axes), [state.keep, pointed, axes]);
  const lines = useMemo(() => maps && chooseLines(maps, isolated, preview), [maps, isolated, preview]);
  useEffect(() => onHidden?.(maps && withoutSinks(state) ? maps.hidden : null), [maps, sinks, onHidden]);
  const title = measureTitle(content, state);
  const difference = isDifference(content, state);
  const beside = width >= BESIDE;
  const reveal = (token: string) => {
    box.current?.querySelector(`[data-token="${token}"]`)?.scrollIntoView({ block: "center" });
  };
  const empty = axes.rowPlaces.length === 0 || axes.columnPlaces.length === 0;
  return (
    <div class={beside ? "head-picture beside" : "head-picture"} ref={box}>
      {empty && <p class="empty">No token is left: show sinks, or choose other pairs.</p>}
      {width > 0 && !empty && (
        <Drawing
          axes={axes}
          maps={maps}
          lines={lines}
          isolated={isolated}
          widest={beside ? width - ROOM_FOR_NUMBERS - 24 : width}
          point={point}
          onDrawn={onDrawn}
        />
      )}
      <div class="head-aside">
        {said && <p class="seen">{said}</p>}
        {maps && !empty && <Numbers maps={maps} isolated={isolated} measure={title} point={point} reveal={reveal} />}
        {maps && lines && !empty && maps.maps.length > 0 && (
          <p class="head-caption" data-lines={lines.score.length} data-most={maps.most}>
            Left attends to right; the darkest line is {title} {number(maps.most)}.
            {withoutSinks(state) && " Percentages are what each token gives to sinks, which are not shown."}
            {difference ? ` ${SIGNS}` : maps.negative && " Dashed lines are below zero."}
            {lines.score.length < lines.all &&
              ` The strongest ${many(lines.score.length)} of ${many(lines.all)} lines are drawn.`}
            <span class="hint">{state.keep.length > 0 ? " Esc lets the kept tokens go." : " Click tokens to keep them."}</span>
          </p>
        )}
      </div>
    </div>
  );
}

function many(count: number): string {
  return count.toLocaleString("en");
}
