// Every head of every layer, small; the one that is clicked, large (vig2019, section 4.2).
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { headName, isDifference, measureTitle } from "../../data/content";
import { withoutSinks } from "../../data/shown";
import { drawn } from "../../drawing/drawn";
import { useWidth } from "../../shell/hooks";
import { usePrinting } from "../../shell/printing";
import { useViewed } from "../../shell/viewed";
import { useOutKey } from "../../shell/without";
import { axesOf } from "../head/maps";
import { SIGNS } from "../head/Picture";
import { byLayer, byStatistic, type Cell, gridOf, inOrder, rangeOf, sortedBy, statisticsOf } from "./cells";
import { Enlarged } from "./Enlarged";
import { HeadReading } from "./HeadReading";
import { blocksOf, cellSize, cellsPerRow, lay, layOut, sizeOnSheet } from "./layout";
import { SmallMultiples } from "./SmallMultiples";
import { Sorting } from "./Sorting";
import { asLines } from "./thumbnail";
import { useThumbnails } from "./useThumbnails";
import "./model.css";
import type { ViewProps } from "../list";

const TALLEST = 1400; // pixels of all layers, where heads need not be very small for it
const EASILY_SEEN = 64; // pixels of a head: smaller only where they would not stand side by side
const SORTED = { least: 56, most: 96 }; // pixels of a small picture that stands in a row of its own order
const JOINT = { least: 84, most: 150 };

export function ModelView({ onHidden }: ViewProps) {
  const { content, state, change, group, attention } = useViewed();
  const root = useRef<HTMLDivElement>(null);
  const [box, width] = useWidth<HTMLDivElement>();
  const [pointed, point] = useState<string | null>(null);
  const [stop, setStop] = useState("");
  const grid = useMemo(() => gridOf(content, group, state.measure), [content, group, state.measure]);
  const sorted = sortedBy(content, grid, state);
  const flowing = sorted !== null || grid.joint;
  const printing = usePrinting();
  const blocks = printing || flowing ? 1 : blocksOf(width, grid, EASILY_SEEN, TALLEST);
  const largest = Math.max(EASILY_SEEN, Math.min(116, Math.floor((TALLEST * blocks) / grid.layers.length)));
  const across = cellSize(width, grid.heads.length, 22, largest, blocks);
  const { least, most } = grid.joint ? JOINT : sorted ? SORTED : { least: 0, most: across };
  const onScreen = width <= 0 ? 0 : Math.max(least, Math.min(most, grid.joint ? Math.floor(width / 6) : across));
  const size = printing ? sizeOnSheet(onScreen, grid, flowing) : onScreen;
  const spots = useMemo(() => {
    if (!flowing) return byLayer(grid, blocks);
    const perRow = cellsPerRow(width, size);
    return inOrder(sorted ? byStatistic(grid, sorted, state.above) : grid.cells, perRow, sorted);
  }, [grid, flowing, blocks, sorted, state.above, width, size]);

  const canvas = useRef<HTMLCanvasElement>(null);
  const layout = { spots, size, flowing };
  const latest = useRef(layout); // drawing goes on while heads are sorted
  latest.current = layout;
  const show = useCallback((keys: string[]) => {
    const now = latest.current;
    if (canvas.current) lay(canvas.current, thumbnails, now.spots, now.size, now.flowing, keys);
  }, []);
  const onDrawn = useCallback(() => drawn(root.current), []);
  const { thumbnails, strongest, hidden, hiddenOfHeads, negative } = useThumbnails(grid, size, show, onDrawn);
  useLayoutEffect(() => {
    if (canvas.current) layOut(canvas.current, thumbnails, spots, size, flowing);
  }, [thumbnails, spots, size, flowing, printing]);
  useEffect(() => onHidden(withoutSinks(state) ? hidden : null), [hidden, state.sinks, onHidden]);

  const place = state.heads?.length === 1 ? attention.heads.indexOf(state.heads[0]) : -1;
  const isChosen = (cell: Cell) => place >= 0 && cell.attention === attention && (grid.joint || cell.place === place);
  const chosen = grid.cells.find(isChosen) ?? null;
  const choose = useCallback((cell: Cell) => {
    change({ layer: cell.attention.layer, heads: [cell.head ?? cell.attention.heads[0]] });
  }, [change]);
  const close = () => {
    change({ heads: null });
    root.current?.querySelector<HTMLElement>(`[data-cell="${chosen?.key}"]`)?.focus();
  };
  const read = grid.cells.find((cell) => cell.key === pointed) ?? chosen;
  useOutKey(read && read.head !== null ? [headName(read.attention, read.head)] : []);
  const { level, pairs, sinks, of } = state;
  const axes = useMemo(() => axesOf(content, attention, state), [content, attention, level, pairs, sinks, of]);
  const lines = asLines(axes.rowPlaces.length, axes.columnPlaces.length, size, state.small);
  const statistics = useMemo(() => statisticsOf(content, group), [content, group]);
  const measure = measureTitle(content, state);
  const stopAt = spots.has(stop) ? stop : (chosen && spots.has(chosen.key) ? chosen.key : ([...spots.keys()][0] ?? ""));
  return (
    <div
      class={chosen ? "model-view with-enlarged" : "model-view"}
      ref={root}
      onKeyDown={(event) => event.key === "Escape" && chosen && close()}
    >
      <div class="model-main">
        {statistics.length > 0 && !grid.joint && (
          <Sorting
            statistics={statistics}
            sorted={sorted}
            range={sorted && rangeOf(sorted, grid)}
            shown={spots.size}
            all={grid.cells.length}
          />
        )}
        <p
          class={statistics.length ? "reading two-lines" : "reading"}
          role="status"
          aria-live="polite"
          data-pointed={read?.key ?? ""}
        >
          {read ? (
            <HeadReading
              cell={read}
              measure={measure}
              strongest={strongest.get(read.key) ?? null}
              hidden={withoutSinks(state) ? (hiddenOfHeads.get(read.key) ?? null) : null}
            />
          ) : (
            <span class="hint">Point at a {grid.joint ? "layer" : "head"}, click to enlarge it.</span>
          )}
        </p>
        <div class="model-scroll" ref={box}>
          {!flowing && <p class="model-axes">layers down, heads across</p>}
          {size > 0 && (
            <SmallMultiples
              grid={grid}
              spots={spots}
              flowing={flowing}
              blocks={blocks}
              size={size}
              canvas={canvas}
              chosen={chosen?.key ?? null}
              stop={stopAt}
              setStop={setStop}
              point={point}
              choose={choose}
            />
          )}
        </div>
        {spots.size === 0 && <p class="empty">No head has so large a number: move the slider to the left.</p>}
        <p class="head-caption">
          {lines
            ? "Lines go from the attending tokens, left, to the attended, right."
            : "Rows attend, columns are attended to."}{" "}
          Each {grid.joint ? "layer" : "head"} is drawn from nothing to its own largest {measure}: between them, strengths
          cannot be compared.
          {isDifference(content, state)
            ? ` ${SIGNS}`
            : negative && (lines ? " Orange, dashed lines are below zero." : " Orange is below zero.")}
        </p>
      </div>
      {chosen && (
        <Enlarged place={chosen.place} joint={grid.joint} close={close} />
      )}
    </div>
  );
}
