// Texts to begin with, each with something in it for heads to find.
import type { Texts } from "./address";

interface Example extends Texts {
  why: string;
}

const PLAIN: Example[] = [
  { text: "The cat that chased the dogs was hungry, so it went back to the kitchen.", pair: "", target: "", why: "a pronoun, and a verb far from its subject" },
  { text: "She poured water from the bottle into the cup until it was full.", pair: "", target: "", why: "what does “it” mean?" },
  { text: "When Mary and John went to the store, John gave a drink to Mary.", pair: "", target: "", why: "names that come again" },
];
const PAIR: Example = { text: "A man is playing a guitar on the street.", pair: "Someone makes music outside.", target: "", why: "two texts that mean nearly the same" };
const TRANSLATED: Example[] = [
  { text: "Je ne mange pas de pain le matin.", pair: "", target: "I do not eat bread in the morning.", why: "French and English: “ne … pas” is one word there" },
  { text: "La maison blanche que tu vois est celle de ma sœur.", pair: "", target: "The white house that you see is my sister's.", why: "words that change places" },
];

export function examplesFor(encoderDecoder: boolean, pairs: boolean): Example[] {
  return encoderDecoder ? TRANSLATED : pairs ? [...PLAIN, PAIR] : PLAIN;
}
