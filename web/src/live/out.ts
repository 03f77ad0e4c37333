// Which heads are taken out, and what takes their place: in the address, in the words of the server, in those of people.
import type { Instead, ModelInfo, TextRequest } from "../schema";

export interface Out {
  heads: string[]; // `decoder self 17.3`
  how: Instead;
}

export const NOBODY: Out = { heads: [], how: "zero" };

/** A head as it stands in an address: `decoder-self-17.3`. */
export const IN_ADDRESS = (head: string) => (/^(encoder|decoder)-(self|cross)-\d+\.\d+$/.test(head) ? head : undefined);

export function inAddress(heads: string[]): string[] {
  return heads.map((head) => head.replaceAll(" ", "-"));
}

/** The heads of an address that this model has: it may come from another one's page. */
export function outOf(addresses: string[], how: Instead, model: ModelInfo): Out {
  const heads = addresses.map((one) => one.replaceAll("-", " ")).filter((head) => has(model, head));
  return { heads: [...new Set(heads)], how: model.means ? how : "zero" };
}

function has(model: ModelInfo, head: string): boolean {
  return Number(head.split(".").at(-1)) < headsIn(model, layerOf(head));
}

/** What a request says of it: nothing where nobody is out. */
export function inRequest({ heads, how }: Out): Pick<TextRequest, "without" | "how"> {
  return heads.length === 0 ? {} : { without: heads, ...(how !== "zero" && { how }) };
}

/** What is put back by one click: a layer that is out as a whole, or a head. */
export function piecesOf(heads: string[], model: ModelInfo): { name: string; heads: string[] }[] {
  const layers = new Map<string, string[]>();
  for (const head of heads) layers.set(layerOf(head), [...(layers.get(layerOf(head)) ?? []), head]);
  return [...layers].flatMap(([layer, some]) => {
    const name = shortName(layer, model);
    if (some.length > 1 && some.length === headsIn(model, layer)) return [{ name: name.replace(/\d+$/, "layer $&"), heads: some }];
    return some.map((head) => ({ name: shortName(head, model), heads: [head] }));
  });
}

/** `decoder self 17` of `decoder self 17.3`. */
function layerOf(head: string): string {
  return head.slice(0, head.lastIndexOf("."));
}

function headsIn({ attentions }: ModelInfo, layer: string): number {
  const [stack, kind, number] = layer.split(" ");
  const one = attentions.find((some) => some.stack === stack && some.kind === kind);
  return one?.heads[one.layers.indexOf(Number(number))] ?? 0;
}

/** "17.3"; where the model has several kinds of attention, with the kind. */
export function shortName(head: string, { attentions }: ModelInfo): string {
  return attentions.length > 1 ? head : (head.split(" ").at(-1) ?? head);
}

/** `heads` with some more, or without some. */
export function changed(heads: string[], some: string[], isOut: boolean): string[] {
  const rest = heads.filter((head) => !some.includes(head));
  return isOut ? [...rest, ...some] : rest;
}
