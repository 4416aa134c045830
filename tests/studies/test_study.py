"""A study from its YAML, and its items from their files."""

import json
from pathlib import Path

import pytest

from parataxis.errors import InputError
from parataxis.studies.blind import blind, write_study
from parataxis.studies.commands.plan import batches_of
from parataxis.studies.items import Effort, Item, as_expected, effort, read_items, sentences_of
from parataxis.studies.records import Purpose, in_language
from parataxis.studies.rubric import load_rubric
from parataxis.studies.study import ItemKind, OnFailure, Role, Study, load_study

WHOLE = """
name: pilot
rubric: six-criteria
languages: [es, en]
items: systems.jsonl
write:
  sources: sources.txt
  writers: 3
rate:
  raters: 2
  per_person: 40
qualification:
  training: training.jsonl
  test: test.jsonl
  pass_mark: 0.75
attention:
  items: attention.jsonl
  every: 12
  on_failure: void
known:
  items: known.jsonl
  tolerance: 1
consent:
  en: Do you agree?
  es: ¿Está de acuerdo?
background:
  - id: english
    text: Is English your first language?
    kind: yes-no
    required: true
panel:
  parameters: {person: workerId, session: assignmentId}
  completion_code: C0DE
lease_minutes: 20
payment: {per_rewrite: 0.2, per_rating: 0.07, fee: 0.25}
"""


def rewrite(id_: str, **fields: object) -> str:
    record = {"id": id_, "source": "It rained and we left.", "simple": ["It rained.", "We left."]}
    return json.dumps({**record, "splitter": "rules", **fields})


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        stem, _, suffix = name.rpartition("_")
        (folder / f"{stem}.{suffix}").write_text(text, encoding="utf-8")


@pytest.fixture
def whole(tmp_path: Path) -> Study:
    write(
        tmp_path,
        study_yaml=WHOLE,
        systems_jsonl=f"{rewrite('a')}\n{rewrite('b')}\n",
        sources_txt="Ann, who paints, sings.\n\nBob, who sings, paints.\n",
        training_jsonl=rewrite("t", expected={"sensical": 5}, feedback={"en": "Yes.", "es": "Sí."}),
        test_jsonl=rewrite("u", expected={"sensical": [4, 5], "new": False}),
        attention_jsonl=rewrite("v", expected={"sensical": 0}),
        known_jsonl=rewrite("w", expected={"sensical": 5}),
    )
    return load_study(tmp_path / "study.yaml")


def test_study_is_read_whole(whole: Study, tmp_path: Path) -> None:
    assert whole.name == "pilot"
    assert whole.items == tmp_path / "systems.jsonl"
    assert (whole.raters_of_items, whole.raters_of_rewrites) == (2, 2)
    assert whole.qualification is not None
    assert (whole.qualification.pass_mark, whole.qualification.attempts) == (0.75, 2)
    assert whole.attention is not None
    assert whole.attention.on_failure is OnFailure.VOID
    assert whole.panel is not None
    assert (whole.panel.parameters["person"], whole.panel.role) == ("workerId", Role.RATER)
    assert whole.consent is not None
    assert in_language(whole.consent, "es-MX") == "¿Está de acuerdo?"
    assert Study.model_validate(whole.model_dump(mode="json")) == whole


def test_study_items_come_from_all_files(whole: Study) -> None:
    items = {item.id: item for item in read_items(whole)}
    assert [(item.id, item.kind, item.purpose) for item in items.values()] == [
        ("sources.txt:1", ItemKind.WRITE, Purpose.ITEM),
        ("sources.txt:3", ItemKind.WRITE, Purpose.ITEM),
        ("a", ItemKind.RATE, Purpose.ITEM),
        ("b", ItemKind.RATE, Purpose.ITEM),
        ("t", ItemKind.RATE, Purpose.TRAINING),
        ("u", ItemKind.RATE, Purpose.TEST),
        ("v", ItemKind.RATE, Purpose.ATTENTION),
        ("w", ItemKind.RATE, Purpose.KNOWN),
    ]
    assert items["u"].expected == {"sensical": [4, 5], "new": False}
    assert items["t"].feedback == {"en": "Yes.", "es": "Sí."}
    shown = items["t"].rewrite
    assert shown is not None
    assert not shown.model_extra  # what is known does not travel with what is shown


def test_study_of_compare_datasets_is_one(tmp_path: Path) -> None:
    write_study(blind([], {}, sources=1, seed=1), "gms", tmp_path / "blind", tmp_path / "key.csv")
    (tmp_path / "blind" / "items.jsonl").write_text(rewrite("a"))
    study = load_study(tmp_path / "blind" / "study.yaml")
    assert (study.name, study.rubric, study.raters_of_items) == ("study", "gms", 3)
    assert [item.id for item in read_items(study)] == ["a"]


def test_study_is_called_like_its_file(tmp_path: Path) -> None:
    write(tmp_path, pilot_yaml="rubric: gms")
    assert load_study(tmp_path / "pilot.yaml").name == "pilot"


def test_study_a_rubric_beside_it_is_found(tmp_path: Path) -> None:
    write(tmp_path, pilot_yaml="rubric: mine.yaml", mine_yaml="")
    study = load_study(tmp_path / "pilot.yaml")
    assert (study.rubric, study.rubric_name) == (str(tmp_path / "mine.yaml"), "mine")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "is empty."),
        ("items: a.jsonl", 'line 1: "rubric": it is missing.'),
        ("rubric: gms\nrate:\n  raters: 0", 'line 3: "rate.raters": '),
        ("rubric: gms\n\nrate:\n  rators: 2", 'line 4: "rate.rators": there is no such setting.'),
        ("rubric: gms\nraters: 2", 'line 2: "raters": there is no such setting.'),
        ("rubric: gms\nrate: {}\nrate: {}", 'line 3: "rate" is there twice.'),
        ("rubric: gms\nrate: [", "this is not YAML ("),
        ("rubric: gms\n\tname: x", "line 2: this is not YAML ("),
        ("rubric: gms\nattention: {items: a, on_failure: shout}", 'line 2: "attention.on_failure"'),
        ("- rubric", "line 1: "),
        ("rubric: gms\nqualification: {attempts: 2}", "line 2: "),
        ("rubric: gms\nbackground:\n  - {id: a, text: b}\n  - {id: a, text: c}", "the same id"),
        ("rubric: gms\nbackground:\n  - {id: a, text: b, kind: choice}", "line 3: "),
        ("rubric: gms\npanel: {parameters: {session: s}}", '"person"'),
        ("rubric: gms\npanel:\n  completion_url: 'javascript:alert(1)'", "line 3: "),
        ("rubric: gms\nlease_minutes: 0", "line 2: "),
        ("rubric: gms\nname: \x00", "this is not YAML ("),
    ],
)
def test_study_a_fault_is_told_with_its_line(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "study.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        load_study(tmp_path / "study.yaml")
    assert complaint in str(caught.value)
    assert "study.yaml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_study_a_file_that_is_missing_or_not_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_study(tmp_path / "none.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"rubric: \xff\xfe")
    with pytest.raises(InputError, match="not UTF-8"):
        load_study(tmp_path / "bytes.yaml")


def items_of(tmp_path: Path, name: str, text: str) -> list[Item]:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return read_items(Study(rubric="concise", items=tmp_path / name))


PAIRS = [("Era muy tarde ya.", "Era tarde."), ('"No," dijo.', '"No." Dijo.')]
TSV = 'Era muy tarde ya.\tEra tarde.\n\n"No," dijo.\t"No." Dijo.\n'
CSV = 'Era muy tarde ya.,x,Era tarde.\n"""No,"" dijo.",y,"""No."" Dijo."\n'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.tsv", TSV),
        ("a.tsv", f"source\trewrite\n{TSV}"),
        ("a.csv", 'Era muy tarde ya.,Era tarde.\n"""No,"" dijo.","""No."" Dijo."\n'),
        ("a.csv", f"Complex,System,Simple\n{CSV}"),
    ],
)
def test_items_pairs_are_read_from_tables(tmp_path: Path, name: str, text: str) -> None:
    items = items_of(tmp_path, name, text)
    found = [(item.source, " ".join(item.rewrite.simple)) for item in items if item.rewrite]
    assert found == PAIRS


def test_items_of_a_table_have_ids_and_systems(tmp_path: Path) -> None:
    text = "id,source,rewrite,system\n7,Bo sat and left.,Bo sat. Bo left.,s2\n,It is.,It is.,\n"
    first, second = items_of(tmp_path, "a.csv", text)
    assert first.rewrite is not None
    assert second.rewrite is not None
    assert (first.id, first.rewrite.splitter, first.rewrite.simple) == (
        "7",
        "s2",
        ("Bo sat.", "Bo left."),
    )
    assert (second.id, second.rewrite.splitter) == ("a.csv:3", "unknown")


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("a.jsonl", "", "has no items"),
        ("a.jsonl", "{}", "line 1"),
        ("a.jsonl", f"{rewrite('x')}\n{rewrite('x')}", 'Two items of the study have the id "x"'),
        ("a.tsv", "only one column\n", 'line 1: there is no "rewrite"'),
        ("a.csv", "source,rewrite\nA b.,\n", 'line 2: there is no "rewrite"'),
        ("a.csv", 'source,rewrite\n"A b.', "line 2: "),
    ],
)
def test_items_a_fault_is_told_with_its_line(
    tmp_path: Path, name: str, text: str, complaint: str
) -> None:
    with pytest.raises(InputError) as caught:
        items_of(tmp_path, name, text)
    assert complaint in str(caught.value)


@pytest.mark.parametrize("expected", [None, {}, [], 5, {"a": []}, {"a": {"b": 1}}])
def test_items_controls_need_known_answers(tmp_path: Path, expected: object) -> None:
    write(
        tmp_path,
        study_yaml="rubric: gms\nitems: items.jsonl\nknown: {items: known.jsonl}",
        items_jsonl=rewrite("a"),
        known_jsonl=rewrite("b", expected=expected),
    )
    with pytest.raises(InputError, match=r'"b" of .* needs "expected"'):
        read_items(load_study(tmp_path / "study.yaml"))


def test_items_a_study_without_any_is_told() -> None:
    with pytest.raises(InputError, match="nothing to do"):
        read_items(Study(rubric="gms"))


def test_items_three_thousand_pairs_are_read_at_once(tmp_path: Path) -> None:
    lines = (f"The {n} was, as they say, old.\tThe {n} was old. They say so." for n in range(3000))
    assert len(items_of(tmp_path, "a.tsv", "\n".join(lines))) == 3000


@pytest.mark.parametrize(
    ("expected", "answers", "tolerance", "right"),
    [
        ({"a": 5}, {"a": 5}, 0, True),
        ({"a": 5}, {"a": 4}, 0, False),
        ({"a": 5}, {"a": 4}, 1, True),
        ({"a": 5}, {"a": 5.0}, 0, True),
        ({"a": [1, 3]}, {"a": 3}, 0, True),
        ({"a": [1, 3]}, {"a": 2}, 0, False),
        ({"a": True}, {"a": True}, 0, True),
        ({"a": True}, {"a": 1}, 0, False),
        ({"a": 0}, {"a": False}, 1, False),
        ({"a": False}, {}, 0, False),
        ({"a": None}, {}, 0, True),
        ({"a": "accept"}, {"a": "accept"}, 0, True),
        ({"a": "Two  words."}, {"a": " Two words."}, 0, True),
        ({"a": "accept"}, {"a": "reject"}, 9, False),
    ],
)
def test_items_answers_are_compared_by_question(expected, answers, tolerance, right) -> None:
    assert as_expected(expected, answers, tolerance) == {"a": right}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", Effort.EMPTY),
        (" \n ", Effort.EMPTY),
        ("Ann, who paints, sings.", Effort.SAME),
        ("Ann,  who paints,\nsings.", Effort.SAME),
        ("Ann sings.", Effort.TOO_FEW),
        ("Ann sings. Ann paints.", None),
        ("Ann sings\nAnn paints", None),
    ],
)
def test_writing_asks_for_the_least_effort(text: str, found: Effort | None) -> None:
    assert effort("Ann, who paints, sings.", text, 2) is found


def test_writing_lines_are_sentences() -> None:
    assert sentences_of("Mr. Lee, i.e. Bo, left.\r\nHe\tis back. ") == (
        "Mr. Lee, i.e. Bo, left.",
        "He is back.",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("write: {sources: s.txt, writers: 1000000}", "less than or equal to 1000"),
        ("rate: {raters: 1001}", "less than or equal to 1000"),
        ("rate: {least_seconds: -1}", "greater than or equal to 0"),
        ("lease_minutes: .inf", "less than or equal to 525600"),
        ("lease_minutes: .nan", "less than or equal to 525600"),
        ("payment: {per_rating: .inf}", "finite number|less than or equal"),
        ("payment: {fee: 25}", "less than or equal to 10"),
        ("background: [{id: a, text: A, kind: number, low: 9, high: 8}]", "must not be below"),
        ("background: [{id: a, text: A, low: 9}]", "only a number has bounds"),
        ("background: [{id: a, text: A, kind: number, high: 1e99}]", "less than or equal|integer"),
    ],
)
def test_study_numbers_have_bounds(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "study.yaml"
    path.write_text(f"rubric: gms\n{text}\n")
    with pytest.raises(InputError, match=message):
        load_study(path)


def test_study_a_scale_has_not_too_many_numbers(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        "name: mine\ntitle: M\nquestions:\n- {id: a, kind: scale, text: A, high: 1000000}\n"
    )
    with pytest.raises(InputError, match="at most 101 numbers"):
        load_rubric(path)


def test_study_lessons_of_writers_are_checked(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("Ann, who left, is back.\n")
    path = tmp_path / "study.yaml"
    path.write_text("rubric: gms\nwrite: {sources: s.txt, qualification: {test: t.jsonl}}\n")
    for expected in ({"flag": "hard"}, {"sentences": 0}, {"grammatical": 5}):
        line = {"source": "Bo, who left, is back.", "expected": expected}
        (tmp_path / "t.jsonl").write_text(json.dumps(line))
        with pytest.raises(InputError, match='of a rewrite can be expected "flag"'):
            read_items(load_study(path))
    line = {"source": "Bo, who left, is back.", "expected": {"sentences": [2, 3]}, "id": "t"}
    (tmp_path / "t.jsonl").write_text(json.dumps(line))
    found = read_items(load_study(path))
    assert [(each.id, each.kind, each.purpose) for each in found] == [
        ("s.txt:1", "write", "item"),
        ("t", "write", "test"),
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.jsonl", '{"source": "A, b.", "hard": true}\n{"source": "C, d.", "hard": false}\n'),
        ("s.csv", 'source,hard\n"A, b.",yes\n"C, d.",\n'),
    ],
)
def test_study_hard_sources_cost_more(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    path = tmp_path / "study.yaml"
    prices = "payment: {per_rewrite: 0.2, per_hard: 0.3}"
    path.write_text(f"rubric: gms\nwrite: {{sources: {name}, writers: 2}}\n{prices}\n")
    study = load_study(path)
    assert [item.hard for item in read_items(study)] == [True, False]
    assert study.payment is not None
    costs = [float(batch.cost()) for kind, batch in batches_of(study, study.payment)]
    assert costs == [0.4, 1.0, 0.0]
