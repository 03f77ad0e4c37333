// The run's figures. Each is an image: whatever an SVG holds, nothing in it runs.
import type { Figure } from "../schema";
import { useReport } from "./shown";
import { save, useUnpacked } from "./unpack";

export function Figures() {
  const { report } = useReport();
  return (
    <div class="figures">
      {report.figures.map((figure) => (
        <OneFigure key={figure.name} figure={figure} />
      ))}
    </div>
  );
}

function OneFigure({ figure }: { figure: Figure }) {
  const svg = useUnpacked<string>(figure.svg, figure.chunk);
  return (
    <figure data-figure={figure.name}>
      {svg && <img src={`data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`} alt={figure.title} />}
      <figcaption>
        <span>{figure.title}</span>
        {svg && (
          <button type="button" class="quiet" onClick={() => save(`${figure.name}.svg`, "image/svg+xml", svg)}>
            save as SVG
          </button>
        )}
      </figcaption>
    </figure>
  );
}
