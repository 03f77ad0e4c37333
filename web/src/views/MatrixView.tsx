import type { ViewProps } from "./props";

export function MatrixView(_: ViewProps) {
  return <p>Matrix view</p>;
}
