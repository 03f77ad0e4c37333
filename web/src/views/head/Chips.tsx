// The heads of this layer, each a number in its colour: click to show or hide one, double click for it alone.
import { useRef, useState } from "preact/hooks";
import { headName, isDifference, isJoint } from "../../data/content";
import { roleOf } from "../../data/telling";
import { headColour, inkOn, rgbOf } from "../../drawing/colours";
import type { Attention } from "../../schema";
import { useWidth } from "../../shell/hooks";
import { useViewed } from "../../shell/viewed";
import { TakeOut, useOutClick, useWithout } from "../../shell/without";

/** `preview` is told of the head under the pointer, which is shown alone while it is there. */
export function Chips({ preview }: { preview: (head: number | null) => void }) {
  const { content, attention, state, change, dark } = useViewed();
  const list = useRef<HTMLDivElement>(null);
  const [stop, setStop] = useState(0);
  const [box, width] = useWidth<HTMLDivElement>();
  const without = useWithout();
  const outClick = useOutClick();
  if (isJoint(content, attention, state.measure)) {
    return (
      <div class="chips" ref={box}>
        <span class="chips-label">This measure has one map for all heads of layer {attention.layer} together.</span>
      </div>
    );
  }
  const chosen = state.heads ?? attention.heads;
  const shown = attention.heads.filter((head) => chosen.includes(head));
  const roles = attention.heads.map((head) => roleOf(content, attention, head));
  const isNamed = roomFor(roles) <= width; // else chips would take two lines; their titles have it
  const bySign = isDifference(content, state); // lines are coloured by what there is more of, not by heads
  const toggle = (head: number) => {
    const next = attention.heads.filter((one) => (one === head ? !chosen.includes(one) : chosen.includes(one)));
    change({ heads: next.length === attention.heads.length ? null : next });
  };
  const move = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const next = (stop + step + attention.heads.length) % attention.heads.length;
    setStop(next);
    list.current?.querySelectorAll<HTMLElement>(".chip")[next]?.focus();
  };
  return (
    <div class="chips" ref={box}>
      <span class="chips-label">heads of layer {attention.layer}</span>
      <div
        class="chips-list"
        role="toolbar"
        aria-label="Heads"
        ref={list}
        onKeyDown={move}
        onPointerLeave={() => preview(null)}
      >
        {attention.heads.map((head, place) => {
          const on = chosen.includes(head);
          const colour = headColour(place, dark);
          const coloured = { borderColor: colour, backgroundColor: on ? colour : "", color: on ? inkOn(rgbOf(colour)) : "" };
          const role = roles[place];
          const isOut = without?.out.has(headName(attention, head)) ?? false;
          const name = `head ${attention.layer}.${head}${role && ` ${role}`}${isOut ? ", taken out" : ""}`;
          return (
            <button
              key={head}
              type="button"
              class={["chip", bySign && "by-sign", isOut && "out"].filter(Boolean).join(" ")}
              data-head={head}
              aria-pressed={on}
              aria-label={name}
              title={`${name}: click shows or hides it, double click or shift-click shows only it${without ? `, alt-click ${isOut ? "puts it back" : "takes it out"}` : ""}`}
              tabIndex={place === Math.min(stop, attention.heads.length - 1) ? 0 : -1}
              style={bySign ? {} : coloured}
              onClick={(event) => {
                if (outClick(event, headName(attention, head))) return;
                if (event.shiftKey) change({ heads: [head] });
                else toggle(head);
              }}
              onDblClick={() => change({ heads: [head] })}
              onFocus={() => setStop(place)}
              onPointerEnter={(event) => preview(event.pointerType === "mouse" && on && chosen.length > 1 ? head : null)}
            >
              <span class="chip-number">{head}</span> {role && isNamed && <small class="chip-role">{role}</small>}
            </button>
          );
        })}
      </div>
      <button type="button" name="all-heads" class="quiet" onClick={() => change({ heads: null })}>
        all
      </button>
      <button type="button" name="no-heads" class="quiet" onClick={() => change({ heads: [] })}>
        none
      </button>
      {content.telling[state.attention]?.length > 0 && (
        <button
          type="button"
          name="telling-heads"
          class="quiet"
          title="The heads that say most about this text, where the page opens"
          onClick={() => change({ layer: null, heads: null })}
        >
          most telling
        </button>
      )}
      <TakeOut heads={shown.map((head) => headName(attention, head))} what={headsSaid(attention, shown)} />
    </div>
  );
}

/** "17.3", "3 heads", "layer 17". */
function headsSaid(attention: Attention, heads: number[]): string {
  if (heads.length === 1) return `${attention.layer}.${heads[0]}`;
  return heads.length === attention.heads.length ? `layer ${attention.layer}` : `${heads.length} heads`;
}

const CHIP = 36; // pixels, with the gap to the next
const LETTER = 6.4;
const BESIDE = 380; // what stands left and right of the chips

/** Pixels of a line of chips with their roles, and all that stands in it. */
function roomFor(roles: string[]): number {
  return BESIDE + roles.reduce((sum, role) => sum + CHIP + (role ? 6 + LETTER * role.length : 0), 0);
}
