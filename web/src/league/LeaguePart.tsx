// The league: which number of a head predicts what happens without it; of one model, or of several side by side.
import "./league.css";
import { useReport } from "../report/shown";
import type { League } from "../schema";
import { Choice } from "../shell/choices";
import { AgainstEffect } from "./AgainstEffect";
import { Curves } from "./Curves";
import { Idle } from "./Idle";
import { Models } from "./Models";
import { type Row, shownOf, useRecords } from "./records";
import { Standings } from "./Standings";
import { Tokens } from "./Tokens";

export function LeaguePart() {
  const { report } = useReport();
  const standings = useRecords("league");
  if (!report.league) return null;
  if (!standings) return <p class="faint">Unpacking …</p>;
  const several = standings.some((row) => row.model !== undefined);
  return (
    <div class="league">
      {several && <Models league={report.league} standings={standings} />}
      <Said league={report.league} />
      {!several && <OneModel league={report.league} standings={standings} />}
    </div>
  );
}

function Said({ league: { said } }: { league: League }) {
  return (
    <section class="findings" aria-labelledby="league-said">
      <h2 id="league-said">What was found</h2>
      {said.map(({ model, sentences }) => (
        <div key={model}>
          {said.length > 1 && <h3>{model}</h3>}
          <ul>
            {sentences.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}

function OneModel({ league, standings }: { league: League; standings: Row[] }) {
  const { report, state, change } = useReport();
  const shown = shownOf(report, standings, state);
  const scopes = [...new Set(standings.map((row) => String(row.scope)))];
  const rows = standings.filter((row) => row.how === shown.how && row.effect === shown.effect && row.scope === shown.scope);
  return (
    <>
      <form class="toolbar" aria-label="What the league is about" onSubmit={(event) => event.preventDefault()}>
        <Choice
          label="without a head"
          value={shown.how}
          options={league.ways.map(({ name, title }) => [name, title])}
          set={(how) => change({ how })}
        />
        <Choice
          label="what changes"
          value={shown.effect}
          options={league.effects.map(({ name, title }) => [name, title])}
          set={(effect) => change({ effect })}
        />
        {scopes.length > 1 && (
          <Choice
            label="heads"
            value={shown.scope}
            options={scopes.map((scope) => [scope, scope])}
            set={(scope) => change({ scope })}
          />
        )}
      </form>
      <div class="league-beside">
        <Standings league={league} rows={rows} shown={shown} />
        <div>
          <AgainstEffect league={league} rows={rows} shown={shown} />
          <Curves league={league} shown={shown} />
        </div>
      </div>
      <div class="league-beside">
        <Idle />
        <Tokens />
      </div>
    </>
  );
}
