// What draws each view. Python names them (src/headscope/views/show.py), and their order is that of the tabs and keys.
import type { ComponentChild } from "preact";
import type { View } from "../schema";
import { HeadView } from "./head/HeadView";
import { MatrixView } from "./matrix/MatrixView";
import { ModelView } from "./model/ModelView";
import { NeuronView } from "./neuron/NeuronView";

export interface ViewProps {
  /** Tell the toolbar which share lies on sinks that are not shown; null where they are. */
  onHidden: (share: number | null) => void;
}

export const VIEWS: Record<View, (props: ViewProps) => ComponentChild> = {
  head: HeadView,
  model: ModelView,
  neuron: NeuronView,
  matrix: MatrixView,
};
