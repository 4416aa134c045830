import pytest

torch = pytest.importorskip("torch", reason="needs the extra [train]")

from parataxis.errors import InputError  # noqa: E402
from parataxis.lab.lstm.network import WINDOW, LstmPosition, Network, Sizes  # noqa: E402
from parataxis.lab.lstm.search import END, PAD, START, UNKNOWN  # noqa: E402

WORDS = 12
SOURCE = torch.tensor([[5, 13, 7, 8, 13], [6, 12, 9, PAD, PAD]])
LENGTHS = torch.tensor([5, 3])
TARGETS = torch.tensor([[13, 7, 5, END], [12, UNKNOWN, END, PAD]])

KINDS = [
    Sizes(width=16, dropout=0.3, copy=copy, local=local, feed=feed)
    for copy in (False, True)
    for local in (False, True)
    for feed in (False, True)
]


def network(sizes: Sizes) -> Network:
    torch.manual_seed(3)
    made = Network(sizes, WORDS).eval()
    with torch.no_grad():  # weights of ±0.1 would hardly tell right from wrong
        for parameter in made.parameters():
            parameter.mul_(8)
    return made


@pytest.mark.parametrize("sizes", KINDS, ids=str)
@torch.no_grad()
def test_network_all_steps_at_once_are_the_steps_one_by_one(sizes: Sizes) -> None:
    made = network(sizes)
    at_once = made(SOURCE, LENGTHS, TARGETS)
    memory, state, cell = made.read(SOURCE, LENGTHS)
    position = LstmPosition(state[:, None], cell[:, None], torch.zeros_like(state)[:, None])
    previous = torch.full((2, 1), START)
    for step in range(TARGETS.shape[1]):
        spoken, position = made.step(memory, made.embed(previous), position)
        logs = made.distribution(memory, spoken)[:, 0]
        previous = TARGETS[:, step : step + 1]
        target = previous if sizes.copy else torch.where(previous < WORDS, previous, UNKNOWN)
        assert torch.allclose(logs.gather(1, target)[:, 0], at_once[:, step], atol=1e-5)


@pytest.mark.parametrize("sizes", KINDS, ids=str)
@torch.no_grad()
def test_network_probabilities_sum_to_one(sizes: Sizes) -> None:
    made = network(sizes)
    memory, state, cell = made.read(SOURCE, LENGTHS)
    position = LstmPosition(state[:, None], cell[:, None], torch.zeros_like(state)[:, None])
    spoken, _ = made.step(memory, made.embed(torch.full((2, 1), START)), position)
    sums = made.distribution(memory, spoken).exp().sum(-1)
    assert torch.allclose(sums, torch.ones_like(sums), atol=1e-5)
    assert torch.allclose(spoken.attention.sum(-1), torch.ones(2, 1), atol=1e-5)
    assert not spoken.attention[1, 0, 3:].any()


@pytest.mark.parametrize("sizes", KINDS, ids=str)
@torch.no_grad()
def test_network_padding_does_not_matter(sizes: Sizes) -> None:
    made = network(sizes)
    together = made(SOURCE, LENGTHS, TARGETS)[1, :3]
    alone = made(SOURCE[1:, :3], LENGTHS[1:], TARGETS[1:, :3])[0]
    assert torch.allclose(together, alone, atol=1e-5)
    memory, state, cell = made.read(SOURCE[1:, :3], LENGTHS[1:])
    unpadded, *states = made.read(SOURCE[1:, :3])
    for one, other in zip(
        (memory.states, memory.keys, state, cell),
        (unpadded.states, unpadded.keys, *states),
        strict=True,
    ):
        assert torch.allclose(one, other, atol=1e-6)


@torch.no_grad()
def test_network_only_one_that_copies_tells_unknown_words_apart() -> None:
    other = TARGETS.clone()
    other[0, 0] = 12  # another word outside the vocabulary, which the first source does not have
    for copy in (False, True):
        made = network(Sizes(width=16, dropout=0.0, copy=copy, local=False, feed=False))
        found, elsewhere = (made(SOURCE, LENGTHS, each)[0, 0] for each in (TARGETS, other))
        assert (found > elsewhere + 1) == copy


@torch.no_grad()
def test_network_local_attention_sees_a_window() -> None:
    made = network(Sizes(width=16, dropout=0.0, copy=True, local=True, feed=False))
    source = torch.randint(5, WORDS, (1, 60))
    memory, state, _ = made.read(source, torch.tensor([60]))
    attention = made.attention(state[:, None], memory.keys, memory.hidden)[0, 0]
    seen = attention.nonzero()[:, 0]
    assert 1 <= seen[-1] - seen[0] <= 2 * WINDOW


def test_network_ties_the_embeddings_of_both_sides() -> None:
    made = network(KINDS[0])
    assert sum(isinstance(module, torch.nn.Embedding) for module in made.modules()) == 1
    assert made.embedding.weight.shape == (WORDS, 16)


def test_network_drops_outputs_of_the_lstms_while_training_only() -> None:
    made = network(KINDS[4])
    with torch.no_grad():
        still = [made(SOURCE, LENGTHS, TARGETS) for _ in range(2)]
        made.train()
        moving = [made(SOURCE, LENGTHS, TARGETS) for _ in range(2)]
    assert torch.equal(*still)
    assert not torch.equal(*moving)


def test_network_width_must_be_even() -> None:
    with pytest.raises(InputError, match="The width must be an even number, not 7"):
        Sizes(width=7, dropout=0.3, copy=True, local=False, feed=False)
