// What the numbers of this page are, and how exact.
import type { Attention, Content } from "../data/page";
import type { State } from "../state";

export function Footer({ content, state, attention }: { content: Content; state: State; attention: Attention }) {
  const measure = content.measures.find((one) => one.name === state.measure);
  const encoded = attention.scores[state.measure];
  const same = encoded?.form === "same" ? ` Here it is the same as the ${encoded.as}.` : "";
  return (
    <footer class="footer">
      <p>
        {measure?.about && (
          <>
            <b>{measure.title}</b>: {measure.about}
            {same}{" "}
          </>
        )}
        {content.exact
          ? "Scores are exact."
          : `Scores are kept as bytes: none is off by more than ${(100 * content.error).toFixed(1)}% of its head's largest.`}
      </p>
    </footer>
  );
}
