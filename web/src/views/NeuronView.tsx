import type { ViewProps } from "./props";

export function NeuronView(_: ViewProps) {
  return <p>Neuron view</p>;
}
