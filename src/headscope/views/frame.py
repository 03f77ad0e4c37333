"""The frame that a page sits in, in a notebook. It is as high as the page, where the notebook lets a script run beside it.

The page's style and scripts stay inside, in Jupyter, JupyterLab, VS Code and Colab alike, and it cannot reach the notebook:
it asks whether the frame may grow, and then says how high it is (web/src/shell/frame.ts). Where nobody answers, the frame
keeps the height that it has, and the page scrolls in it.
"""

from html import escape

LEAST, MOST = 160, 2000  # pixels: a page that is higher scrolls
_GROWS = "headscope-grows"
# One listener a notebook. It hears frames of ours only, and takes nothing from them but a number within limits.
_SCRIPT = f"""<script>
(() => {{
  const frames = () => [...document.querySelectorAll("iframe.{_GROWS}")];
  const allow = (page) => page && page.postMessage({{headscope: "grow"}}, "*");
  if (!window.headscopeGrows) {{
    window.headscopeGrows = true;
    window.addEventListener("message", (event) => {{
      const frame = frames().find((one) => one.contentWindow === event.source);
      const said = event.data && event.data.headscope;
      if (frame && said === "grow?") allow(event.source);
      if (frame && Number.isFinite(said)) frame.style.height = Math.min(Math.max(said, {LEAST}), {MOST}) + "px";
    }});
  }}
  frames().forEach((frame) => allow(frame.contentWindow));
}})();
</script>"""


def frame(page: str, title: str, height: int, *, grows: bool) -> str:
    """An iframe with the whole page in it, `height` pixels high: to begin with, or where it does not grow for good."""
    own = f'class="{_GROWS}" ' if grows else ""
    return (
        f'<iframe {own}srcdoc="{escape(page)}" sandbox="allow-scripts allow-downloads" '
        f'allow="clipboard-write" title="{escape(title)}" '
        f'style="width: 100%; height: {height}px; border: 0; border-radius: 6px"></iframe>{_SCRIPT if grows else ""}'
    )
