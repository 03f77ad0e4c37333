// What is said of the head that is pointed at: its label, its strongest pair, and its statistics.
import { headName, isDifference } from "../../data/content";
import { number, percent, signed } from "../../drawing/canvas";
import { useViewed } from "../../shell/viewed";
import type { Cell } from "./cells";
import type { Strongest } from "./useThumbnails";

const STATISTICS_SAID = 6;

interface Props {
  cell: Cell;
  measure: string; // its title
  strongest: Strongest | null;
  hidden: number | null; // the share of its scores on sinks that are not shown; null where they are
}

/** The head's label, its strongest pair, and its statistics: the one that heads are sorted by first. */
export function HeadReading({ cell, measure, strongest, hidden }: Props) {
  const { content, state } = useViewed();
  const name = cell.head === null ? null : headName(cell.attention, cell.head);
  const known = content.statistics.filter((statistic) => name !== null && name in statistic.values);
  known.sort((one, other) => Number(other.name === state.sort) - Number(one.name === state.sort));
  return (
    <>
      <b>{cell.head === null ? `layer ${cell.key}, all heads together` : `head ${cell.key}`}</b>
      {strongest && (
        <>
          {" · strongest: "}
          <bdi class="named">{strongest.from}</bdi> → <bdi class="named">{strongest.to}</bdi>
          {`: ${measure} `}
          <b data-score={strongest.score}>{(isDifference(content, state) ? signed : number)(strongest.score)}</b>
        </>
      )}
      {hidden !== null && <span data-hidden={hidden}>{` · ${percent(hidden)} on sinks`}</span>}
      {known.slice(0, STATISTICS_SAID).map((statistic) => (
        <span key={statistic.name} class="said" data-statistic={statistic.name} data-value={statistic.values[name ?? ""]}>
          {` · ${statistic.title} ${number(statistic.values[name ?? ""])}`}
        </span>
      ))}
    </>
  );
}
