// A vector as a strip of colours: one stripe a neuron, blue above zero, orange below.
import { useEffect, useRef } from "preact/hooks";
import { css, diverging } from "../../drawing/colours";
import { useViewed } from "../../shell/viewed";

interface Props {
  name: "query" | "key" | "product";
  values: Float32Array;
  most: number; // the value with the strongest colour
}

export function Strip({ name, values, most }: Props) {
  const { dark } = useViewed();
  const ref = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const canvas = ref.current;
    const context = canvas?.getContext("2d");
    if (!canvas || !context) return;
    // One pixel a neuron, stretched by the style without smoothing: sharp at every width, and cheap.
    canvas.width = values.length;
    canvas.height = 1;
    values.forEach((value, neuron) => {
      context.fillStyle = css(diverging(most > 0 ? value / most : 0, dark));
      context.fillRect(neuron, 0, 1, 1);
    });
  }, [values, most, dark]);
  return (
    <div class="neuron-strip" data-strip={name}>
      <canvas ref={ref} aria-hidden="true" />
    </div>
  );
}
