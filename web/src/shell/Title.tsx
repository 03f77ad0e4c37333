// What a page is about: the beginning of a text; of two texts their words, with what was left out and what was put in.
import type { Content, Side } from "../schema";

const LONGEST = 60; // words

export function Title({ content }: { content: Content }) {
  const side = content.sides.target?.joint?.words.some(Boolean) && !isChanged(content.sides.source) ? content.sides.target : content.sides.source;
  const { joint } = side;
  if (!joint || !isChanged(side)) return <>{content.title}</>;
  const special = new Set(side.word_of.filter((_, piece) => side.special[piece]));
  const words = side.words.flatMap((_, word) => (special.has(word) ? [] : [word]));
  return (
    <>
      {words.slice(0, LONGEST).map((word) => (
        <>
          {joint.words[word] === "" ? (
            side.words[word]
          ) : (
            <>
              {joint.a.words[word] && <del title="in A">{joint.a.words[word]}</del>}
              {joint.a.words[word] && joint.b.words[word] && " "}
              {joint.b.words[word] && <ins title="in B">{joint.b.words[word]}</ins>}
            </>
          )}{" "}
        </>
      ))}
      {words.length > LONGEST && "…"}
    </>
  );
}

function isChanged(side: Side | undefined): boolean {
  return side?.joint?.words.some((change) => change !== "") ?? false;
}

/** Who has read it: one model, or one of A and another of B. */
export function ReadBy({ content }: { content: Content }) {
  const { compared, model } = content;
  if (!model) return null;
  return (
    <p class="read-by">
      {compared && compared.a.model !== compared.b.model ? (
        <>
          A is <b>{compared.a.model}</b>, B is <b>{compared.b.model}</b>
        </>
      ) : (
        <>
          read by <b>{model}</b>
        </>
      )}
    </p>
  );
}
