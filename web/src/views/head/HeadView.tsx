// What one layer's heads look at: tokens on both sides, a line for every score (vig2019, section 4.1).
import { useCallback, useMemo, useRef, useState } from "preact/hooks";
import { headName, isJoint } from "../../data/content";
import { drawn } from "../../drawing/drawn";
import { useViewed } from "../../shell/viewed";
import { useOutKey } from "../../shell/without";
import type { ViewProps } from "../list";
import { Chips } from "./Chips";
import { chosenPlaces } from "./maps";
import { Picture } from "./Picture";

export function HeadView({ onHidden }: ViewProps) {
  const { content, state, attention } = useViewed();
  const root = useRef<HTMLDivElement>(null);
  const [previewed, preview] = useState<number | null>(null);
  const places = useMemo(() => chosenPlaces(content, attention, state), [content, attention, state.measure, state.heads]);
  const alone = places.findIndex((place) => attention.heads[place] === previewed);
  const meant = isJoint(content, attention, state.measure) ? [] : alone >= 0 ? [previewed as number] : places.map((place) => attention.heads[place]);
  useOutKey(meant.map((head) => headName(attention, head)));
  const onDrawn = useCallback(() => drawn(root.current), []);
  return (
    <div class="head-view" ref={root}>
      <Chips preview={preview} />
      <Picture places={places} preview={alone >= 0 ? alone : null} onDrawn={onDrawn} onHidden={onHidden} />
    </div>
  );
}
