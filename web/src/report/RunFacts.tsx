// What was run: model, corpus, settings, versions; and what was left out, with the reason.
import { useReport } from "./shown";

export function RunFacts() {
  const { report } = useReport();
  return (
    <div class="facts">
      {report.runs.map((run, place) => (
        <section key={place}>
          <h2>{report.runs.length > 1 ? `${"AB"[place]}: ${run.name}` : run.name}</h2>
          <dl>
            {run.facts.map(({ name, value }) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <bdi>{value}</bdi>
                </dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      {report.left_out.length > 0 && (
        <section>
          <h2>Left out</h2>
          <ul>
            {report.left_out.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
