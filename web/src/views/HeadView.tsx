import type { ViewProps } from "./props";

export function HeadView(_: ViewProps) {
  return <p>head view</p>;
}
