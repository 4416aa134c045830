"""Claims in the place of the facts of FActScore and Ragas. Their packages exclude versions that our
other tests need, so the tests of the real ones exist only where they are installed."""

import asyncio
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

from parataxis.integrations.claims import AtomicFacts, Statements

ANSWER = "The mill, which was built in 1850, burned down.\n\nAnn sang, and Bob left. Did it rain?"
FACTS = [
    (
        "The mill, which was built in 1850, burned down.",
        ["The mill was built in 1850.", "The mill burned down."],
    ),
    ("Ann sang, and Bob left.", ["Ann sang.", "Bob left."]),
]
ALL = [fact for _, facts in FACTS for fact in facts]


def test_atomic_facts_are_those_of_factscore() -> None:
    generator = AtomicFacts()
    assert generator.run(ANSWER) == (FACTS, [1])
    assert generator.run(ANSWER, cost_estimate="consider_cache") == 0
    assert generator.run(" ") == ([], [])


def test_statements_are_those_of_ragas() -> None:
    for name in ("answer", "response"):
        data = SimpleNamespace(**{name: ANSWER})
        made = asyncio.run(Statements().generate(llm=None, data=data, callbacks=None))
        assert made.statements == made.claims == ALL


if find_spec("ragas"):

    def test_ragas_takes_the_statements() -> None:
        from ragas.metrics import FactualCorrectness, Faithfulness
        from ragas.metrics._faithfulness import NLIStatementOutput, StatementFaithfulnessAnswer

        class Judge:
            """Supports the first statement only."""

            seen: list[str]

            async def generate(self, *, data: Any, **_: Any) -> NLIStatementOutput:
                self.seen = data.statements
                return NLIStatementOutput(
                    statements=[
                        StatementFaithfulnessAnswer(statement=each, reason="", verdict=not n)
                        for n, each in enumerate(data.statements)
                    ]
                )

        judge = Judge()
        metric = Faithfulness(
            llm=SimpleNamespace(),
            statement_generator_prompt=Statements(),
            nli_statements_prompt=judge,
        )
        row = {"user_input": "Who?", "response": ANSWER, "retrieved_contexts": ["Curie."]}
        assert asyncio.run(metric._ascore(row, None)) == 1 / len(ALL)
        assert judge.seen == ALL
        other = FactualCorrectness(llm=SimpleNamespace(), claim_decomposition_prompt=Statements())
        assert asyncio.run(other.decompose_claims(ANSWER, None)) == ALL


if find_spec("factscore"):

    def test_factscore_takes_the_facts() -> None:
        from factscore.factscorer import FactScorer

        scorer = FactScorer.__new__(FactScorer)
        scorer.af_generator = AtomicFacts()
        scorer.retrieval = {"enwiki-20230401": None}
        scorer.abstain_detection_type = None
        scorer.cost_estimate = "consider_cache"
        scorer.model_name = "npm"
        scorer.save_cache = scorer.af_generator.save_cache
        scorer._get_score = lambda topic, generation, facts, source: [
            {"atom": fact, "is_supported": fact == ALL[0]} for fact in facts
        ]
        score = scorer.get_score(["the mill"], [ANSWER], gamma=0)
        assert [each["atom"] for each in score["decisions"][0]] == ALL
        assert score["score"] == 1 / len(ALL)
