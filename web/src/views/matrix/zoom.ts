// Zooming and moving, the same for every map that is shown: wheel, pinch, drag, double click, buttons.
import { select } from "d3-selection";
import { type ZoomBehavior, type ZoomTransform, zoom, zoomIdentity } from "d3-zoom";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { zoomOf } from "../../shell/zoom";
import type { Layout } from "./layout";

const READABLE_CELL = 44; // pixels: nobody needs to come nearer

export interface Zoom {
  transform: ZoomTransform;
  /** The ref of a map's element. */
  attach: (element: HTMLElement | null) => void;
  /** Nearer or further, around the middle of a cell; without one, around the middle of the map. */
  by: (factor: number, cell: { row: number; column: number } | null) => void;
  reset: () => void;
  /** Move just so far that a cell is in sight. */
  reveal: (row: number, column: number) => void;
}

/** Where a map that is moved by `moved` goes just so far that a cell from `start` on, of `size`, is in sight. */
export function inSight(moved: number, scale: number, start: number, size: number, room: number): number {
  return Math.max(-start * scale, Math.min(room - (start + size) * scale, moved));
}

/** d3 asks an SVG for its matrix to find a pointer in it, and takes any other element's pixels for those of the window. */
function inOwnPixels(element: HTMLElement): void {
  const matrix = () => {
    const { left, top } = element.getBoundingClientRect();
    return new DOMMatrix().translate(left, top).scale(zoomOf(element));
  };
  Object.assign(element, { createSVGPoint: () => new DOMPoint(), getScreenCTM: matrix });
}

export function useZoom({ width, height, cellWidth, cellHeight }: Layout): Zoom {
  const [transform, setTransform] = useState<ZoomTransform>(zoomIdentity);
  const elements = useRef(new Set<HTMLElement>());
  const current = useRef(transform);
  const behaviour = useMemo<ZoomBehavior<HTMLElement, unknown>>(() => {
    const made = zoom<HTMLElement, unknown>()
      .clickDistance(4)
      .duration(0)
      // One finger scrolls the page, unless there is something to move.
      .filter((event: Event) => {
        if (event instanceof MouseEvent && event.button) return false;
        return !("touches" in event) || (event as TouchEvent).touches.length > 1 || current.current.k > 1;
      });
    return made.on("zoom", (event: { transform: ZoomTransform }) => {
      current.current = event.transform;
      for (const element of elements.current) select(element).property("__zoom", event.transform);
      setTransform(event.transform);
    });
  }, []);

  const set = useCallback(
    (next: ZoomTransform) => {
      const [element] = elements.current;
      if (element) select(element).call(behaviour.transform, next);
    },
    [behaviour],
  );
  const attach = useCallback(
    (element: HTMLElement | null) => {
      for (const one of elements.current) if (!one.isConnected) elements.current.delete(one);
      if (!element || elements.current.has(element)) return;
      elements.current.add(element);
      inOwnPixels(element);
      select(element).call(behaviour).property("__zoom", current.current);
    },
    [behaviour],
  );

  const before = useRef({ width, height });
  useEffect(() => {
    const nearest = Math.max(8, READABLE_CELL / Math.min(cellWidth, cellHeight));
    behaviour
      .scaleExtent([1, nearest])
      .extent([[0, 0], [width, height]])
      .translateExtent([[0, 0], [width, height]]);
    const { k, x, y } = current.current;
    const [wider, higher] = [width / before.current.width, height / before.current.height];
    before.current = { width, height };
    if (k > 1 && (wider !== 1 || higher !== 1)) {
      set(zoomIdentity.translate(x * wider, y * higher).scale(Math.min(k, nearest)));
    }
  }, [behaviour, set, width, height, cellWidth, cellHeight]);

  const by = useCallback<Zoom["by"]>(
    (factor, cell) => {
      const [element] = elements.current;
      if (!element) return;
      const { k, x, y } = current.current;
      const middle = cell && [x + (cell.column + 0.5) * cellWidth * k, y + (cell.row + 0.5) * cellHeight * k];
      const isSeen = middle && middle[0] >= 0 && middle[0] <= width && middle[1] >= 0 && middle[1] <= height;
      select(element).call(behaviour.scaleBy, factor, isSeen ? [middle[0], middle[1]] : [width / 2, height / 2]);
    },
    [behaviour, width, height, cellWidth, cellHeight],
  );
  const reset = useCallback(() => set(zoomIdentity), [set]);
  const reveal = useCallback(
    (row: number, column: number) => {
      const { k, x, y } = current.current;
      const across = inSight(x, k, column * cellWidth, cellWidth, width);
      const down = inSight(y, k, row * cellHeight, cellHeight, height);
      const next = zoomIdentity.translate(across, down).scale(k);
      if (next.x !== x || next.y !== y) set(next);
    },
    [set, width, height, cellWidth, cellHeight],
  );
  return { transform, attach, by, reset, reveal };
}
