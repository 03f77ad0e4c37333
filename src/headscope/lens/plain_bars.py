"""tqdm, imported before transformers imports it: in a notebook without ipywidgets it warns then, of bars in plain text.

Nobody who writes `import headscope` has asked for bars; transformers' own are kept quiet (quiet.py).
"""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import tqdm.auto  # noqa: F401
