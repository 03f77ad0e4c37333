// Heads by a statistic of a run: sort by it, and leave out those below a number.

import { number } from "../../drawing/canvas";
import type { HeadStatistic } from "../../schema";
import { Choice, Slider } from "../../shell/choices";
import { useViewed } from "../../shell/viewed";

interface Props {
  statistics: HeadStatistic[];
  sorted: HeadStatistic | null;
  range: [number, number] | null;
  shown: number;
  all: number;
}

export function Sorting({ statistics, sorted, range, shown, all }: Props) {
  const { state: { above }, change } = useViewed();
  const least = range ? Math.max(range[0], above ?? range[0]) : 0;
  return (
    <div class="sorting">
      <Choice
        label="sort"
        value={sorted?.name ?? ""}
        options={[["", "by layer and head"], ...statistics.map((one): [string, string] => [one.name, one.title])]}
        set={(sort) => change({ sort, above: null })}
      />
      {sorted && range && range[1] > range[0] && (
        <Slider
          name="above"
          label={`${sorted.title} at least`}
          range={range}
          step={(range[1] - range[0]) / 200}
          value={least}
          shown={number(least)}
          set={(value) => change({ above: value <= range[0] ? null : Number(value.toPrecision(4)) })}
        />
      )}
      {sorted && (
        <span class="sorting-count" role="status">
          {shown} of {all} heads
        </span>
      )}
      {sorted?.about && <span class="sorting-about">{sorted.about}</span>}
    </div>
  );
}
