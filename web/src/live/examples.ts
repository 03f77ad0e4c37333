// Texts to begin with, each with something in it for heads to find.
import type { ModelInfo } from "../schema";
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
const UNFINISHED: Example = { text: "When Mary and John went to the store, John gave a drink to", pair: "", target: "", why: "what comes next?" };
const TRANSLATED: Example[] = [
  { text: "Je ne mange pas de pain le matin.", pair: "", target: "I do not eat bread in the morning.", why: "French and English: “ne … pas” is one word there" },
  { text: "La maison blanche que tu vois est celle de ma sœur.", pair: "", target: "The white house that you see is my sister's.", why: "words that change places" },
  { text: "Le chat que nous avons vu hier dort sur le toit.", pair: "", target: "", why: "without a translation: the model writes one" },
];

export function examplesFor(model: ModelInfo, pairs: boolean): Example[] {
  if (model.encoder_decoder) return TRANSLATED;
  if (model.predicts === "next") return [UNFINISHED, ...PLAIN.slice(0, 2)];
  const masked = model.mask ? [{ text: `The capital of France is ${model.mask}.`, pair: "", target: "", why: "a word to be guessed" }] : [];
  return [...masked, ...PLAIN, ...(pairs ? [PAIR] : [])];
}
