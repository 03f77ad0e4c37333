// One head, for views that show one.
import { headName, isJoint } from "../data/content";
import type { Attention, State } from "../schema";
import { Choice } from "../shell/choices";
import { useViewed } from "../shell/viewed";
import { TakeOut, useOutKey } from "../shell/without";

/** The model's own number of the head that a view of one head shows. */
export function headShown(state: State, attention: Attention): number {
  return state.heads?.[0] ?? attention.heads[0];
}

/** `measures` are those that the view shows: where all are of all heads together, there is nothing to choose. */
export function HeadChoice({ measures }: { measures: string[] }) {
  const { content, attention, state, change } = useViewed();
  const joint = measures.every((name) => isJoint(content, attention, name));
  const head = headShown(state, attention);
  const name = headName(attention, head);
  useOutKey(joint ? [] : [name]);
  if (joint) return <span class="choice">all heads together</span>;
  return (
    <>
      <Choice
        label="head"
        value={String(head)}
        options={attention.heads.map((one) => [String(one), `${attention.layer}.${one}`])}
        set={(one) => change({ heads: [Number(one)] })}
      />
      <TakeOut heads={[name]} what={`${attention.layer}.${head}`} />
    </>
  );
}
