import type { ViewProps } from "./props";

export function ModelView(_: ViewProps) {
  return <p>Model view</p>;
}
