// What one layer's heads look at: tokens on both sides, a line for every score (vig2019, section 4.1).
import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import { isJoint } from "../../data/content";
import { drawn } from "../../drawing/drawn";
import { useScores } from "../../shell/hooks";
import { Chips } from "./Chips";
import { chosenPlaces } from "./maps";
import { Picture } from "./Picture";
import type { ViewProps } from "../props";

export function HeadView({ content, chunks, state, change, dark, attention, onHidden }: ViewProps) {
  const root = useRef<HTMLDivElement>(null);
  const scores = useScores(content, chunks, attention);
  const [previewed, preview] = useState<number | null>(null);
  const places = useMemo(() => chosenPlaces(content, attention, state), [content, attention, state.measure, state.heads]);
  const alone = places.findIndex((place) => attention.heads[place] === previewed);
  const onDrawn = useCallback(() => drawn(root.current), []);
  return (
    <div class="head-view" ref={root}>
      <Chips
        attention={attention}
        heads={state.heads}
        joint={isJoint(content, attention, state.measure)}
        change={change}
        dark={dark}
        preview={preview}
      />
      <Picture
        content={content}
        attention={attention}
        scores={scores}
        state={state}
        change={change}
        dark={dark}
        places={places}
        preview={alone >= 0 ? alone : null}
        onDrawn={onDrawn}
        onHidden={onHidden}
      />
    </div>
  );
}
