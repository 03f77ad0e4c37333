// The page may be drawn larger than usual (lecture mode): pixels of the window are then not those that views count in.

/** How many pixels of the window one of an element's own takes. */
export function zoomOf(element: Element | null | undefined): number {
  return element?.currentCSSZoom ?? 1;
}
