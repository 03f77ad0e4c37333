// What all parts of a view draw: one text, with the choices of its reader.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Chunks } from "../data/chunks";
import type { Attention, Content } from "../schema";
import type { Change, State } from "../state";

export interface Viewed {
  content: Content;
  chunks: Chunks;
  state: State; // of which the content has everything
  change: Change;
  dark: boolean;
  group: Attention[]; // the attentions of the chosen kind, by layer
  attention: Attention; // that of the chosen layer
}

export const ViewedContext = createContext<Viewed | null>(null);

export function useViewed(): Viewed {
  const viewed = useContext(ViewedContext);
  if (!viewed) throw new Error("This is drawn inside a Viewer only.");
  return viewed;
}
