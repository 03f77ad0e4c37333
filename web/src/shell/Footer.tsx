// What the numbers of this page are, and how exact.
import { withoutSinks } from "../data/shown";
import { sinksNamed } from "../data/sinks";
import { useViewed } from "./viewed";

export function Footer() {
  const { content, state, attention } = useViewed();
  const measure = content.measures.find((one) => one.name === state.measure);
  const encoded = attention.scores[state.measure];
  const inWords = state.level === "word" && state.view !== "neuron"; // a word's score is a sum over tokens
  const sinks = withoutSinks(state) ? sinksNamed(content, attention) : [];
  const same = encoded?.form === "same" ? ` Here it is the same as the ${encoded.of}.` : "";
  return (
    <footer class="footer">
      <p>
        {measure?.about && (
          <>
            <b>{measure.title}</b>: {measure.about}
            {same}{" "}
          </>
        )}
        {sinks.length > 0 && (
          <span class="footer-sinks">
            <b>Sinks</b>, which heads look at that have nothing to do, are left out: {listed(sinks)}.{" "}
          </span>
        )}
        {content.exact
          ? "Scores are exact."
          : `Scores are kept as bytes: none ${content.compared ? "of A or B " : ""}${inWords ? "between two tokens " : ""}is off by more than ${bound(content.error)} of its head's largest.`}
        {content.compared && !content.exact && " Differences that rounding alone could make are not drawn."}
      </p>
    </footer>
  );
}

const LISTED = 12;

function listed(names: string[]): string {
  const more = names.length - LISTED;
  return names.slice(0, LISTED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Rounded up: a bound that is rounded down is none. */
function bound(error: number): string {
  return `${(Math.ceil(1000 * error - 1e-6) / 10).toFixed(1)}%`;
}
