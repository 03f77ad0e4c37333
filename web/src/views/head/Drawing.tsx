// Tokens left and right with lines between them. Only the part that is seen is drawn, so that a long text scrolls smoothly.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { withoutSinks } from "../../data/shown";
import { prepare } from "../../drawing/canvas";
import { useScreenHeight } from "../../shell/frame";
import { SHEET, usePrinting } from "../../shell/printing";
import { useViewed } from "../../shell/viewed";
import { type Isolated, numberOf, sideOf } from "./isolated";
import { drawLines, type Ends, type Lines } from "./lines";
import type { Axes, HeadMaps } from "./maps";
import { bringIntoSight } from "./sight";
import { drawSquares } from "./squares";
import { Tokens } from "./Tokens";

interface Props {
  axes: Axes;
  maps: HeadMaps | null; // null until they are unpacked
  lines: Lines | null;
  isolated: Isolated | null;
  widest: number; // pixels that there are
  point: (token: string | null) => void;
  onDrawn: () => void;
}

const GAP = 5; // between a token and its lines
const SHARP = 2; // pixels a CSS pixel, of a picture that is cut: a whole one is printed as lines
const ROOM = SHEET.height - 160; // for tokens, on a sheet with a title and numbers
const WIDER = 1.8; // than high, at the most: flatter lines cannot be told apart
const ROOMY = 700; // pixels: where there are as many, few tokens stand further apart, and their lines may be longer
const ABOVE = 290; // pixels of a screen: the title and all choices, and a sentence below
const SHARE = 36; // for what a token gives to sinks that are not shown
const FONT = "600 14px system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";

export function Drawing({ axes, maps, lines, isolated, widest, point, onDrawn }: Props) {
  const { content, change, dark, state } = useViewed();
  const { keep } = state;
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const slices = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ width: 0, height: 0 });
  const [stops, setStops] = useState({ q: 0, k: 0 });
  const printing = usePrinting();
  const screen = useScreenHeight();
  const longest = Math.max(axes.rowPlaces.length, axes.columnPlaces.length);
  const rowHeight = printing ? onSheet(longest) : longest > 48 ? 20 : widest < ROOMY ? 24 : apart(longest, screen);
  const height = rowHeight * longest;
  const most = Math.min(210, Math.floor(0.31 * widest));
  const shares = withoutSinks(state) ? SHARE : 0;
  const left = useMemo(() => labelWidth(axes.rows.labels, axes.rowPlaces, most - shares) + shares, [axes, most, shares]);
  const right = useMemo(() => labelWidth(axes.columns.labels, axes.columnPlaces, most), [axes, most]);
  const between = Math.min(Math.max(420, WIDER * height), Math.max(80, widest - left - right));
  const width = Math.min(widest, left + right + between);
  const sight = printing ? { width, height } : seen; // on paper nothing is scrolled away
  const isCut = printing && height > ROOM;

  useEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const measure = () => setSeen({ width: element.clientWidth, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);

  const paint = () => {
    const element = scroller.current;
    if (!element || !canvas.current || !sight.width || !sight.height) return;
    const context = prepare(canvas.current, sight.width, sight.height, isCut ? SHARP : undefined);
    const ends: Ends = {
      left: left + GAP,
      right: sight.width - right - GAP,
      rowHeight,
      top: printing ? 0 : element.scrollTop,
      height: sight.height,
      pinned: printing ? null : isolated,
    };
    if (!maps || !lines) return;
    const met = isolated?.met ?? null;
    const places = met && sideOf(met) === "q" ? axes.rowPlaces : axes.columnPlaces;
    drawLines(context, lines, maps, ends, met ? { side: sideOf(met), place: places.indexOf(numberOf(met)) } : null);
    if (!isolated || !maps.maps.length) return;
    const style = getComputedStyle(element);
    drawSquares(context, maps, isolated, ends, sight.width, style.getPropertyValue("--ground"));
    if (met) {
      const [start, wide] = sideOf(met) === "q" ? [0, left] : [sight.width - right, right];
      context.fillStyle = style.getPropertyValue("--mark");
      context.fillRect(start, places.indexOf(numberOf(met)) * rowHeight - ends.top + 1, wide, rowHeight - 2);
    }
  };
  const painted = useRef(paint);
  painted.current = paint;
  // What a page or a text opens with is kept for its reader to see: not what is kept later, by a click in sight. Before it
  // is painted: where it has been scrolled to, no event says so again.
  const opened = useRef<typeof content.sides | null>(null);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || !maps || !seen.height || opened.current === content.sides) return undefined;
    opened.current = content.sides;
    return bringIntoSight(element, keep);
  }, [content.sides, seen.height > 0, maps !== null]);

  useLayoutEffect(() => {
    paint();
    if (canvas.current && slices.current) cutInto(slices.current, canvas.current, sight.width, rowHeight);
    if (maps && seen.width) onDrawn();
  }, [maps, lines, isolated, isCut, sight.width, sight.height, dark, left, right, rowHeight]);

  const waiting = useRef(0);
  const scrolled = () => {
    cancelAnimationFrame(waiting.current);
    waiting.current = requestAnimationFrame(() => painted.current());
  };

  const toggle = (name: string) =>
    change({ keep: keep.includes(name) ? keep.filter((one) => one !== name) : [...keep, name] });
  const pressed = (event: KeyboardEvent) => {
    const element = tokenAt(event);
    if (!element) return;
    const side = sideOf(element.dataset.token ?? "q");
    const place = Number(element.dataset.place);
    const go = (to: "q" | "k", next: number) => {
      const there = to === "q" ? axes.rowPlaces : axes.columnPlaces;
      const stop = Math.max(0, Math.min(there.length - 1, next));
      setStops((before) => ({ ...before, [to]: stop }));
      scroller.current?.querySelector<HTMLElement>(`[data-token="${to}${there[stop]}"]`)?.focus();
    };
    const actions: Record<string, () => void> = {
      ArrowDown: () => go(side, place + 1),
      ArrowUp: () => go(side, place - 1),
      Home: () => go(side, 0),
      End: () => go(side, Number.MAX_SAFE_INTEGER),
      ArrowRight: () => go("k", side === "k" ? place : Math.min(place, axes.columnPlaces.length - 1)),
      ArrowLeft: () => go("q", side === "q" ? place : Math.min(place, axes.rowPlaces.length - 1)),
      Enter: () => toggle(element.dataset.token ?? ""),
      " ": () => toggle(element.dataset.token ?? ""),
      Escape: () => {
        element.blur();
        point(null);
      },
    };
    const action = actions[event.key];
    if (!action) return;
    if (event.key !== "Escape") event.preventDefault();
    action();
  };

  const shared = { keep, rowHeight };
  const hidden = shares ? maps?.rowHidden : undefined;
  // Hovering draws anew, and lists of a thousand tokens need not be compared for it.
  const lists = useMemo(
    () => (
      <div class="head-sheet" style={{ height: `${height}px` }}>
        <Tokens side="q" axis={axes.rows} places={axes.rowPlaces} stop={stops.q} width={left} hidden={hidden} {...shared} />
        <Tokens side="k" axis={axes.columns} places={axes.columnPlaces} stop={stops.k} width={right} {...shared} />
      </div>
    ),
    [axes, hidden, keep.join(), stops, rowHeight, left, right],
  );
  return (
    <div
      class="head-drawing"
      ref={scroller}
      style={{ width: `${width}px` }}
      onScroll={scrolled}
      onKeyDown={pressed}
      onClick={(event) => {
        const name = tokenAt(event)?.dataset.token;
        if (name) toggle(name);
      }}
      onPointerOver={(event) => event.pointerType !== "touch" && point(tokenAt(event)?.dataset.token ?? null)}
      onPointerLeave={() => point(null)}
      onFocusIn={(event) => {
        const element = tokenAt(event);
        if (element?.matches(":focus-visible")) point(element.dataset.token ?? null);
      }}
      onFocusOut={() => point(null)}
    >
      <canvas
        class="head-canvas"
        ref={canvas}
        hidden={isCut}
        style={{ height: `${sight.height}px`, marginBottom: `${-sight.height}px` }} // from the first: tokens never move
        aria-hidden="true"
      />
      {isCut && (
        <div class="head-slices" ref={slices} aria-hidden="true">
          {Array.from({ length: longest }, (_, row) => (
            <canvas key={row} />
          ))}
        </div>
      )}
      {lists}
    </div>
  );
}

/** A row's height on a wide screen: few tokens stand further apart, but never so that they would have to be scrolled. */
function apart(tokens: number, screen: number): number {
  return Math.max(24, Math.min(32, Math.floor(Math.min(480, screen - ABOVE) / tokens)));
}

/** A row's height at which a text stands on one sheet, with its title and numbers, if it is not too long for any. */
function onSheet(tokens: number): number {
  return Math.max(14, Math.min(24, Math.floor(ROOM / tokens)));
}

/** A picture row by row: a sheet ends between two rows, for lines as for the tokens beside them. */
function cutInto(slices: HTMLElement, whole: HTMLCanvasElement, width: number, rowHeight: number): void {
  [...slices.children].forEach((slice, row) => {
    const context = prepare(slice as HTMLCanvasElement, width, rowHeight, SHARP);
    context.drawImage(whole, 0, -row * rowHeight, width, whole.height / SHARP);
  });
}

function tokenAt(event: Event): HTMLElement | null {
  return (event.target as HTMLElement).closest<HTMLElement>("[data-token]");
}

const ruler = document.createElement("canvas").getContext("2d") as CanvasRenderingContext2D;

/** Room for the longest label that is shown, bold as a kept one is, up to a limit: longer ones are cut, and whole in their titles. */
function labelWidth(labels: string[], places: number[], most: number): number {
  ruler.font = FONT;
  const longest = places.reduce((width, token) => Math.max(width, ruler.measureText(labels[token].slice(0, 60)).width), 0);
  return Math.min(most, Math.ceil(longest) + 22);
}
