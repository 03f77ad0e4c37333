// One head, for views that show one.
import { isJoint } from "../data/content";
import type { Attention, Content } from "../schema";
import { Choice } from "../shell/choices";
import type { Change, State } from "../state";

interface Props {
  content: Content;
  attention: Attention;
  state: State;
  change: Change;
  measures: string[]; // that the view shows: where all are of all heads together, there is nothing to choose
}

/** The model's own number of the head that a view of one head shows. */
export function headShown(state: State, attention: Attention): number {
  return state.heads?.[0] ?? attention.heads[0];
}

export function HeadChoice({ content, attention, state, change, measures }: Props) {
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
