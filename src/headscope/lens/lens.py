"""Lens: one unmodified Hugging Face model, watched."""

from __future__ import annotations

import gc
import inspect
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headscope.errors import InputError, ModelError
from headscope.later import PreTrainedModel, nn, torch
from headscope.lens import watching
from headscope.lens.block import AttentionBlock
from headscope.lens.compiled import compiled_calls, eagerly
from headscope.lens.head import Head, heads_named
from headscope.lens.head_means import HeadMeans, head_means
from headscope.lens.in_blocks import InBlocks
from headscope.lens.in_notebook import lens_html
from headscope.lens.iterate import blocks_of
from headscope.lens.loading import first_sentence, random_twin
from headscope.lens.placement import device_of
from headscope.lens.reading import Reading
from headscope.lens.site import Site
from headscope.lens.task import word_logits
from headscope.lens.text_part import backbone
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoder import AS_WRITTEN, Encoder, Encoding
from headscope.lens.tokens.losses import Loss, own_loss, text_losses
from headscope.lens.without import At, replacements, without
from headscope.text.document import Document

if TYPE_CHECKING:
    from headscope.lens.source import ModelSource

_open_models: weakref.WeakSet[nn.Module] = weakref.WeakSet()


class Lens:
    """Reads the attention of one model. Made by `headscope.open`, or `ModelSource(...).open()`; `source` is its recipe."""

    def __init__(self, model: PreTrainedModel, tokenizer: Any, source: ModelSource) -> None:
        if model in _open_models:
            gc.collect()  # a lens that was lost in a circle gives it back now
        if model in _open_models:
            raise ModelError("This model is open in another lens already: close that one first.")
        self.model = model
        self.tokenizer = tokenizer
        self.source = source
        self._means: HeadMeans | None = None
        self._backbone, self._accepted = backbone(model, source.name)
        self.encoder = Encoder(source.name, model, tokenizer, self._accepted)
        self._implementations = watching.attention_implementations(model)
        modes = {module: module.training for module in model.modules()}
        compiled = compiled_calls(model)
        self._eagerly = eagerly(model)
        # Runs when the lens is closed, or else when it is lost: nothing in it may hold the lens.
        self._in_blocks = InBlocks(model)
        self._give_back = weakref.finalize(self, _give_back, model, self._implementations, modes, self._in_blocks, compiled)
        _open_models.add(model)
        try:
            model.eval()
            for module in compiled:  # what is compiled cannot be looked into
                module._compiled_call_impl = None
            watching.switch_attention(model, watching.NAME)
            self.trace = self._find_sites()
            if watching.asks_for_eager(self.trace):
                watching.switch_attention(model, "eager")
                self.trace = self._find_sites()
        except BaseException:
            self.close()
            raise

    # What the model is

    @property
    def name(self) -> str:
        """What people call it."""
        return self.source.name

    @property
    def sites(self) -> list[Site]:
        """Every attention, in the order in which the model runs them."""
        return [traced.site for traced in self.trace.sites]

    def matrices(self, site: Site) -> watching.Matrices | None:
        """W_V, b_V and W_O of a site's heads, in float32; None where values or outputs are not what a linear layer makes."""
        return self.trace.sites[site.index].matrices

    @property
    def is_encoder_decoder(self) -> bool:
        return bool(self.model.config.is_encoder_decoder)

    @property
    def device(self) -> torch.device:
        return device_of(self.model)

    @property
    def max_tokens(self) -> int | None:
        """How many tokens the model reads at most; None where nothing limits it."""
        return self.encoder.max_tokens

    # Reading

    def read(
        self,
        text: str | Document | None = None,
        *,
        pair: str | None = None,
        target: str | None = None,
        words: Sequence[str] | None = None,
        pair_words: Sequence[str] | None = None,
        target_words: Sequence[str] | None = None,
        truncate: bool = False,
        layers: Sequence[int] | None = None,
        encoding: Encoding = AS_WRITTEN,
    ) -> Reading:
        """One input, all sites, in memory; with `layers`, only these (of every stack and kind), for long texts."""
        if not isinstance(text, Document):
            text = Document(text, pair, target, words, pair_words, target_words)
        batch = self.encoder.batch([text], truncate=truncate, encoding=encoding)
        blocks: list[AttentionBlock] = []
        self.run(batch, blocks.append, rows=None, layers=layers)
        return Reading(blocks, batch, model=self.name, lens=self)

    def stream(
        self,
        documents: Iterable[Any],
        *,
        batch_size: int = 16,
        rows: watching.Rows = "fit",
        max_tokens: int | None = None,
        truncate: bool = False,
    ) -> Iterator[AttentionBlock]:
        """Every block of every document: strings, pairs, lists of words or Documents, `batch_size` at a time.

        A block is yielded while the model waits inside its forward pass, so nothing piles up. `encoder.batch`
        and `run` do the same with a function to call, without a second thread.
        """
        documents = iter(documents)
        while some := list(islice(documents, batch_size)):
            batch = self.encoder.batch(some, max_tokens=max_tokens, truncate=truncate)
            yield from blocks_of(partial(self.run, batch, rows=rows))

    def run(
        self,
        batch: Batch,
        receive: Callable[[AttentionBlock], None],
        *,
        rows: watching.Rows = "fit",
        layers: Sequence[int] | None = None,
    ) -> None:
        """One forward pass over `batch`; `receive` is called with each block of at most `rows` query rows (of `layers`).

        "fit" makes blocks of a size that is quick and fits any memory; None puts all rows of a site into one block.
        """
        if layers is not None:
            self._check_layers(batch, layers)
        self.run_watched(watching.Capture(self.trace, batch, receive, rows, layers))

    def run_watched(self, capture: watching.Capture) -> None:
        """One forward pass over the batch of a capture, which must see every attention."""
        if self.closed:
            raise ModelError("This lens is closed: open the model again.")
        self._in_blocks.check(self.name, capture.batch.inputs["input_ids"].shape[1])
        with torch.no_grad(), capture.watch():
            self.forward(capture.batch.inputs)
        self._check_complete(capture.batch, capture)

    def run_gradients(
        self,
        batch: Batch,
        receive: Callable[[watching.GradientBlock], None],
        *,
        loss: Loss | None = None,
        rows: watching.Rows = "fit",
    ) -> torch.Tensor:
        """A forward and a backward pass; `receive` gets every block with dL / d alpha. Returns each text's loss.

        The loss is the one that the model's language-model head was trained for (`own_loss`), or one of your own.
        Each text's gradients are those of its own loss: the mean over its predicted tokens. Blocks come in the order
        of the backward pass, last site first; the parameters and their gradients stay as they are.
        """
        if self.closed:
            raise ModelError("This lens is closed: open the model again.")
        self._in_blocks.check(self.name, batch.inputs["input_ids"].shape[1])
        in_parts = next((site for site in self._sites_for(batch) if site.capture == "values"), None)
        if in_parts is not None:
            raise ModelError(
                f"{self.name} attends in windows, chunks or blocks ({in_parts.name}), and has no matrix of weights that "
                "could have a gradient: read it without gradients."
            )
        task = (loss or own_loss(self)).prepare(batch)
        options = {"use_cache": False} if "use_cache" in inspect.signature(self.model.forward).parameters else {}
        capture = watching.GradientCapture(self.trace, batch, receive, rows, task.masked)
        with torch.inference_mode(False), torch.enable_grad(), watching.frozen(self.model), closing(capture):
            with capture.watch(), self._eagerly():
                output = self.model(**task.inputs, **options)
            losses = text_losses(word_logits(output), task.targets)
            capture.backward(losses.sum())
        self._check_complete(batch, capture, "has gradients for")
        return losses.detach()

    def forward(self, inputs: dict[str, torch.Tensor], **options: Any) -> Any:
        """The model without its head: logits over the vocabulary are not needed, and are large.

        Without a target, only the encoder of an encoder-decoder runs.
        """
        if self.is_encoder_decoder and "decoder_input_ids" not in inputs:
            encoder: Any = self.model.get_encoder()
            given = {name: inputs[name] for name in ("input_ids", "attention_mask") if name in inputs}
            with self._eagerly():
                return encoder(**given, **options)
        if "use_cache" in self._accepted:
            options["use_cache"] = False
        with self._eagerly():
            return self._backbone(**inputs, **options)

    # Without some heads

    def without(
        self,
        *heads: str | Head,
        how: str = "mean",
        at: At = None,
        means: HeadMeans | str | Path | None = None,
        others: Sequence[Any] | None = None,
    ) -> AbstractContextManager[None]:
        """A context in which the model runs without these heads, `17.3` or `decoder cross 5.3`; `17` is a whole layer.

        Whatever runs inside does without them: `model(...)`, `model.generate(...)`, training, `read`, `stream`. Afterwards
        the model is as it was. In a head's place comes its `mean` over a corpus (of `head_means`; or `means`, theirs or a
        file's), `zero`, or with `resample` what it does in `others`, other texts, at the same place. `at` says at which
        tokens of every text, padding not counted: -1 (the last), [0, 1], slice(1, None).
        """
        chosen = heads_named(heads, self.sites)
        sites = [site for site in self.sites if any(head[:3] == (site.stack, site.kind, site.layer) for head in chosen)]
        known = HeadMeans.load(means) if isinstance(means, (str, Path)) else means or self._means
        return without(self, chosen, replacements(self, sites, how, known, others), at)

    def head_means(self, corpus: Any, *, batch_size: int = 16, truncate: bool = False) -> HeadMeans:
        """What each head brings on average over a corpus; from now on, `without` puts it in a head's place."""
        self._means = head_means(self, corpus, batch_size=batch_size, truncate=truncate)
        return self._means

    @property
    def means(self) -> HeadMeans | None:
        """What each head brings on average, where `head_means` was called, or its result of another time given."""
        return self._means

    @means.setter
    def means(self, means: HeadMeans | None) -> None:
        for site in self.sites:
            if means is not None and site.projection:
                means.of(site)  # says so at once if they are another model's
        self._means = means

    def changed_heads(
        self, changes: Mapping[Site, watching.Change], *, thread: int | None = None
    ) -> AbstractContextManager[None]:
        """A context in which each change sees, and may replace, what the W_O of its site reads, heads apart.

        With a `thread`, in its passes alone; where rows stand can then not be asked.
        """
        model: Any = self.model
        two = self.is_encoder_decoder
        stacks = {"encoder": model.get_encoder(), "decoder": model.get_decoder()} if two else {}
        stacks = stacks or {self.sites[0].stack: self._backbone}
        entries = dict.fromkeys([self.model, self._backbone, *stacks.values()])
        return watching.changed_heads(
            [(self.trace.sites[site.index], one) for site, one in changes.items()], entries, stacks, thread
        )

    @contextmanager
    def unwatched(self, implementation: str | None = None) -> Iterator[None]:
        """The model with its own attention inside: `implementation`, or the one it came with."""
        watched = [config._attn_implementation_internal for config, _ in self._implementations]
        for config, own in self._implementations:
            config._attn_implementation_internal = implementation or own
        try:
            yield
        finally:
            for (config, _), name in zip(self._implementations, watched, strict=True):
                config._attn_implementation_internal = name

    def twin(self, seed: int, *, keep_embeddings: bool = False) -> Lens:
        """The model's randomly initialised twin, under a lens of its own; `keep_embeddings`: the embeddings stay trained."""
        source = replace(self.source, random_init=seed, keep_embeddings=keep_embeddings)
        return Lens(random_twin(self.model, seed, keep_embeddings), self.tokenizer, source)

    # Closing

    def close(self) -> None:
        """Give the model back exactly as it was; a lens that nobody holds any more does so by itself."""
        self._give_back()

    @property
    def closed(self) -> bool:
        return not self._give_back.alive

    def __enter__(self) -> Lens:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        return lens_html(self)

    def __repr__(self) -> str:
        heads = sum(site.heads for site in self.sites)
        return f"<Lens {self.name}: {len(self.sites)} attentions, {heads} heads{', closed' if self.closed else ''}>"

    # Inside

    def _sites_for(self, batch: Batch) -> list[Site]:
        """The attentions that run on this batch: without a target, those of an encoder-decoder's encoder only."""
        return [site for site in self.sites if batch.has_target or not self.is_encoder_decoder or site.stack == "encoder"]

    def _check_layers(self, batch: Batch, layers: Sequence[int]) -> None:
        have = sorted({site.layer for site in self._sites_for(batch)})
        missing = [layer for layer in layers if layer not in have]
        if missing or not layers:
            wrong = f"has no attention in layer {missing[0]}" if missing else "was given no layer to read"
            raise InputError(f"{self.name} {wrong}: its layers with attention are {', '.join(map(str, have))}.")

    def _check_complete(self, batch: Batch, capture: watching.Capture, what: str = "ran") -> None:
        expected = self._sites_for(batch)
        if capture.sites_seen != len(expected):
            raise ModelError(
                f"{self.name} {what} {capture.sites_seen} of its {len(expected)} attentions on this input, "
                "so the reading would be incomplete: please report this model."
            )

    def _find_sites(self) -> watching.Trace:
        try:
            inputs = watching.dummy_inputs(self.model)
            source, target = inputs["input_ids"], inputs.get("decoder_input_ids")
            lengths = source.shape[1], None if target is None else target.shape[1]
            with torch.no_grad():
                found = watching.traced(self.model, lambda: self.forward(inputs), *lengths)
        except Exception as error:  # whatever a stranger's forward pass may raise
            raise ModelError(
                f"{self.name} ({type(self.model).__name__}, {self.source.dtype}) does not run on a small text by itself, so "
                f"its attention cannot be found: {first_sentence(error)}"
            ) from error
        if not found.sites:
            why = f" ({found.skipped[0]}: ask the model itself for such maps, by output_attentions)" if found.skipped else ""
            raise ModelError(
                f"{self.name} has no softmax attention over its tokens, so there is nothing to read{why}; open a model "
                "whose tokens attend to each other."
            )
        return found


def _give_back(
    model: PreTrainedModel,
    implementations: list[tuple[Any, Any]],
    modes: dict[nn.Module, bool],
    in_blocks: InBlocks,
    compiled: dict[nn.Module, Any],
) -> None:
    _open_models.discard(model)
    in_blocks.give_back()
    for config, implementation in implementations:
        config._attn_implementation_internal = implementation
    for module, training in modes.items():
        module.training = training
    for module, call in compiled.items():
        module._compiled_call_impl = call
