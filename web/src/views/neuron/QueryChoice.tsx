// The text, to choose the token from whose side everything is seen.
import { useEffect, useRef } from "preact/hooks";
import type { Side } from "../../schema";

interface Props {
  side: Side;
  can: boolean[];
  chosen: number; // what is shown now
  onChoose: (place: number) => void;
  onPoint: (place: number | null) => void;
}

export function QueryChoice({ side, can, chosen, onChoose, onPoint }: Props) {
  const list = useRef<HTMLDivElement>(null);
  const option = (place: number) => list.current?.querySelector<HTMLElement>(`[data-query="${place}"]`);
  useEffect(() => {
    const [box, token] = [list.current, option(chosen)];
    if (!box || !token || box.matches(":hover")) return;
    if (token.offsetTop < box.scrollTop || token.offsetTop + token.offsetHeight > box.scrollTop + box.clientHeight) {
      box.scrollTop = token.offsetTop - box.clientHeight / 2;
    }
  }, [chosen]);
  const onKeyDown = (event: KeyboardEvent) => {
    const places = can.flatMap((is, place) => (is ? [place] : []));
    const at = places.indexOf(chosen);
    const next: Record<string, number> = {
      ArrowRight: at + 1,
      ArrowDown: at + 1,
      ArrowLeft: at - 1,
      ArrowUp: at - 1,
      Home: 0,
      End: places.length - 1,
      Enter: at,
    };
    const place = places[next[event.key]];
    if (place === undefined) return;
    event.preventDefault();
    onChoose(place);
    option(place)?.focus({ preventScroll: true });
  };
  return (
    <div
      class="neuron-queries"
      ref={list}
      role="listbox"
      aria-label="The token that attends"
      onKeyDown={onKeyDown}
      onPointerLeave={() => onPoint(null)}
    >
      {side.tokens.map((token, place) =>
        can[place] ? (
          <button
            key={place}
            type="button"
            role="option"
            aria-selected={place === chosen}
            tabIndex={place === chosen ? 0 : -1}
            data-query={place}
            title={side.raw[place]}
            onPointerEnter={(event) => event.pointerType === "mouse" && onPoint(place)}
            onClick={() => onChoose(place)}
          >
            <bdi>{token}</bdi>
          </button>
        ) : null,
      )}
    </div>
  );
}
