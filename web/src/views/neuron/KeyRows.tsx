// One row a key: its vector, its product with the query, and what becomes of it. Only rows in sight are in the page.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { number } from "../../drawing/canvas";
import { css, diverging, headColour } from "../../drawing/colours";
import { drawn } from "../../drawing/drawn";
import { useScreenHeight } from "../../shell/frame";
import { usePrinting } from "../../shell/printing";
import { useViewed } from "../../shell/viewed";
import { Bar, rangeOf } from "./Bar";
import { Strip } from "./Strip";
import type { KeyStep, Steps } from "./steps";

export interface Pointed {
  key: number | null; // a place in steps.shown
  neuron: number | null;
}

interface Props {
  steps: Steps;
  query: string; // the token
  scaling: number;
  measure: string; // title of the chosen measure, where it is neither the weight nor the norm
  narrow: boolean;
  pointed: Pointed;
  kept: Set<number>; // places in the text
  onPoint: (pointed: Pointed) => void;
  onKeep: (key: number) => void;
}

const BARS = { weight: 0, valueNorm: 3, norm: 2, score: 4 }; // blue, orange, green, pink: by their place among heads' colours
const SPARE = 6; // rows above and below what is in sight

export function KeyRows(props: Props) {
  const { steps, query, scaling, measure, narrow, pointed, kept, onPoint, onKeep } = props;
  const { content, dark } = useViewed();
  const box = useRef<HTMLDivElement>(null);
  const [scrolled, setScrolled] = useState(0);
  const rowHeight = narrow ? 56 : 24;
  const room = Math.max(220, Math.min(steps.shown.length * rowHeight, useScreenHeight() - (narrow ? 200 : 330)));
  const printing = usePrinting(); // every row, then
  const first = printing ? 0 : Math.max(0, Math.floor(scrolled / rowHeight) - SPARE);
  const inSight = steps.shown.slice(first, printing ? undefined : Math.ceil((scrolled + room) / rowHeight) + SPARE);
  const ranges = useMemo(() => rangesOf(steps.shown), [steps]);
  useEffect(() => drawn(box.current), [steps, dark, first, narrow]);
  useEffect(() => {
    // A key that a text opens with, kept, comes into sight; one that is kept by a click is.
    const place = steps.shown.findIndex((step) => kept.has(step.key));
    if (place >= 0 && box.current) box.current.scrollTop = (place + 0.5) * rowHeight - room / 2;
  }, [content.sides]);
  useEffect(() => {
    // The row that arrow keys have reached comes into sight below the titles, which stay where they are.
    if (pointed.key === null || !box.current || box.current.matches(":hover")) return;
    const top = pointed.key * rowHeight;
    const visible = box.current.clientHeight - HEADER[narrow ? 1 : 0];
    if (top < box.current.scrollTop) box.current.scrollTop = top;
    else if (top + rowHeight > box.current.scrollTop + visible) box.current.scrollTop = top + rowHeight - visible;
  }, [pointed.key, rowHeight, narrow]);

  const onPointerMove = (event: PointerEvent) => {
    const target = event.target as HTMLElement;
    const row = target.closest<HTMLElement>("[data-row]");
    const strip = target.closest<HTMLElement>("[data-strip]");
    const box = strip?.getBoundingClientRect();
    const neuron = box && within(Math.floor(((event.clientX - box.left) / box.width) * steps.size), steps.size);
    onPoint({ key: row ? Number(row.dataset.row) : null, neuron: neuron ?? null });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, neuron } = pointed;
    const moves: Record<string, Pointed> = {
      ArrowDown: { key: key === null ? 0 : within(key + 1, steps.shown.length), neuron },
      ArrowUp: { key: key === null ? 0 : within(key - 1, steps.shown.length), neuron },
      ArrowRight: { key: key ?? 0, neuron: neuron === null ? 0 : within(neuron + 1, steps.size) },
      ArrowLeft: { key: key ?? 0, neuron: neuron === null ? 0 : within(neuron - 1, steps.size) },
    };
    if (event.key === "Escape") onPoint({ key: null, neuron: null });
    if ((event.key === "Enter" || event.key === " ") && key !== null) onKeep(steps.shown[key].key);
    else if (moves[event.key]) onPoint(moves[event.key]);
    else return;
    event.preventDefault();
  };
  const marker =
    pointed.neuron === null
      ? {}
      : { "--neuron-left": `${(100 * pointed.neuron) / steps.size}%`, "--neuron-width": `${100 / steps.size}%` };
  return (
    <div
      class="key-rows"
      ref={box}
      tabIndex={0}
      role="region"
      aria-label={`Keys that ${query} is compared with; arrow keys move, Enter keeps`}
      data-neuron={pointed.neuron}
      data-narrow={narrow}
      style={{ maxHeight: `${room + HEADER[narrow ? 1 : 0] + 2}px`, ...marker }}
      onScroll={(event) => setScrolled(event.currentTarget.scrollTop)}
      onPointerMove={onPointerMove}
      onPointerLeave={() => onPoint({ key: null, neuron: null })}
      onKeyDown={onKeyDown}
    >
      <div class="key-row key-titles" style={{ height: `${HEADER[narrow ? 1 : 0]}px` }}>
        <span class="key-token">key</span>
        <div class="neuron-strips">
          <div>
            <span class="neuron-note">
              query q of{" "}
              <b>
                <bdi>{query}</bdi>
              </b>
            </span>
            <Strip name="query" values={steps.query} most={steps.largest.query} />
            <span class="neuron-note">key k</span>
          </div>
          <div>
            <span class="neuron-note">q × k, neuron by neuron</span>
          </div>
        </div>
        <div class="neuron-numbers">
          <span>q · k</span>
          <span class="neuron-scaled">× {number(scaling)}</span>
          <span>weight</span>
          {ranges.norm && <span title="the norm of the transformed value vector that the weight multiplies">‖f(x)‖</span>}
          {ranges.norm && <span title="weight × ‖f(x)‖">norm</span>}
          {measure && <span>{measure}</span>}
        </div>
      </div>
      <div class="key-all" style={{ height: `${steps.shown.length * rowHeight}px` }}>
        {inSight.map((step, place) => (
          <Row
            key={step.key}
            step={step}
            row={first + place}
            top={(first + place) * rowHeight}
            height={rowHeight}
            steps={steps}
            ranges={ranges}
            pointed={pointed.key === first + place}
            kept={kept.has(step.key)}
            onKeep={onKeep}
          />
        ))}
      </div>
    </div>
  );
}

const HEADER = [64, 84]; // pixels, wide and narrow

interface RowProps {
  step: KeyStep;
  row: number;
  top: number;
  height: number;
  steps: Steps;
  ranges: Ranges;
  pointed: boolean;
  kept: boolean;
  onKeep: (key: number) => void;
}

function Row({ step, row, top, height, steps, ranges, pointed, kept, onKeep }: RowProps) {
  const { dark } = useViewed();
  const { size, query, keys, largest } = steps;
  const key = useMemo(() => keys.subarray(step.key * size, (step.key + 1) * size), [keys, step.key, size]);
  const product = useMemo(() => key.map((value, neuron) => value * query[neuron]), [key, query]);
  return (
    <div
      class="key-row"
      style={{ top: `${top}px`, height: `${height}px` }}
      data-row={row}
      data-key={step.key}
      data-dot={step.dot}
      data-scaled={step.scaled}
      data-weight={step.weight}
      data-value-norm={step.valueNorm}
      data-norm={step.norm}
      data-score={step.score}
      data-unseen={step.unseen}
      data-pointed={pointed}
      data-kept={kept}
      title={step.unseen ? "this token cannot be seen from the one that is chosen" : undefined}
      onClick={() => onKeep(step.key)}
    >
      <span class="key-token" title={step.title}>
        <bdi>{step.label}</bdi>
      </span>
      <div class="neuron-strips">
        <Strip name="key" values={key} most={largest.key} />
        <Strip name="product" values={product} most={largest.product} />
      </div>
      <div class="neuron-numbers">
        <Bar name="dot" value={step.dot} text={short(step.dot)} range={ranges.dot} colour={css(diverging(step.dot < 0 ? -0.6 : 0.6, dark))} />
        <span class="neuron-value neuron-scaled">{short(step.scaled)}</span>
        <Bar
          name="weight"
          value={step.weight}
          text={step.lost ? below(step.lost) : short(step.weight)}
          range={ranges.weight}
          colour={headColour(BARS.weight, dark)}
        />
        {ranges.norm && step.valueNorm !== null && step.norm !== null && (
          <>
            <Bar name="value-norm" value={step.valueNorm} text={short(step.valueNorm)} range={ranges.valueNorm} colour={headColour(BARS.valueNorm, dark)} />
            <Bar name="norm" value={step.norm} text={step.lost ? "≈ 0" : short(step.norm)} range={ranges.norm} colour={headColour(BARS.norm, dark)} />
          </>
        )}
        {step.score !== null && (
          <Bar name="score" value={step.score} text={short(step.score)} range={ranges.score} colour={headColour(BARS.score, dark)} />
        )}
      </div>
    </div>
  );
}

interface Ranges {
  dot: [number, number];
  weight: [number, number];
  valueNorm: [number, number];
  norm: [number, number] | null; // null where the norms are not known
  score: [number, number];
}

function rangesOf(rows: KeyStep[]): Ranges {
  const known = rows.length > 0 && rows[0].norm !== null;
  return {
    dot: rangeOf(rows.map((row) => row.dot)),
    weight: rangeOf(rows.map((row) => row.weight)),
    valueNorm: rangeOf(rows.map((row) => row.valueNorm ?? 0)),
    norm: known ? rangeOf(rows.map((row) => row.norm ?? 0)) : null,
    score: rangeOf(rows.map((row) => row.score ?? 0)),
  };
}

/** A number that fits its column. */
function short(value: number): string {
  const rounded = value !== 0 && Math.abs(value) < 0.01 ? Number(value.toPrecision(2)) : value;
  return minus(rounded);
}

/** What a weight that is lost is below, rounded up. */
function below(bound: number): string {
  const digit = 10 ** Math.floor(Math.log10(bound));
  return `<${number(Math.ceil(bound / digit) * digit)}`;
}

export function minus(value: number): string {
  return number(value).replace("-", "−");
}

function within(place: number, count: number): number {
  return Math.min(count - 1, Math.max(0, place));
}
