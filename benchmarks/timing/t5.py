"""T5-small and T5-base with random weights, made to write texts of the length of the references:
speed does not depend on what they have learnt. As transformers and as CTranslate2 run them."""

import statistics
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from timing.measure import Runs, System
from timing.sentences import Item, batches

__all__ = ["SHAPES", "convert", "ctranslate2_system", "transformers_system"]

BATCH = 32
VOCABULARY = 32128

# The shapes that the hub's models of these names have.
SHAPES = {
    "T5-small": {"d_model": 512, "d_ff": 2048, "num_layers": 6, "num_heads": 8, "d_kv": 64},
    "T5-base": {"d_model": 768, "d_ff": 3072, "num_layers": 12, "num_heads": 12, "d_kv": 64},
}


def _network(name: str) -> Any:
    import transformers

    transformers.logging.set_verbosity_error()
    config = transformers.T5Config(
        vocab_size=VOCABULARY, decoder_start_token_id=0, **SHAPES[name], num_decoder_layers=None
    )
    return transformers.T5ForConditionalGeneration(config).eval()


def _mean_length(batch: Sequence[Item]) -> int:
    """The mean length of a batch, which is more favourable to T5 than the longest."""
    return round(statistics.mean(item.pieces_out for item in batch))


def transformers_system(
    name: str, items: Sequence[Item], few: Sequence[Item], beam: int, threads: int
) -> System:
    """A T5 model as it comes from a hub."""
    import torch

    torch.set_num_threads(threads)
    model = _network(name)

    def run(batch: Sequence[Item]) -> None:
        longest = max(item.pieces_in for item in batch)
        mask = torch.tensor([[n < item.pieces_in for n in range(longest)] for item in batch]).long()
        length = _mean_length(batch)
        with torch.inference_mode():
            model.generate(
                torch.randint(3, 30000, mask.shape) * mask,
                attention_mask=mask,
                num_beams=beam,
                do_sample=False,
                min_new_tokens=length,
                max_new_tokens=length,
            )

    def many(some: Sequence[Item]) -> None:
        for batch in batches(some, BATCH):
            run(batch)

    runs = Runs(lambda item: run([item]), many)
    return System(f"{name}, transformers", beam, few, items, lambda: runs)


def convert(name: str, folder: Path) -> Path:
    """Convert a T5 model to CTranslate2, in int8."""
    import transformers
    from ctranslate2.converters import TransformersConverter
    from tokenizers import Tokenizer, models

    source, target = folder / name, folder / f"{name}-int8"
    _network(name).save_pretrained(source)
    words = ["<pad>", "</s>", "<unk>", *(f"piece{n}" for n in range(3, VOCABULARY))]
    vocabulary = {word: number for number, word in enumerate(words)}
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>")),
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
    ).save_pretrained(source)
    TransformersConverter(str(source)).convert(str(target), quantization="int8")
    return target


def ctranslate2_system(
    name: str, folder: Path, items: Sequence[Item], few: Sequence[Item], beam: int, threads: int
) -> System:
    """A T5 model in int8: the threads share one sentence, or take batches of their own."""
    import ctranslate2

    options: dict[str, Any] = {"device": "cpu", "compute_type": "int8"}
    shared = ctranslate2.Translator(str(folder), intra_threads=threads, **options)
    apart = ctranslate2.Translator(str(folder), inter_threads=threads, intra_threads=1, **options)

    def run(translator: Any, batch: Sequence[Item]) -> None:
        length = _mean_length(batch)
        translator.translate_batch(
            [[*(f"piece{n + 7}" for n in range(item.pieces_in - 1)), "</s>"] for item in batch],
            beam_size=beam,
            min_decoding_length=length,
            max_decoding_length=length,
        )

    def many(some: Sequence[Item]) -> None:
        size = min(BATCH, -(-len(some) // threads))
        with ThreadPoolExecutor(threads) as pool:
            for _ in pool.map(lambda batch: run(apart, batch), batches(some, size)):
                pass

    runs = Runs(lambda item: run(shared, [item]), many)
    return System(f"{name}, CTranslate2 int8", beam, few, items, lambda: runs)
