// What every view is given.
import type { Chunks } from "../data/chunks";
import type { Attention, Content } from "../schema";
import type { Change, State } from "../state";

export interface ViewProps {
  content: Content;
  chunks: Chunks;
  state: State;
  change: Change;
  dark: boolean;
  group: Attention[]; // the attentions of the chosen kind, by layer
  attention: Attention; // that of the chosen layer
  /** Tell the toolbar which share lies on hidden special tokens; null where nothing is hidden. */
  onHidden: (share: number | null) => void;
}
