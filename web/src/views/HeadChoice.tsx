// One head, for views that show one.
import { isJoint } from "../data/content";
import type { Attention, State } from "../schema";
import { Choice } from "../shell/choices";
import { useViewed } from "../shell/viewed";

/** The model's own number of the head that a view of one head shows. */
export function headShown(state: State, attention: Attention): number {
  return state.heads?.[0] ?? attention.heads[0];
}

/** `measures` are those that the view shows: where all are of all heads together, there is nothing to choose. */
export function HeadChoice({ measures }: { measures: string[] }) {
  const { content, attention, state, change } = useViewed();
  const joint = measures.every((name) => isJoint(content, attention, name));
  if (joint) return <span class="choice">all heads together</span>;
  return (
    <Choice
      label="head"
      value={String(headShown(state, attention))}
      options={attention.heads.map((head) => [String(head), `${attention.layer}.${head}`])}
      set={(head) => change({ heads: [Number(head)] })}
    />
  );
}
